"""Failures that would pass with one more normaliser or a little more tolerance, grouped by the change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from karenina_core.authoring import near_misses, replace_field
from karenina_core.benchmark import Benchmark
from karenina_core.errors import KareninaError
from karenina_core.schemas import NORMALIZER_WORDS, NORMALIZERS, FieldEvidence, VerificationResult
from karenina_core.schemas.primitives import Primitive, SemanticMatch, TracePrimitive, primitive_from_dict
from karenina_core.templates import Template, read_template

RELATIVE = 0.01  # the tolerance an exact number is tried with
WIDER = 2  # times the tolerance there is
LOWER = 0.05  # of a similarity threshold


class Change(NamedTuple):
    """Another setting of a rule.

    Attributes:
        label: What is changed, in words.
        rule: The rule with it, in its stored form.
    """

    label: str
    rule: Mapping[str, Any]


@dataclass(frozen=True)
class GentlerRule:
    """One change of one field's rule, and the failures that it would make pass.

    Attributes:
        question_id: The question.
        question: Its text.
        field: The field.
        label: What is changed, in words.
        source: The template with the change.
        result_ids: The failures that would pass.
        lets_in: Wrong variants of the truth that pass with the change and fail without it.
    """

    question_id: str
    question: str
    field: str
    label: str
    source: str
    result_ids: tuple[str, ...]
    lets_in: tuple[str, ...]


def gentler_rules(results: Iterable[VerificationResult], benchmark: Benchmark) -> list[GentlerRule]:
    """Return changes of single rules that would make failures pass, the most helpful first.

    Args:
        results: Of a run; those that did not fail are passed over.
        benchmark: With the rules of today; questions it does not have are passed over.
    """
    found: dict[tuple[str, str, str], tuple[Change, list[VerificationResult]]] = {}
    for result in results:
        template = _failing_template(result, benchmark)
        if template is None:
            continue
        for field, change in _changes_of(result, template):
            key = (result.question.id, field, change.label)
            found.setdefault(key, (change, []))[1].append(result)
    rules = []
    for (question_id, field, _), (change, failures) in found.items():
        source = benchmark.get_template(question_id)
        rule = None if source is None else _rule(source, field, change, failures)
        if rule is not None:
            rules.append(rule)
    return sorted(rules, key=lambda rule: (-len(rule.result_ids), len(rule.lets_in), rule.question_id, rule.field))


def right_today(results: Iterable[VerificationResult], benchmark: Benchmark) -> set[str]:
    """Return the ids of failures that pass by the rules of today: re-verifying their run would say so.

    Args:
        results: Of a run; those that did not fail are passed over.
        benchmark: With the rules of today; questions it does not have are passed over.
    """
    return {result.result_id for result in results if _is_right_today(result, benchmark)}


def _is_right_today(result: VerificationResult, benchmark: Benchmark) -> bool:
    template = _failing_template(result, benchmark)
    try:
        return template is not None and _passes(template, result)
    except KareninaError:
        return False


def changes(item: FieldEvidence) -> Iterator[Change]:
    """Yield the changes of a field's rule with which its value would be right."""
    if item.rule is None or item.result is not False or item.extracted is None:
        return
    for change in _candidates(item.rule):
        try:
            rule = primitive_from_dict(change.rule)
            if _holds(rule, item):
                yield change
        except KareninaError:
            continue


def _holds(rule: Primitive, item: FieldEvidence) -> bool:
    if isinstance(rule, TracePrimitive):
        return False
    if isinstance(rule, SemanticMatch):
        return item.similarity is not None and rule.passes(item.similarity)
    return bool(rule.check(item.extracted, item.expected))


