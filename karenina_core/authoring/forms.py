"""A template as a form: what it shows, what a person changes as pure functions, and how it gets into the source.

What makes no template yet stays typed, and `lint_form` says what is wrong. An `InputError` says what cannot be done at
all; the form is then as it was. The form never changes what it does not hold: methods, primitives and nested models.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import ValidationError

from karenina_core.authoring.field_types import (
    Parameter,
    converted,
    defaults_of,
    parameters_of,
    suggest_rule,
    suggest_type,
)
from karenina_core.authoring.source_edits import edit_source, renamed
from karenina_core.errors import InputError, KareninaError, TemplateError, validation_message
from karenina_core.schemas import Condition, FieldCheck, condition_from_dict, field_kind
from karenina_core.schemas.primitives import REGISTRY, TracePrimitive
from karenina_core.templates import MAX_DEPTH, OPTIONS, FieldSpec, FieldType, TemplateSpec, read_template
from karenina_core.text import first_free

FormData = dict[str, Any]
"""A template as a form holds it while it is typed: the JSON data of a `TemplateSpec` that need not be valid yet."""
_COMPOSITIONS = ("all_of", "any_of", "at_least_n")
_CARRIED = ("normalize", "substrings", "pattern", "dayfirst", "unit")  # mean the same in every primitive
_STARTS = {("NumericTolerance", "tolerance"): 0.05, ("DateTolerance", "tolerance"): 1}


@dataclass(frozen=True)
class FormView:
    """A template as a form shows it.

    Attributes:
        spec: Its fields and rules; None where the source cannot be read.
        reason: Why the form only shows them, in words; None where it may edit them.
        line: The line the reason is about, counted from 1.
        locked: Why the type of a field cannot be chosen from the form's list, by field; the rest of it can be edited.
    """

    spec: TemplateSpec | None
    reason: str | None = None
    line: int | None = None
    locked: Mapping[str, str] = field(default_factory=dict)

    @property
    def editable(self) -> bool:
        """Whether the form may change the template."""
        return self.spec is not None and self.reason is None


def form_of(source: str) -> FormView:
    """Return how a form shows a template; a blank source is an empty form that can be edited."""
    if not source.strip():
        return FormView(TemplateSpec())
    try:
        spec = read_template(source).spec
    except TemplateError as error:
        return FormView(None, f"The source cannot be read: {error}.", error.line)
    own = sorted({str((item.verify_with or {})["type"]) for item in spec.fields if item.own_rule})
    owner = f"The source defines {', '.join(own)} itself" if own else "The template has methods of its own"
    reason = f"{owner}, and a form does not hold code. Edit the source." if spec.own_code else None
    locked = {
        item.name: f"The type {item.annotation} is not in the form's list. Change it in the source."
        for item in spec.fields
        if item.type == "other"
    }
    return FormView(spec, reason, None, locked)


def form_data(spec: TemplateSpec) -> FormData:
    """Return what a form holds of a template."""
    data = spec.model_dump()
    for item in data["fields"]:
        item.pop("is_trace", None)
    return data


class Written(NamedTuple):
    """A form beside its source.

    Attributes:
        source: The source; unchanged where the form cannot be written into it.
        problem: Why it cannot, in words; None where it was written.
    """

    source: str
    problem: str | None = None


def write_form(source: str, data: FormData) -> Written:
    """Return a source that says what a form holds, or why there is none; the source is never made worse.

    Args:
        source: The template as it is; blank for a new one.
        data: What was typed, valid or not.
    """
    if not source.strip() and not data.get("fields"):
        return Written(source)
    try:
        strategy_of(data)
        return Written(edit_source(source, TemplateSpec.model_validate(data)))
    except ValidationError as error:
        return Written(source, validation_message(error, most=1))
    except KareninaError as error:
        return Written(source, " ".join(part for part in (error.what, error.why, error.next) if part))


# --- Fields ----------------------------------------------------------------------------------------------------------


def add_field(data: FormData, reference_answer: str = "") -> FormData:
    """Return the form with one more field at its end; the first one takes type and truth from the reference answer."""
    new = _copied(data)
    names = {str(item.get("name")) for item in new["fields"]}
    kind = suggest_type(reference_answer) if not names and reference_answer.strip() else "str"
    truth = None if names else converted(kind, reference_answer)
    name = "answer" if "answer" not in names else first_free(lambda number: f"answer_{number}", names, 2)
    before = composition_of(data)
    blank = form_data(TemplateSpec(fields=[FieldSpec(name=name, description="?")]))["fields"][0]
    shown = "" if truth is None and kind == "str" else truth
    rule = suggest_rule(kind, truth)
    new["fields"].append(blank | {"type": kind, "description": "", "ground_truth": shown, "verify_with": rule})
    all_count = before.kind != "nested" and set(before.fields) == set(verified_names(data))
    if all_count and new.get("verify_strategy"):
        new["verify_strategy"]["conditions"].append(_field_check(name))
    return new


def remove_field(data: FormData, place: int) -> FormData:
    """Return the form without the field at a place; the composition forgets it."""
    new = _copied(data)
    name = new["fields"].pop(place).get("name")
    if name not in {item.get("name") for item in new["fields"]}:
        new["verify_strategy"] = _without_field(new.get("verify_strategy"), str(name))
    return new


def move_field(data: FormData, place: int, to: int) -> FormData:
    """Return the form with the field at a place put elsewhere."""
    new = _copied(data)
    new["fields"].insert(to, new["fields"].pop(place))
    return new


def set_value(data: FormData, place: int, key: str, value: Any) -> FormData:
    """Return the form with another value of one attribute of a field."""
    return _changed(data, place, {key: value})


def set_parameter(data: FormData, place: int, parameter: str, value: Any) -> FormData:
    """Return the form with another value of one parameter of a field's primitive."""
    rule = data["fields"][place].get("verify_with") or {}
    return _changed(data, place, {"verify_with": {**rule, parameter: value}})


