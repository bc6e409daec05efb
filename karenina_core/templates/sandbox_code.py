"""Code that runs inside the sandbox beside the author's: methods it lacks, and the tails that run a template.

A tail receives `_karenina_trace`, the response. The one that runs methods receives `_karenina_values` (field values,
tagged), `_karenina_correct`, `_karenina_results`, `_karenina_verdict` and `_karenina_granular`; the one that applies
primitives `_karenina_jobs`, one for each field.
"""

from __future__ import annotations

from collections.abc import Mapping

from karenina_core.templates.classes import Body

_TRANSLATE = """
def _karenina_translate(value):
    def translated(text, table):
        parts = []
        for character in text:
            try:
                found = table[ord(character)]
            except LookupError:
                found = character
            parts.append(chr(found) if isinstance(found, int) else found or "")
        return "".join(parts)

    if value is str:
        return translated
    if isinstance(value, str):
        return lambda table: translated(value, table)
    return value.translate
"""

_MAKETRANS = """
def _karenina_maketrans(value):
    def table(old, new=None, deleted=""):
        if new is None:
            return {ord(key) if isinstance(key, str) else int(key): item for key, item in old.items()}
        made = {ord(character): ord(other) for character, other in zip(old, new, strict=True)}
        return {**made, **{ord(character): None for character in deleted}}

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

_HELPERS = (_TRANSLATE, _MAKETRANS, _IS_INTEGER, _SUB, _CHECKED)
METHODS = ("translate", "maketrans", "is_integer")
"""Methods the sandbox does not have, whatever they are called on."""


def prelude_for(code: str) -> str:
    """Return the definitions that a rewritten program calls; empty for most."""
    return "".join(text for text in _HELPERS if text.partition("(")[0].removeprefix("\ndef ") in code)


_BUILD = """
def _karenina_build(item):
    kind, inside = item[0], item[1]
    if kind == "model":
        model = _karenina_models[item[2]]()
        for key in inside:
            setattr(model, key, _karenina_build(inside[key]))
        statics = _karenina_statics[item[2]]
        for key in statics:
            setattr(model, key, statics[key])
        for key, check in _karenina_checks[item[2]]:
            setattr(model, key, check(getattr(model, key)))
        return model
    if kind == "list":
        return [_karenina_build(part) for part in inside]
    if kind == "tuple":
        return tuple([_karenina_build(part) for part in inside])
    if kind == "dict":
        return {key: _karenina_build(inside[key]) for key in inside}
    return inside

def _karenina_data(value):
    if isinstance(value, list):
        return [_karenina_data(part) for part in value]
    return value.model_dump() if hasattr(value, "model_dump") else value
"""

_MODEL_DUMP = """
{name}.model_dump = lambda self, *args, **options: {{
    key: _karenina_data(getattr(self, key)) for key in {fields!r} if hasattr(self, key)
}}
"""
_MODEL_EQ = """
{name}.__eq__ = lambda self, other: type(self) is type(other) and self.model_dump() == other.model_dump()
"""

_ANSWER = """
_karenina_answer = _karenina_build(["model", _karenina_values, "{answer}"])
_karenina_answer._raw_trace = _karenina_trace
_karenina_answer.correct = _karenina_correct
_karenina_answer.regex = {{}}
_karenina_answer.field_results = lambda: dict(_karenina_results)
"""
_CALLS = {
    "model_post_init": "_karenina_answer.model_post_init(None)\n",
    "ground_truth": "_karenina_answer.ground_truth()\n",
    "verify": "_karenina_verdict = _karenina_answer.verify()\n",
    "verify_granular": "_karenina_granular = _karenina_answer.verify_granular()\n",
}
_OUTCOME = "[_karenina_verdict, _karenina_granular, _karenina_answer.correct, _karenina_answer.regex]"

_RULES = """
_karenina_outcomes = []
for _karenina_job in _karenina_jobs:
    _karenina_rule = _karenina_build(_karenina_job["rule"])
    _karenina_outcomes.append(
        _karenina_rule.check_trace(_karenina_trace)
        if _karenina_job["is_trace"]
        else _karenina_rule.check(_karenina_build(_karenina_job["value"]), _karenina_job["expected"])
    )
_karenina_outcomes
"""


def hook_tail(answer: str, hooks: tuple[str, ...], bodies: Mapping[str, Body]) -> str:
    """Return the code that builds the answer, runs the author's methods and ends with what they return.

    Args:
        answer: Name of the answer class.
        hooks: Which methods the author wrote.
        bodies: What the answer class, the nested models and the custom primitives hold.
    """
    code = _model_setup(bodies) + _ANSWER.format(answer=answer)
    called = [hook for hook in hooks if hook != "ground_truth" or "model_post_init" not in hooks]
    return code + "".join(_CALLS[hook] for hook in called) + _OUTCOME


def rule_tail(bodies: Mapping[str, Body]) -> str:
    """Return the code that applies the author's primitives and ends with the list of their outcomes."""
    return _model_setup(bodies) + _RULES


def _model_setup(bodies: Mapping[str, Body]) -> str:
    """Return the code that rebuilds nested models, and gives all classes what pydantic would."""
    code = f"{_BUILD}_karenina_models = {_table({name: name for name in bodies})}\n"
    code += f"_karenina_statics = {_table({name: _bound(name, body) for name, body in bodies.items()})}\n"
    code += f"_karenina_checks = {_table({name: _checks(name, body) for name, body in bodies.items()})}\n"
    for name, body in bodies.items():
        if "model_dump" not in body.methods:
            code += _MODEL_DUMP.format(name=name, fields=[item.name for item in body.fields])
        if "__eq__" not in body.methods:
            code += _MODEL_EQ.format(name=name)
    return code


def _bound(name: str, body: Body) -> str:
    """Return the static and class methods of a class as an instance has them: with the arguments they expect."""
    calls = {
        "staticmethod": f"{name}.{{0}}",
        "classmethod": f"lambda *args, **options: {name}.{{0}}({name}, *args, **options)",
    }
    return _table({method: calls[kind].format(method) for method, kind in body.methods.items() if kind in calls})


def _checks(name: str, body: Body) -> str:
    """Return the validators of a class with their fields, as a list."""
    every = [item.name for item in body.fields]
    pairs = [(field, method) for wanted, method in body.validators for field in (every if wanted == "*" else [wanted])]
    return f"[{', '.join(f'({field!r}, lambda value: {name}.{method}({name}, value))' for field, method in pairs)}]"


def _table(items: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{key!r}: {code}' for key, code in items.items())}}}"
