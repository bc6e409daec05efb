"""What a person does to a form, as pure functions: each takes what was typed and returns it changed.

Nothing is refused here and nothing is lost: what makes no template yet stays typed, and `lint_form` says what is wrong.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

from karenina_core.authoring.linter.finding import FormData
from karenina_core.authoring.linter.truths import converted
from karenina_core.authoring.parameters import defaults_of, parameters_of
from karenina_core.authoring.source_edits import renamed
from karenina_core.authoring.suggest import suggest_rule, suggest_type
from karenina_core.schemas.primitives import REGISTRY, TracePrimitive
from karenina_core.schemas.primitives.suggest import field_kind
from karenina_core.templates import TemplateSpec
from karenina_core.templates.spec import OPTIONS
from karenina_core.text import first_free

_Field = dict[str, Any]
# What means the same in every primitive that has it.
_CARRIED = ("normalize", "substrings", "pattern", "dayfirst", "unit")
# Options that belong to any type of field.
_ANY_TYPE = {"title"}
_STARTS = {"tolerance": {"NumericTolerance": 0.05, "DateTolerance": 1}}


class Composition(NamedTuple):
    """How field results make the verdict, as far as a form asks for it.

    Attributes:
        kind: `all_of`, `any_of`, `at_least_n`, or `nested` for what only the source can say.
        fields: The fields it looks at.
        n: How many must be right, for `at_least_n`.
    """

    kind: str
    fields: tuple[str, ...]
    n: int = 1


def form_data(spec: TemplateSpec) -> FormData:
    """Return what a form holds of a template."""
    data = spec.model_dump()
    for item in data["fields"]:
        item.pop("is_trace", None)
    return data


def verified_names(data: FormData) -> list[str]:
    """Return the names of the fields with a rule."""
    return [str(item.get("name")) for item in data["fields"] if item.get("verify_with")]


def add_field(data: FormData, reference_answer: str = "") -> FormData:
    """Return the form with one more field at its end; the first one takes type and truth from the reference answer."""
    new = copy.deepcopy(data)
    taken = {str(item.get("name")) for item in new["fields"]}
    first = not taken
    kind = suggest_type(reference_answer) if first and reference_answer.strip() else "str"
    truth = converted(kind, reference_answer) if first else None
    whole = _looks_at_all(data)
    name = "answer" if "answer" not in taken else first_free(lambda number: f"answer_{number}", taken, 2)
    added: _Field = {
        "name": name,
        "type": kind,
        "description": "",
        "ground_truth": "" if truth is None and kind == "str" else truth,
        "verify_with": suggest_rule(kind, truth),
        "weight": 1.0,
        "extraction_hint": None,
        "literal_values": [],
        "options": {},
    }
    new["fields"].append(added)
    if whole and new.get("verify_strategy"):
        new["verify_strategy"]["conditions"].append(_check(name))
    return new


def remove_field(data: FormData, place: int) -> FormData:
    """Return the form without the field at a place; the composition forgets it."""
    new = copy.deepcopy(data)
    removed = new["fields"].pop(place)
    name = removed.get("name")
    if name not in {item.get("name") for item in new["fields"]}:
        new["verify_strategy"] = _without(new.get("verify_strategy"), str(name))
    return new


def move_field(data: FormData, place: int, to: int) -> FormData:
    """Return the form with the field at a place put elsewhere."""
    new = copy.deepcopy(data)
    new["fields"].insert(to, new["fields"].pop(place))
    return new


def set_value(data: FormData, place: int, key: str, value: Any) -> FormData:
    """Return the form with another value of one attribute of a field."""
    return _changed(data, place, {key: value})


def set_name(data: FormData, place: int, name: str) -> FormData:
    """Return the form with a field renamed; the composition follows."""
    old = str(data["fields"][place].get("name"))
    new = _changed(data, place, {"name": name})
    names = [str(item.get("name")) for item in data["fields"]]
    if names.count(old) == 1 and name not in names:
        new["verify_strategy"] = renamed(new.get("verify_strategy"), old, name)
    return new


def set_type(data: FormData, place: int, kind: str) -> FormData:
    """Return the form with a field of another type: the truth in that type where it fits, and a rule made for it."""
    item = data["fields"][place]
    truth = _truth_as(kind, item.get("ground_truth"))
    changes: _Field = {"type": kind, "ground_truth": truth, "annotation": None}
    if kind == "literal" and not item.get("literal_values") and isinstance(truth, str) and truth:
        changes["literal_values"] = [truth]
    changes["options"] = {
        name: value for name, value in item.get("options", {}).items() if name in _ANY_TYPE or name not in OPTIONS
    }
    if item.get("verify_with") and not _made_for(item["verify_with"], kind):
        changes["verify_with"] = _carried(suggest_rule(kind, truth), item["verify_with"])
    return _changed(data, place, changes)


def set_rule(data: FormData, place: int, name: str | None) -> FormData:
    """Return the form with another primitive in a field, or with none; the type follows where only one fits."""
    item = data["fields"][place]
    if name is None:
        new = _changed(data, place, {"verify_with": None})
        new["verify_strategy"] = _without(new.get("verify_strategy"), str(item.get("name")))
        return new
    rule = _carried(defaults_of(REGISTRY[name]), item.get("verify_with") or {})
    for parameter in parameters_of(REGISTRY[name]):
        if rule[parameter.name] is None and parameter.required:
            rule[parameter.name] = _start(name, parameter.name, parameter.kind, item.get("ground_truth"))
    kind = item.get("type")
    if kind in ("str", "date"):
        kind = "date" if name.startswith("Date") else "str"
    return _changed(data, place, {"verify_with": rule, "type": kind, "weight": item.get("weight", 1.0)})


def set_parameter(data: FormData, place: int, parameter: str, value: Any) -> FormData:
    """Return the form with another value of one parameter of a field's primitive."""
    rule = {**(data["fields"][place].get("verify_with") or {}), parameter: value}
    return _changed(data, place, {"verify_with": rule})


