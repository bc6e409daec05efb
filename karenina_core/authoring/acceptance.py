"""Changes of a rule that would accept a variant which fails now, and what else they would let through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karenina_core.authoring.explain import explain_field
from karenina_core.authoring.linter.finding import FieldFix, SpecFix
from karenina_core.authoring.near_misses import Case
from karenina_core.authoring.subject import Subject, template_of
from karenina_core.schemas import NORMALIZERS, normalize, number, quoted, read_date, read_number, title
from karenina_core.schemas.primitives import (
    ContainsAll,
    ContainsAny,
    DateMatch,
    DateTolerance,
    ExactMatch,
    NumericExact,
    NumericTolerance,
    OrderedMatch,
    Primitive,
    SetContainment,
    SynonymMap,
)
from karenina_core.templates import FieldSpec
from karenina_core.text import counted

_TEXT_RULES = (ExactMatch, ContainsAny, ContainsAll, SetContainment, OrderedMatch)


@dataclass(frozen=True)
class Acceptance:
    """A change of one rule.

    Attributes:
        field: The field.
        fix: The change.
        accepts: Variants that fail and would pass.
        opens: Among variants that should fail, those that would pass too.
    """

    field: str
    fix: SpecFix
    accepts: tuple[Case, ...]
    opens: tuple[Case, ...]


def acceptances(template: Subject, cases: Sequence[Case]) -> list[Acceptance]:
    """Return the changes that would accept variants which fail now, by field; what lets nothing wrong pass first.

    A change that would make a variant fail that passes now is none of them, nor one that lets through more wrong
    variants than right ones.

    Args:
        template: The template.
        cases: What `near_misses` says of it.

    Raises:
        TemplateError: The template cannot be read.
    """
    found: list[Acceptance] = []
    for item in template_of(template).spec.fields:
        own = [case for case in cases if case.field == item.name and case.verdict in ("pass", "fail")]
        if item.primitive is None or item.is_trace or not own:
            continue
        changes = {fix.label: fix for fix in _changes(item, item.primitive, own)}
        tried = [_tried(item, fix, own) for fix in changes.values()]
        useful = [change for change in tried if change is not None and len(change.opens) <= len(change.accepts)]
        found += _distinct(sorted(useful, key=lambda change: (len(change.opens), -len(change.accepts))))
    return found


def _distinct(changes: Sequence[Acceptance]) -> Iterator[Acceptance]:
    """Leave out what accepts nothing that an earlier change does not accept."""
    accepted: set[str] = set()
    for change in changes:
        labels = {case.label for case in change.accepts}
        if not labels <= accepted:
            accepted |= labels
            yield change


def _tried(item: FieldSpec, fix: FieldFix, cases: Sequence[Case]) -> Acceptance | None:
    try:
        changed = FieldSpec.model_validate({**item.model_dump(exclude={"is_trace"}), **fix.changes})
    except ValueError:
        return None
    passing = [explain_field(changed, case.values[item.name]).result is True for case in cases]
    if any(case.verdict == "pass" and not passes for case, passes in zip(cases, passing, strict=True)):
        return None
    gained = [case for case, passes in zip(cases, passing, strict=True) if passes and case.verdict == "fail"]
    accepted = tuple(case for case in gained if case.expected != "fail")
    if not accepted:
        return None
    return Acceptance(item.name, fix.on(item.name), accepted, tuple(case for case in gained if case.expected == "fail"))


def _changes(item: FieldSpec, rule: Primitive, cases: Sequence[Case]) -> Iterator[FieldFix]:
    wanted = [case.values[item.name] for case in cases if case.verdict == "fail" and case.expected != "fail"]
    if isinstance(rule, _TEXT_RULES):
        yield from _normalizing(rule)
    match rule:
        case ExactMatch():
            yield from _synonyms(item, rule, wanted)
        case SetContainment(mode="exact"):
            yield _with("Allow items beyond the expected ones", rule, mode="superset")
            yield _with("Allow some of the expected items", rule, mode="subset")
        case OrderedMatch():
            stored = {"type": "SetContainment", "mode": "exact", "normalize": rule.to_dict()["normalize"]}
            yield FieldFix("Compare without the order", {"verify_with": stored})
        case NumericExact() | NumericTolerance():
            yield from _tolerances(item, rule, wanted)
        case DateMatch() | DateTolerance():
            yield from _days(item, rule, wanted)


def _with(label: str, rule: Primitive, **parameters: Any) -> FieldFix:
    return FieldFix(label, {"verify_with": {**rule.to_dict(), **parameters}})


def _normalizing(rule: ExactMatch | ContainsAny | ContainsAll | SetContainment | OrderedMatch) -> Iterator[FieldFix]:
    stored = rule.to_dict()["normalize"]
    for name in NORMALIZERS:
        if name not in stored:
            yield _with(f"Add “{title(name)}”", rule, normalize=[*stored, name])
            if any(isinstance(entry, Mapping) for entry in stored):
                yield _with(f"Add “{title(name)}” at the beginning", rule, normalize=[name, *stored])


def _synonyms(item: FieldSpec, rule: ExactMatch, wanted: Sequence[Any]) -> Iterator[FieldFix]:
    for value in wanted:
        if not isinstance(value, str) or not isinstance(item.ground_truth, str):
            continue
        if len(value.split()) > len(item.ground_truth.split()):  # a sentence around the truth is no synonym of it
            continue
        plain = [entry for entry in rule.normalize if not isinstance(entry, SynonymMap)]
        key, meaning = normalize(value, plain), normalize(item.ground_truth, plain)
        known = next((entry for entry in reversed(rule.normalize) if isinstance(entry, SynonymMap)), None)
        mapping = {**(known.mapping if known else {}), key: meaning}
        kept = [entry for entry in rule.to_dict()["normalize"] if known is None or entry != known.model_dump()]
        if key:
            yield _with(f"Count {quoted(value)} as {quoted(meaning)}", rule, normalize=[*kept, {"mapping": mapping}])


def _tolerances(item: FieldSpec, rule: NumericExact | NumericTolerance, wanted: Sequence[Any]) -> Iterator[FieldFix]:
    truth = read_number(item.ground_truth)
    relative = isinstance(rule, NumericTolerance) and rule.mode == "relative"
    for value in wanted:
        found = read_number(value)
        if truth is None or found is None or (relative and not truth):
            continue
        try:
            distance = abs(found - truth) / (abs(truth) if relative else 1)
        except OverflowError:
            continue
        shown = f"{distance * 100:.4g} %" if relative else number(distance)
        stored = {"type": "NumericTolerance", "tolerance": distance, "mode": "relative" if relative else "absolute"}
        yield FieldFix(f"Accept numbers up to {shown} away", {"verify_with": stored})


def _days(item: FieldSpec, rule: DateMatch | DateTolerance, wanted: Sequence[Any]) -> Iterator[FieldFix]:
    truth = read_date(item.ground_truth, None, rule.dayfirst)
    for value in wanted:
        found = read_date(value, None, rule.dayfirst)
        if truth is None or found is None or truth.moment is None or found.moment is None:
            continue
        days = abs((truth.moment.date() - found.moment.date()).days)
        stored = {"type": "DateTolerance", "tolerance": days, "unit": "days", "dayfirst": rule.dayfirst}
        yield FieldFix(f"Accept dates up to {counted(days, 'day')} away", {"verify_with": stored})
