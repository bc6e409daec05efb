"""What a person does to a form, as pure functions: each takes what was typed and returns it changed.

What makes no template yet stays typed, and `lint_form` says what is wrong. An `InputError` says what cannot be done at
all; the form is then as it was.
"""

from __future__ import annotations

import copy
from typing import Any

from karenina_core.authoring.compositions import (
    check_composition,
    composition_of,
    field_check,
    verified_names,
    without_field,
)
from karenina_core.authoring.linter.finding import FormData
from karenina_core.authoring.linter.truths import converted
from karenina_core.authoring.parameters import defaults_of, parameters_of
from karenina_core.authoring.source_edits import renamed
from karenina_core.authoring.suggest import suggest_rule, suggest_type
from karenina_core.errors import InputError
from karenina_core.schemas import field_kind
from karenina_core.schemas.primitives import REGISTRY, TracePrimitive
from karenina_core.templates import OPTIONS, TemplateSpec
from karenina_core.text import first_free

_Field = dict[str, Any]
# What means the same in every primitive that has it.
_CARRIED = ("normalize", "substrings", "pattern", "dayfirst", "unit")
# Options that belong to any type of field.
_ANY_TYPE = {"title"}
_STARTS = {"tolerance": {"NumericTolerance": 0.05, "DateTolerance": 1}}


def form_data(spec: TemplateSpec) -> FormData:
    """Return what a form holds of a template."""
    data = spec.model_dump()
    for item in data["fields"]:
        item.pop("is_trace", None)
    return data


def add_field(data: FormData, reference_answer: str = "") -> FormData:
    """Return the form with one more field at its end; the first one takes type and truth from the reference answer."""
    new = _copied(data)
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
        new["verify_strategy"]["conditions"].append(field_check(name))
    return new


def remove_field(data: FormData, place: int) -> FormData:
    """Return the form without the field at a place; the composition forgets it."""
    new = _copied(data)
    removed = new["fields"].pop(place)
    name = removed.get("name")
    if name not in {item.get("name") for item in new["fields"]}:
        new["verify_strategy"] = without_field(new.get("verify_strategy"), str(name))
    return new


def move_field(data: FormData, place: int, to: int) -> FormData:
    """Return the form with the field at a place put elsewhere."""
    new = _copied(data)
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
    """Return the form with another primitive in a field, or with none; the type follows where only one fits.

    Raises:
        InputError: There is no such primitive, or the composition of the form cannot be used.
    """
    item = data["fields"][place]
    if name is None:
        new = _changed(data, place, {"verify_with": None})
        new["verify_strategy"] = without_field(new.get("verify_strategy"), str(item.get("name")))
        return new
    if name not in REGISTRY:
        raise InputError(f"There is no primitive {name!r}.", next=f"Use one of: {', '.join(sorted(REGISTRY))}.")
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


def _copied(data: FormData) -> FormData:
    check_composition(data)
    return copy.deepcopy(data)


def _changed(data: FormData, place: int, changes: _Field) -> FormData:
    new = _copied(data)
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


def _looks_at_all(data: FormData) -> bool:
    found = composition_of(data)
    return found.kind != "nested" and set(found.fields) == set(verified_names(data))
