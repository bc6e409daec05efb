"""The last lines of a sandbox program: build the answer object, run the author's methods, return what they say.

The names it receives: `_karenina_values` (field values, tagged), `_karenina_plain` (the same as plain data),
`_karenina_trace`, `_karenina_correct`, `_karenina_results`, `_karenina_verdict`, `_karenina_granular`; where it
applies custom primitives `_karenina_trace` and `_karenina_jobs`, one for each field.
"""

from __future__ import annotations

from collections.abc import Mapping

from karenina_core.templates.classes import Body

_BUILD = """
def _karenina_build(item):
    kind, inside = item[0], item[1]
    if kind == "model":
        made = _karenina_models[item[2]]()
        for key in inside:
            setattr(made, key, _karenina_build(inside[key]))
        statics = _karenina_statics[item[2]]
        for key in statics:
            setattr(made, key, statics[key])
        return made
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

_START = """
_karenina_answer = {answer}()
for _karenina_key in _karenina_values:
    setattr(_karenina_answer, _karenina_key, _karenina_build(_karenina_values[_karenina_key]))
_karenina_answer._raw_trace = _karenina_trace
_karenina_answer.correct = _karenina_correct
_karenina_answer.regex = {{}}
_karenina_answer.field_results = lambda: dict(_karenina_results)
"""


_RULES = """
_karenina_said = []
for _karenina_job in _karenina_jobs:
    _karenina_rule = _karenina_build(_karenina_job["rule"])
    _karenina_said.append(
        _karenina_rule.check_trace(_karenina_trace)
        if _karenina_job["is_trace"]
        else _karenina_rule.check(_karenina_build(_karenina_job["value"]), _karenina_job["expected"])
    )
_karenina_said
"""


def tail(answer: str, hooks: tuple[str, ...], bodies: Mapping[str, Body]) -> str:
    """Return the tail for a template.

    Args:
        answer: Name of the answer class.
        hooks: Which methods the author wrote.
        bodies: What the answer class and the nested models hold.
    """
    lines = _models({name: body for name, body in bodies.items() if name != answer})
    lines += [_START.format(answer=answer)]
    lines += _rebound("_karenina_answer", answer, bodies[answer])
    if "model_dump" not in bodies[answer].methods:
        lines += ["_karenina_answer.model_dump = lambda *args, **options: dict(_karenina_plain)"]
    lines += _calls(hooks)
    return "\n".join(lines)


def rule_tail(answer: str, bodies: Mapping[str, Body]) -> str:
    """Return the tail that applies custom primitives instead of running the answer's methods.

    Args:
        answer: Name of the answer class.
        bodies: What the answer class, the nested models and the custom primitives hold.
    """
    return "\n".join([*_models({name: body for name, body in bodies.items() if name != answer}), _RULES])


def _models(models: Mapping[str, Body]) -> list[str]:
    lines = [_BUILD]
    lines += [f"_karenina_models = {_table({name: name for name in models})}"]
    lines += [f"_karenina_statics = {_table({name: _statics(name, body) for name, body in models.items()})}"]
    for name, body in models.items():
        lines += _model_methods(name, body)
    return lines


def _statics(name: str, body: Body) -> str:
    return _table({method: f"{name}.{method}" for method, kind in body.methods.items() if kind == "staticmethod"})


def _table(items: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{key!r}: {code}' for key, code in items.items())}}}"


def _model_methods(name: str, body: Body) -> list[str]:
    """Give a nested model equality and `model_dump`, as pydantic would."""
    fields = [item.name for item in body.fields]
    values = f"{{key: _karenina_data(getattr(self, key)) for key in {fields!r} if hasattr(self, key)}}"
    same = "type(self) is type(other) and self.model_dump() == other.model_dump()"
    lines = []
    if "model_dump" not in body.methods:
        lines += [f"{name}.model_dump = lambda self, *args, **options: {values}"]
    if "__eq__" not in body.methods:
        lines += [f"{name}.__eq__ = lambda self, other: {same}"]
    return lines


def _rebound(target: str, name: str, body: Body) -> list[str]:
    """Bind static and class methods on the instance, so that they get the arguments they expect."""
    lines = []
    for method, kind in body.methods.items():
        if kind == "staticmethod":
            lines += [f"{target}.{method} = {name}.{method}"]
        elif kind == "classmethod":
            lines += [f"{target}.{method} = lambda *args, **options: {name}.{method}({name}, *args, **options)"]
    return lines


def _calls(hooks: tuple[str, ...]) -> list[str]:
    lines = []
    if "model_post_init" in hooks:
        lines += ["_karenina_answer.model_post_init(None)"]
    elif "ground_truth" in hooks:
        lines += ["_karenina_answer.ground_truth()"]
    if "verify" in hooks:
        lines += ["_karenina_verdict = _karenina_answer.verify()"]
    if "verify_granular" in hooks:
        lines += ["_karenina_granular = _karenina_answer.verify_granular()"]
    return [*lines, "[_karenina_verdict, _karenina_granular, _karenina_answer.correct, _karenina_answer.regex]"]
