"""Numbers of things in words; foreign text made visible, normalised or refused; foreign names made different."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, Literal

from karenina_core.errors import InputError

_KEPT = {"\n", "\t"}
# Format characters that join emoji and scripts; harmless, and needed to show them right.
_JOINERS = {"\u200d", "\u200c", "\ufe0f"}
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_MARKS = "".join(filter(unicodedata.combining, map(chr, range(0x300, 0x1E94B))))
_LONG_RUN = re.compile(f"[{_MARKS}]{{30}}(?=[{_MARKS}])")


def counted(number: int, noun: str) -> str:
    """Return `1 question`, `2 questions`, `1,200 questions`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def stream_safe(text: str) -> str:
    """Return a text without endless runs of combining marks: a joiner stands behind every 30 of them.

    This is the Stream-Safe Text Format of Unicode (UAX 15). Normalising takes time by the square of a run's length.
    """
    return text if text.isascii() else _LONG_RUN.sub("\\g<0>\u034f", text)


def normal_form(form: Literal["NFC", "NFKC"], text: str) -> str:
    """Return a text in a Unicode normal form, of stream-safe text, so that the time it takes is bounded."""
    return text if text.isascii() else unicodedata.normalize(form, stream_safe(text))


def visible(text: str) -> str:
    """Return the text with control, bidi and other invisible characters written as `\\uXXXX`."""
    return text if text.isprintable() else "".join(map(_visible, text))


def visible_data(value: Any) -> Any:
    """Return JSON data whose texts and keys are all visible."""
    match value:
        case str():
            return visible(value)
        case dict():
            return {visible(str(key)): visible_data(item) for key, item in value.items()}
        case list() | tuple():
            return [visible_data(item) for item in value]
        case _:
            return value


def check_whole(what: str, value: Any) -> None:
    """Refuse half a surrogate pair, which no file, hash or request can hold.

    Args:
        what: What the value is, as the beginning of a sentence, such as `The question's text`.
        value: A text, or data with texts anywhere in it; of objects their attributes count.

    Raises:
        InputError: There is one.
    """
    for text in _texts(value):
        if text.isascii():
            continue
        try:
            text.encode()
        except UnicodeEncodeError as error:
            around = text[max(0, error.start - 20) : error.start + 20]
            raise InputError(
                f"{what} holds half a surrogate pair.",
                f"Character {error.start + 1} is only a part of a sign, as in {around!r}.",
                "Remove it, or enter the whole sign.",
            ) from error


def first_free(name: Callable[[int], str], taken: Container[str], start: int = 1) -> str:
    """Return the first numbered name that is not taken, or another free one where there are gaps before it.

    It is found by halving: counting up would take hours where thousands of names are the same.

    Args:
        name: Returns the name with a number.
        taken: The names there are.
        start: The first number.
    """
    if name(start) not in taken:
        return name(start)
    last, step = start, 1
    while name(last + step) in taken:
        last, step = last + step, 2 * step
    free = last + step
    while free - last > 1:
        middle = (last + free) // 2
        last, free = (middle, free) if name(middle) in taken else (last, middle)
    return name(free)


def _texts(value: Any) -> Iterator[str]:
    # By hand, because data may be nested deeper than functions, and may hold itself.
    waiting, seen = [value], set()
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif item is not None and id(item) not in seen:
            seen.add(id(item))
            if isinstance(item, Mapping):
                waiting += item.keys()
                waiting += item.values()
            elif isinstance(item, list | tuple):
                waiting += item
            elif hasattr(item, "__dict__"):
                waiting.append(vars(item))


def _visible(character: str) -> str:
    if character in _KEPT or character in _JOINERS:
        return character
    return f"\\u{ord(character):04x}" if unicodedata.category(character) in _HIDDEN else character