def composition_of(data: FormData) -> Composition:
    """Return how a form composes its fields."""
    strategy = data.get("verify_strategy")
    if not strategy:
        return Composition("all_of", tuple(verified_names(data)))
    if strategy.get("type") == "field_check":
        return Composition("all_of", (str(strategy["field_name"]),))
    parts = strategy.get("conditions") or []
    if any(part.get("type") != "field_check" for part in parts):
        return Composition("nested", tuple(_named(strategy)))
    return Composition(str(strategy["type"]), tuple(_named(strategy)), int(strategy.get("n") or 1))


def set_composition(data: FormData, kind: str, fields: Sequence[str], n: int = 1) -> FormData:
    """Return the form with another composition; all fields of all is what goes without saying."""
    new = copy.deepcopy(data)
    wanted = list(fields) or verified_names(data)
    if kind == "all_of" and set(wanted) == set(verified_names(data)):
        new["verify_strategy"] = None
        return new
    strategy: _Field = {"type": kind, "conditions": [_check(name) for name in wanted]}
    if kind == "at_least_n":
        strategy["n"] = max(1, min(n, len(wanted)))
    new["verify_strategy"] = strategy
    return new


def _changed(data: FormData, place: int, changes: _Field) -> FormData:
    new = copy.deepcopy(data)
    new["fields"][place] = {**new["fields"][place], **copy.deepcopy(changes)}
    return new


def _truth_as(kind: str, truth: Any) -> Any:
    if kind in ("str", "date") and isinstance(truth, list) and all(isinstance(item, str) for item in truth):
        return ", ".join(truth)
    if truth is None or (kind == "list_str" and isinstance(truth, list)) or (kind == "bool" and truth in (True, False)):
        return truth
    if kind == "literal":
        return truth
    found = converted(kind, truth)
    return truth if found is None else found


def _made_for(rule: _Field, kind: str) -> bool:
    cls = REGISTRY.get(str(rule.get("type")))
    if cls is None or (kind in ("str", "date") and (kind == "date") != cls.__name__.startswith("Date")):
        return False
    return field_kind(kind) in cls.applies_to or kind == "other"


def _carried(rule: _Field, old: _Field) -> _Field:
    kept = {name: old[name] for name in _CARRIED if name in rule and name in old}
    cls = REGISTRY[str(rule["type"])]
    choices = {item.name: item.choices for item in parameters_of(cls) if item.choices}
    return {**rule, **{name: value for name, value in kept.items() if value in choices.get(name, (value,))}}


def _start(rule: str, parameter: str, kind: str, truth: Any) -> Any:
    """Return a first value of a parameter that has no default."""
    known = _STARTS.get(parameter, {}).get(rule)
    if known is not None:
        return known
    text = truth if isinstance(truth, str) else ""
    if kind == "texts":
        return list(truth) if isinstance(truth, list) else [text] if text else []
    if issubclass(REGISTRY[rule], TracePrimitive):
        return ""
    return text if kind == "text" and text.isalnum() else ""


def _check(name: str) -> _Field:
    return {"type": "field_check", "field_name": name}


def _looks_at_all(data: FormData) -> bool:
    found = composition_of(data)
    return found.kind != "nested" and set(found.fields) == set(verified_names(data))


def _named(condition: _Field) -> list[str]:
    if condition.get("type") == "field_check":
        return [str(condition["field_name"])]
    return [name for part in condition.get("conditions") or [] for name in _named(part)]


def _without(condition: Any, name: str) -> Any:
    """Return a composition that does not look at a field; None where nothing is left of it."""
    if not isinstance(condition, dict):
        return None
    if condition.get("type") == "field_check":
        return None if condition.get("field_name") == name else condition
    parts = [kept for part in condition.get("conditions") or [] if (kept := _without(part, name)) is not None]
    if not parts:
        return None
    more = {"n": min(int(condition["n"]), len(parts))} if "n" in condition else {}
    return {**condition, "conditions": parts, **more}
