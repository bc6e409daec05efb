"""What is wrong with a form while it is typed, before it makes a template."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import ValidationError

from karenina_core import patterns
from karenina_core.authoring.linter.finding import Context, Finding, FormData, FormFix
from karenina_core.authoring.linter.lint import in_order, lint
from karenina_core.authoring.linter.nesting import check_nesting
from karenina_core.errors import InputError, validation_message
from karenina_core.schemas import VerificationConfig, quoted
from karenina_core.schemas.primitives import REGISTRY, TracePrimitive, primitive_from_dict
from karenina_core.templates import FieldSpec, TemplateSpec, is_reserved

_Field = dict[str, Any]


def lint_form(
    data: FormData,
    *,
    question: str | None = None,
    reference_answer: str | None = None,
    config: VerificationConfig | None = None,
) -> list[Finding]:
    """Return what is to be mended in what was typed so far, the gravest first.

    Data that make a template are looked at by `lint`; data that do not get a finding for everything in the way.

    Args:
        data: The JSON data of a `TemplateSpec`, valid or not; it is left as it is.
        question: The text of the question, where known.
        reference_answer: What people know to be true, where known.
        config: How the benchmark will be run, where known.
    """
    try:
        check_nesting(data)
        spec = TemplateSpec.model_validate(data)
    except InputError as error:
        return [Finding("form_incomplete", "error", None, error.what, error.why, error.next)]
    except ValidationError as error:
        found = list(_obstacles(data, Context(question, reference_answer, config)))
        return in_order(found or [_other(error)])
    return lint(spec, question=question, reference_answer=reference_answer, config=config)


def _other(error: ValidationError) -> Finding:
    message = validation_message(error, most=1)
    return Finding("form_incomplete", "error", None, f"{message}.", "The form makes no template yet.", "Correct it.")


def _obstacles(data: FormData, context: Context) -> Iterator[Finding]:
    items = [item for item in data.get("fields") or [] if isinstance(item, dict)]
    for item in items:
        for check in _FIELD_CHECKS:
            yield from check(item)
    yield from _repeated_names(items)
    yield from _no_weight(items)
    yield from _unknown_conditions(data, items)


def _finding(
    code: str,
    item: _Field,
    said: tuple[str, str, str],
    label: str = "",
    change: Callable[[_Field], _Field] | None = None,
) -> Finding:
    name = str(item.get("name") or "")
    fix = FormFix(label, lambda data: _changed(data, name, change)) if change is not None else None
    return Finding(code, "error", name or None, *said, fix=fix)


def _changed(data: FormData, name: str, change: Callable[[_Field], _Field]) -> FormData:
    new = copy.deepcopy(data)
    new["fields"] = [change(item) if item.get("name") == name else item for item in new["fields"]]
    return new


def _bad_name(item: _Field) -> Iterator[Finding]:
    name = str(item.get("name") or "")
    try:
        FieldSpec(name=name)
        return
    except ValidationError:
        pass
    usable = re.sub(r"\W+", "_", name.strip(), flags=re.ASCII).strip("_").lower()
    usable = f"field_{usable}".rstrip("_") if not usable[:1].isalpha() or is_reserved(usable) else usable
    said = (
        f"{quoted(name)} is not a name for a field.",
        "A field is named as in Python: letters, digits and underscores, not beginning with a digit.",
        "Choose another name.",
    )
    yield _finding("field_name", item, said, f"Name it {usable}", lambda field: {**field, "name": usable})


def _no_description(item: _Field) -> Iterator[Finding]:
    if item.get("verify_with") and not str(item.get("description") or "").strip():
        said = (
            "The field has no description.",
            "The judge has to know what to look for.",
            "Say what to look for in the response.",
        )
        yield _finding("description_missing", item, said)


def _no_options(item: _Field) -> Iterator[Finding]:
    if item.get("type") == "literal" and not item.get("literal_values"):
        truth = item.get("ground_truth")
        usable = isinstance(truth, str | int) and truth != ""
        said = ("The field has no options.", "The judge chooses one of them.", "List what an answer could be.")
        change = (lambda field: {**field, "literal_values": [truth]}) if usable else None
        yield _finding("options_missing", item, said, "Begin with the truth", change)


def _trace_not_bool(item: _Field) -> Iterator[Finding]:
    rule = item.get("verify_with") or {}
    cls = REGISTRY.get(str(rule.get("type")))
    if cls is not None and issubclass(cls, TracePrimitive) and item.get("type") != "bool":
        said = (
            f"{cls.__name__} reads the response and says yes or no, but the field is not a yes-or-no field.",
            "Its truth is whether the check shall hold.",
            "Make the field a yes-or-no field.",
        )
        fixed = {"type": "bool", "ground_truth": item.get("ground_truth") is not False, "options": {}}
        yield _finding("trace_not_bool", item, said, "Make it yes or no", lambda field: {**field, **fixed})


def _bad_rule(item: _Field) -> Iterator[Finding]:
    rule = item.get("verify_with")
    if not isinstance(rule, dict) or item.get("own_rule"):
        return
    try:
        primitive_from_dict(rule)
    except InputError as error:
        pattern = rule.get("pattern")
        if isinstance(pattern, str) and not _compiles(pattern, rule.get("flags") or []):
            yield _bad_pattern(item, pattern)
            return
        cause = error.__cause__
        why = f"{validation_message(cause, most=1)}." if isinstance(cause, ValidationError) else error.next
        said = (error.what, why, "Correct its parameters.")
        yield _finding("rule_incomplete", item, said)


def _bad_pattern(item: _Field, pattern: str) -> Finding:
    said = (
        f"The pattern {quoted(pattern)} is not a valid regular expression.",
        "It cannot be searched for.",
        "Correct it, or put a backslash before characters that are meant as they are.",
    )
    literal = {**(item.get("verify_with") or {}), "pattern": re.escape(pattern)}
    return _finding(
        "regex_invalid", item, said, "Look for the text literally", lambda field: {**field, "verify_with": literal}
    )


def _compiles(pattern: str, flags: list[str]) -> bool:
    try:
        patterns.validate(pattern, flags)
    except InputError:
        return False
    return True


def _repeated_names(items: list[_Field]) -> Iterator[Finding]:
    names = [str(item.get("name")) for item in items]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield Finding(
                "duplicate_field",
                "error",
                name,
                f"{names.count(name)} fields are named {name}.",
                "The judge's reply holds one value for each name.",
                "Give each its own name.",
                FormFix("Number them", _numbered),
            )


def _numbered(data: FormData) -> FormData:
    new = copy.deepcopy(data)
    taken = {str(item.get("name")) for item in new["fields"]}
    seen: set[str] = set()
    for item in new["fields"]:
        name = str(item.get("name"))
        if name in seen:
            at = 2
            while f"{name}_{at}" in taken:
                at += 1
            item["name"] = f"{name}_{at}"
            taken.add(item["name"])
        seen.add(str(item["name"]))
    return new


def _no_weight(items: list[_Field]) -> Iterator[Finding]:
    verified = [item for item in items if item.get("verify_with")]
    if verified and all(item.get("weight", 1.0) == 0 for item in verified):
        yield Finding(
            "weight_zero_on_all",
            "error",
            None,
            "All fields have the weight 0.",
            "The score is a share of the weights, and there is nothing to share.",
            "Give at least one field a weight above 0.",
            FormFix("Give all the weight 1", _weighted),
        )


def _weighted(data: FormData) -> FormData:
    new = copy.deepcopy(data)
    new["fields"] = [{**item, "weight": 1.0} for item in new["fields"]]
    return new


def _unknown_conditions(data: FormData, items: list[_Field]) -> Iterator[Finding]:
    verified = {str(item.get("name")) for item in items if item.get("verify_with")}
    unknown = sorted(set(_named(data.get("verify_strategy"))) - verified)
    if unknown:
        yield Finding(
            "strategy_unknown_field",
            "error",
            None,
            f"The composition names {', '.join(unknown)}, which is no verified field.",
            "It cannot be decided.",
            "Choose among the fields with a rule.",
            FormFix("Ask for all fields", lambda data: {**copy.deepcopy(data), "verify_strategy": None}),
        )


def _named(condition: Any) -> Iterator[str]:
    if isinstance(condition, dict):
        if isinstance(condition.get("field_name"), str):
            yield condition["field_name"]
        for part in condition.get("conditions") or []:
            yield from _named(part)


_FIELD_CHECKS = (_bad_name, _no_description, _no_options, _trace_not_bool, _bad_rule)