def _candidates(rule: Mapping[str, Any]) -> Iterator[Change]:
    chain = rule.get("normalize")
    if isinstance(chain, list):
        for name in NORMALIZERS:
            if name not in chain:
                yield Change(_words(name), {**rule, "normalize": [*chain, name]})
        maps = [place for place, part in enumerate(chain) if isinstance(part, dict)]
        for name in NORMALIZERS if maps else ():
            if name not in chain[: maps[0]]:
                earlier = [*chain[: maps[0]], name, *(part for part in chain[maps[0] :] if part != name)]
                label = f"{_words(name)} before the synonyms"
                yield Change(label, {**rule, "normalize": earlier})
    match rule.get("type"):
        case "NumericExact":
            tolerant = {"type": "NumericTolerance", "tolerance": RELATIVE, "mode": "relative"}
            yield Change(f"allow a difference of {RELATIVE:.0%}".replace("%", " %"), tolerant)
        case "NumericTolerance" if rule.get("tolerance"):
            wider = WIDER * float(rule["tolerance"])
            yield Change(f"widen the tolerance to {wider:g}", {**rule, "tolerance": wider})
        case "DateMatch":
            near = {"type": "DateTolerance", "tolerance": 1, "unit": "days", "dayfirst": rule.get("dayfirst", False)}
            yield Change("allow one day of difference", near)
        case "DateTolerance" if rule.get("tolerance"):
            days = WIDER * int(rule["tolerance"])
            yield Change(f"widen the tolerance to {days} {rule.get('unit', 'days')}", {**rule, "tolerance": days})
        case "SemanticMatch" if float(rule.get("threshold", 0)) > LOWER:
            lower = round(float(rule["threshold"]) - LOWER, 4)
            yield Change(f"lower the threshold to {lower:g}", {**rule, "threshold": lower})


def _words(name: str) -> str:
    return NORMALIZER_WORDS[name].title


def _failing_template(result: VerificationResult, benchmark: Benchmark) -> Template | None:
    """Return the template of today for a failure whose extraction is stored; None where there is nothing to try."""
    if result.verdict != "fail" or result.answer is None or result.template is None or not result.template.parsed:
        return None
    if result.question.id not in benchmark:
        return None
    source = benchmark.get_template(result.question.id)
    try:
        return read_template(source) if source else None
    except KareninaError:
        return None


def _changes_of(result: VerificationResult, template: Template) -> Iterator[tuple[str, Change]]:
    assert result.template is not None and result.answer is not None
    try:
        evaluation = template.evaluate(result.template.parsed or {}, result.answer.text)
    except KareninaError:
        return
    if evaluation.verdict:
        return
    similarities = {item.name: item.similarity for item in result.template.fields}
    for item in evaluation.fields:
        known = item.model_copy(update={"similarity": item.similarity or similarities.get(item.name)})
        if item.name in evaluation.pending and known.similarity is not None:
            known = known.model_copy(update={"result": False})
        for change in changes(known):
            yield item.name, change


def _rule(source: str, field: str, change: Change, failures: Sequence[VerificationResult]) -> GentlerRule | None:
    """Return the change with the failures that it makes pass as a whole; None where there are none."""
    spec = next(item for item in read_template(source).spec.fields if item.name == field)
    try:
        gentler = type(spec).model_validate({**spec.model_dump(), "verify_with": dict(change.rule)})
        changed = replace_field(source, field, gentler)
        template = read_template(changed)
        passing = tuple(result.result_id for result in failures if _passes(template, result))
    except (KareninaError, ValueError):
        return None
    if not passing:
        return None
    question = failures[0].question
    return GentlerRule(question.id, question.question, field, change.label, changed, passing, _lets_in(source, changed))


def _passes(template: Template, result: VerificationResult) -> bool:
    part = result.template
    assert part is not None and result.answer is not None
    evaluation = template.evaluate(part.parsed or {}, result.answer.text)
    if evaluation.pending:
        known = {item.name: item.similarity for item in part.fields if item.similarity is not None}
        rules = {item.name: item.rule for item in evaluation.fields}
        decided = {
            name: (known[name] >= float((rules[name] or {})["threshold"]), known[name])
            for name in evaluation.pending
            if name in known
        }
        evaluation = template.complete(evaluation, decided)
    return evaluation.verdict is True


def _lets_in(before: str, after: str) -> tuple[str, ...]:
    """Return the wrong variants of the truth that pass only with the change, as `label: value`."""
    gentler = read_template(after)
    try:
        wrong = [case for case in near_misses(before) if case.expected == "fail" and case.verdict == "fail"]
        passing = [case for case in wrong if gentler.verdict(case.values, case.response or "")]
    except KareninaError:
        return ()
    return tuple(f"{case.label}: {case.values.get(case.field)!r}" for case in passing)