def set_name(data: FormData, place: int, name: str) -> FormData:
    """Return the form with a field renamed; the composition follows."""
    old = str(data["fields"][place].get("name"))
    new = _changed(data, place, {"name": name})
    names = [str(item.get("name")) for item in data["fields"]]
    if names.count(old) == 1 and name not in names:
        new["verify_strategy"] = renamed(new.get("verify_strategy"), old, name)
    return new


def set_type(data: FormData, place: int, kind: FieldType) -> FormData:
    """Return the form with a field of another type: the truth in that type where it fits, and a rule made for it."""
    item = data["fields"][place]
    truth = _truth_as(kind, item.get("ground_truth"))
    options = {name: value for name, value in item.get("options", {}).items() if name == "title" or name not in OPTIONS}
    changes = {"type": kind, "ground_truth": truth, "annotation": None, "options": options}
    if kind == "literal" and not item.get("literal_values") and isinstance(truth, str) and truth:
        changes["literal_values"] = [truth]
    rule = item.get("verify_with")
    if rule:
        cls = REGISTRY.get(str(rule.get("type")))
        dates_agree = cls is not None and (
            kind not in ("str", "date") or _reads_dates(cls.__name__) == (kind == "date")
        )
        if cls is None or not dates_agree or not (field_kind(kind) in cls.applies_to or kind == "other"):
            changes["verify_with"] = _carried(suggest_rule(kind, truth), rule)
    return _changed(data, place, changes)


def set_rule(data: FormData, place: int, name: str | None) -> FormData:
    """Return the form with another primitive in a field, or with none; the type follows where only one fits.

    Raises:
        InputError: There is no such primitive, or the composition of the form cannot be used.
    """
    item = data["fields"][place]
    if name is None:
        new = _changed(data, place, {"verify_with": None})
        new["verify_strategy"] = _without_field(new.get("verify_strategy"), str(item.get("name")))
        return new
    if name not in REGISTRY:
        raise InputError(f"There is no primitive {name!r}.", next=f"Use one of: {', '.join(sorted(REGISTRY))}.")
    rule = _carried(defaults_of(REGISTRY[name]), item.get("verify_with") or {})
    for parameter in parameters_of(REGISTRY[name]):
        if rule[parameter.name] is None and parameter.required:
            rule[parameter.name] = _start(name, parameter, item.get("ground_truth"))
    kind, truth = item.get("type"), item.get("ground_truth")
    if issubclass(REGISTRY[name], TracePrimitive):
        kind, truth = "bool", truth is not False
    elif kind in ("str", "date"):
        kind = "date" if _reads_dates(name) else "str"
    return _changed(data, place, {"verify_with": rule, "type": kind, "ground_truth": truth})


def _reads_dates(rule: str) -> bool:
    return rule.startswith("Date")


def _copied(data: FormData) -> FormData:
    strategy_of(data)
    return copy.deepcopy(data)


