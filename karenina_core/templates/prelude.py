"""Methods the sandbox lacks, written for it: what rewritten expressions call.

They run inside the sandbox, before the author's text and apart from it, so that its lines keep their numbers.
"""

from __future__ import annotations

_TRANSLATE = """
def _karenina_translate(value):
    def translated(text, table):
        if not isinstance(text, str):
            raise TypeError("translate takes a text")
        parts = []
        for character in text:
            try:
                found = table[ord(character)]
            except LookupError:
                found = character
            if isinstance(found, int):
                if not 0 <= found < 0x110000:
                    raise ValueError("character mapping must be in range(0x110000)")
                found = chr(found)
            elif not (found is None or isinstance(found, str)):
                raise TypeError("character mapping must return integer, None or str")
            parts.append(found or "")
        return "".join(parts)

    if value is str:
        return translated
    if isinstance(value, str):
        return lambda table: translated(value, table)
    return value.translate
"""

_MAKETRANS = """
def _karenina_maketrans(value):
    def key_of(key):
        if isinstance(key, str):
            if len(key) != 1:
                raise ValueError("string keys in translate table must be of length 1")
            return ord(key)
        if not isinstance(key, int):
            raise TypeError("keys in translate table must be strings or integers")
        return key

    def table(*texts):
        if len(texts) == 1:
            if not isinstance(texts[0], dict):
                raise TypeError("if you give only one argument to maketrans it must be a dict")
            return {key_of(key): texts[0][key] for key in texts[0]}
        if not 2 <= len(texts) <= 3 or not all([isinstance(text, str) for text in texts]):
            raise TypeError("maketrans takes one mapping, or two or three texts")
        if len(texts[0]) != len(texts[1]):
            raise ValueError("the first two maketrans arguments must have equal length")
        made = {}
        for old, new in zip(texts[0], texts[1]):
            made[ord(old)] = ord(new)
        for character in texts[2] if len(texts) == 3 else "":
            made[ord(character)] = None
        return made

    return table if value is str or isinstance(value, str) else value.maketrans
"""

_IS_INTEGER = """
def _karenina_is_integer(value):
    if not isinstance(value, (int, float)):
        return value.is_integer
    return lambda: value - value == 0 and value % 1 == 0
"""

_SUB = """
def _karenina_sub(pattern, repl, string, count=0, flags=0):
    import re

    if isinstance(repl, str):
        return re.sub(pattern, repl, string, count=count, flags=flags)
    parts = []
    end = done = 0
    for match in re.finditer(pattern, string, flags):
        if count and done == count:
            break
        parts.append(string[end : match.start()])
        parts.append(repl(match))
        end = match.end()
        done += 1
    return "".join([*parts, string[end:]])

def _karenina_sub_of(value):
    if not hasattr(value, "pattern"):
        return value.sub
    return lambda repl, string, count=0: _karenina_sub(value.pattern, repl, string, count, value.flags)
"""

_CHECKED = """
def _karenina_checked(kind, value):
    if not isinstance(value, kind):
        raise TypeError("this method takes a " + kind.__name__ + ", not a " + type(value).__name__)
    return value
"""

_HELPERS = {
    "_karenina_translate": _TRANSLATE,
    "_karenina_maketrans": _MAKETRANS,
    "_karenina_is_integer": _IS_INTEGER,
    "_karenina_sub": _SUB,
    "_karenina_checked": _CHECKED,
}
METHODS = ("translate", "maketrans", "is_integer")
"""Methods the sandbox does not have, whatever they are called on."""


def prelude_for(code: str) -> str:
    """Return the definitions that a rewritten program calls; empty for most."""
    return "".join(text for name, text in _HELPERS.items() if name in code)