def _changed(data: FormData, place: int, changes: Mapping[str, Any]) -> FormData:
    new = _copied(data)
    new["fields"][place] |= copy.deepcopy(dict(changes))
    return new


def _truth_as(kind: FieldType, truth: Any) -> Any:
    if kind in ("str", "date") and isinstance(truth, list) and all(isinstance(item, str) for item in truth):
        return ", ".join(truth)
    if truth is None or kind == "literal" or (kind in ("bool", "list_str") and isinstance(truth, bool | list)):
        return truth
    value = converted(kind, truth)
    return truth if value is None else value


def _carried(rule: dict[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule with the parameters that mean the same in the old one."""
    choices = {item.name: item.choices for item in parameters_of(REGISTRY[str(rule["type"])])}
    shared = {name: old[name] for name in _CARRIED if name in rule and name in old}
    return rule | {name: value for name, value in shared.items() if value in (choices.get(name) or (value,))}


def _start(rule: str, parameter: Parameter, truth: Any) -> Any:
    """Return a first value of a parameter that has no default."""
    if (rule, parameter.name) in _STARTS:
        return _STARTS[rule, parameter.name]
    text = truth if isinstance(truth, str) else ""
    if parameter.kind == "texts":
        return list(truth) if isinstance(truth, list) else [text] if text else []
    fits = parameter.kind == "text" and text.isalnum() and not issubclass(REGISTRY[rule], TracePrimitive)
    return text if fits else ""


# --- Composition -----------------------------------------------------------------------------------------------------


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


def verified_names(data: FormData) -> list[str]:
    """Return the names of the fields with a rule."""
    return [str(item.get("name")) for item in data["fields"] if item.get("verify_with")]


def composition_of(data: FormData) -> Composition:
    """Return how a form composes its fields.

    Raises:
        InputError: What it holds is no composition.
    """
    strategy = strategy_of(data)
    if strategy is None:
        return Composition("all_of", tuple(verified_names(data)))
    names = tuple(strategy.field_names())
    if isinstance(strategy, FieldCheck):
        return Composition("all_of", names)
    plain = all(isinstance(part, FieldCheck) for part in strategy.conditions)
    return Composition(strategy.type if plain else "nested", names, getattr(strategy, "n", 1))


def set_composition(data: FormData, kind: str, fields: Sequence[str], n: int = 1) -> FormData:
    """Return the form with another composition; all fields of all is what goes without saying.

    Raises:
        InputError: There is no composition of that name.
    """
    if kind not in _COMPOSITIONS:
        raise InputError(f"{kind!r} is no way to compose fields.", next=f"Use one of: {', '.join(_COMPOSITIONS)}.")
    # The old one goes, whatever it is; so it must not stand in the way.
    new = copy.deepcopy({name: value for name, value in data.items() if name != "verify_strategy"})
    wanted = list(fields) or verified_names(data)
    if not wanted or (kind == "all_of" and set(wanted) == set(verified_names(data))):
        return {**new, "verify_strategy": None}
    number = {"n": max(1, min(n, len(wanted)))} if kind == "at_least_n" else {}
    return {**new, "verify_strategy": {"type": kind, "conditions": [_field_check(name) for name in wanted], **number}}


def strategy_of(data: FormData) -> Condition | None:
    """Return the composition of a form, no deeper than a source could hold it; None for all fields of all.

    Raises:
        InputError: What the form holds is none.
    """
    stored = data.get("verify_strategy")
    level = [stored]
    for _ in range(MAX_DEPTH + 1):
        groups = [node.get("conditions") for node in level if isinstance(node, dict)]
        level = [part for group in groups if isinstance(group, list) for part in group]
    try:
        if not level:
            return None if stored is None else condition_from_dict(stored)
        problem = "It is nested too deeply."
    except ValidationError as error:
        problem = f"{validation_message(error, most=1).rstrip('.')}."
    raise InputError(
        "The composition of the fields cannot be used.", problem, "Choose another one, or correct the source."
    )


def _field_check(name: str) -> dict[str, Any]:
    return {"type": "field_check", "field_name": name}


def _without_field(condition: Any, name: str) -> Any:
    """Return a composition that does not look at a field; None where nothing is left of it."""
    if condition is None or condition["type"] == "field_check":
        return None if condition is None or condition["field_name"] == name else condition
    parts = [rest for part in condition["conditions"] if (rest := _without_field(part, name)) is not None]
    number = {"n": min(condition["n"], len(parts))} if condition.get("n") is not None else {}
    return {**condition, "conditions": parts, **number} if parts else None
