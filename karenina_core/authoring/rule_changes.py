"""What another rule would change: alternatives of a rule, replayed on stored values, and the answers that flip."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from karenina_core.authoring.explanations import StoredAnswer, Subject, explain, template_of
from karenina_core.authoring.field_types import Parameter, parameters_of
from karenina_core.authoring.self_test import Case, near_misses
from karenina_core.authoring.source_edits import replace_field
from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, KareninaError
from karenina_core.schemas import (
    NORMALIZER_WORDS,
    NORMALIZERS,
    AllOf,
    FieldCheck,
    FieldEvidence,
    VerificationResult,
    normalize,
    quoted,
    read_number,
)
from karenina_core.schemas.primitives import (
    DateTolerance,
    ExactMatch,
    NumericRange,
    NumericTolerance,
    Primitive,
    SemanticMatch,
    SetContainment,
    SynonymMap,
    TraceLength,
    TracePrimitive,
    TraceRegex,
)
from karenina_core.templates import FieldSpec, Template, TemplateSpec, read_template

RELATIVE = 0.01  # the tolerance an exact number is tried with
WIDER = 2  # times the tolerance there is
LOWER = 0.05  # of a similarity threshold
_SETTINGS = 40  # settings on a slider
_OUTLIER = 10  # times the size of the truth; a distance beyond that is no setting worth trying


class RuleChange(NamedTuple):
    """Another setting of a rule.

    Attributes:
        label: What is changed, in words that follow "to".
        item: The field with it.
    """

    label: str
    item: FieldSpec

    @property
    def title(self) -> str:
        """What is changed, for a button."""
        return self.label[:1].upper() + self.label[1:]

    def applied_to(self, source: str) -> str:
        """Return a template's text with the change.

        Raises:
            TemplateError: The source cannot be read.
            InputError: It has no such field, or cannot hold the change.
        """
        return replace_field(source, self.item.name, self.item)


def field_passes(item: FieldSpec, answers: Iterable[StoredAnswer]) -> list[bool]:
    """Return for each stored answer whether a field with a built-in rule is right, much faster than a template does."""
    rule = item.primitive
    return [_passes(rule, item, answer) for answer in answers]


def _passes(rule: Primitive | None, item: FieldSpec, answer: StoredAnswer) -> bool:
    value = answer.values.get(item.name)
    try:
        if isinstance(rule, TracePrimitive):
            return rule.check_trace(answer.response) == bool(item.ground_truth)
        if isinstance(rule, SemanticMatch):
            return item.name in answer.similarities and rule.passes(answer.similarities[item.name])
        return rule is not None and value is not None and bool(rule.check(value, item.ground_truth))
    except KareninaError:  # a search took too long
        return False


class _Replay:
    """Decides stored answers with another rule of one field; the results of the other fields are looked up."""

    def __init__(self, spec: TemplateSpec, answers: Sequence[StoredAnswer]) -> None:
        every = AllOf(conditions=[FieldCheck(field_name=item.name) for item in spec.verified])
        self._strategy, self._answers = spec.verify_strategy or every, answers
        self._columns = {item.name: field_passes(item, answers) for item in spec.verified}
        self.now = self._verdicts(self._columns)

    def after(self, item: FieldSpec) -> list[bool]:
        """Return the verdicts with a changed field."""
        return self._verdicts(self._columns | {item.name: field_passes(item, self._answers)})

    def _verdicts(self, columns: Mapping[str, list[bool]]) -> list[bool]:
        rows = zip(*columns.values(), strict=True)
        return [self._strategy.passes(dict(zip(columns, row, strict=True))) for row in rows]


# --- Settings of one parameter ---------------------------------------------------------------------------------------


class Point(NamedTuple):
    """One setting.

    Attributes:
        setting: The value of the parameter.
        passed: How many answers pass.
        gained: How many pass that do not pass now.
        lost: How many pass now and would not.
    """

    setting: Any
    passed: int
    gained: int = 0
    lost: int = 0


@dataclass(frozen=True)
class Curve:
    """Pass counts over the settings of one parameter.

    Attributes:
        field: The field.
        parameter: The parameter of its rule.
        total: Number of answers.
        now: How many pass with the template as it is.
        points: One per setting that is possible, in the given order.
    """

    field: str
    parameter: str
    total: int
    now: int
    points: tuple[Point, ...]


def what_if(
    template: Subject, field_name: str, parameter: str, settings: Sequence[Any], stored: Sequence[StoredAnswer]
) -> Curve:
    """Return how many stored answers would pass with each setting. No model is asked.

    Args:
        template: The template as it is.
        field_name: A field with a built-in rule.
        parameter: A parameter of that rule, such as `tolerance` or `normalize`.
        settings: Values of the parameter.
        stored: Answers with what was extracted from them.

    Raises:
        TemplateError: The template cannot be read.
        InputError: The field has no built-in rule, or the template's own code decides.
    """
    spec = template_of(template).spec
    item = next((item for item in spec.fields if item.name == field_name), None)
    if item is None or item.primitive is None:
        raise InputError(f"The template has no field {field_name!r} with a built-in rule.")
    if spec.own_code:
        raise InputError(
            "The template's own code decides.", "Its verdict cannot be predicted here.", "Verify the answers again."
        )
    replay, points = _Replay(spec, stored), []
    before = replay.now
    for setting in settings:
        try:
            after = replay.after(_changed(item, {parameter: setting}))
        except ValueError:
            continue
        gained = sum(new > old for new, old in zip(after, before, strict=True))
        points.append(Point(setting, sum(after), gained, gained - sum(after) + sum(before)))
    return Curve(field_name, parameter, len(stored), sum(before), tuple(points))


def adjustable(item: FieldSpec) -> tuple[Parameter, ...]:
    """Return the parameters of a field's rule that are numbers and have an effect as the rule is set."""
    rule = item.primitive
    if rule is None or (isinstance(rule, SetContainment) and rule.mode != "overlap"):
        return ()
    return tuple(entry for entry in parameters_of(type(rule)) if entry.kind in ("int", "float"))


def settings_of(item: FieldSpec, parameter: str, stored: Sequence[StoredAnswer]) -> list[int | float]:
    """Return settings of a numeric parameter in rising order, the present one among them.

    They reach as far as the stored answers differ.

    Args:
        item: A field with a built-in rule.
        parameter: The name of one of its `adjustable` parameters.
        stored: Answers with what was extracted from them.
    """
    rule = item.primitive
    assert rule is not None
    entry = next(entry for entry in parameters_of(type(rule)) if entry.name == parameter)
    present = [] if (now := getattr(rule, parameter)) is None else [now]
    reach = [*present, *(1.1 * value for value in [*present, *_reach(item, rule, stored)])]
    low = min(reach) if entry.least is None else max(min(reach), entry.least)
    high = max(reach) if entry.most is None else min(max(reach), entry.most)
    if entry.kind == "int":
        return sorted({*range(math.ceil(low), math.ceil(high) + 1, math.ceil((high - low) / _SETTINGS) or 1), *present})
    steps = (low + (high - low) * at / _SETTINGS for at in range(_SETTINGS + 1))
    return sorted({*(float(f"{value:.3g}") for value in steps), *present})


def _reach(item: FieldSpec, rule: Primitive, stored: Sequence[StoredAnswer]) -> list[float]:
    """Return settings worth a look: the usual ones, and those at which the stored answers differ."""
    numbers = [number for answer in stored if (number := _float(answer.values.get(item.name))) is not None]
    match rule:
        case NumericTolerance():
            wanted = _float(item.ground_truth) or 0.0
            size = abs(wanted) or 1.0
            shares = [0.1, *(abs(number - wanted) / size for number in numbers)]
            return [0, *(share * (1.0 if rule.mode == "relative" else size) for share in shares if share <= _OUTLIER)]
        case NumericRange():
            return numbers or [0, 1]
        case TraceLength():
            return [0, 100, *(len(text.response.split() if rule.unit == "words" else text.response) for text in stored)]
        case DateTolerance():
            return [0, 60]
        case SetContainment() | TraceRegex():
            return [1, len(item.ground_truth) if isinstance(item.ground_truth, list) else 10]
    return [0, 1]


def _float(value: Any) -> float | None:
    read = read_number(value)
    return float(read) if read is not None and abs(read) < 1e300 else None


# --- Alternatives of a rule ------------------------------------------------------------------------------------------


def alternatives(item: FieldSpec, values: Sequence[Any] = ()) -> Iterator[RuleChange]:
    """Yield changes of a field's rule that let a little more pass.

    Args:
        item: A field; one without a built-in rule has none.
        values: Values that shall pass: synonyms are proposed for them.
    """
    rule = item.verify_with or {}
    if item.primitive is None:
        return
    for label, changes in (*_small_steps(rule), *_synonyms(item, values)):
        try:
            yield RuleChange(label, _changed(item, changes))
        except ValueError:
            continue


def _changed(item: FieldSpec, changes: Mapping[str, Any]) -> FieldSpec:
    """Return a field with other parameters of its rule, or with another rule where the changes name a type."""
    rule = dict(changes) if "type" in changes else {**(item.verify_with or {}), **changes}
    return FieldSpec.model_validate({**item.model_dump(), "verify_with": rule})


def _small_steps(rule: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    chain = rule.get("normalize") or []
    maps = [place for place, part in enumerate(chain) if isinstance(part, dict)]
    for name in NORMALIZERS if isinstance(rule.get("normalize"), list) else ():
        words = NORMALIZER_WORDS[name].title
        if name not in chain:
            yield words, {"normalize": [*chain, name]}
        if maps and name not in chain[: maps[0]]:
            rest = [part for part in chain[maps[0] :] if part != name]
            yield f"{words} before the synonyms", {"normalize": [*chain[: maps[0]], name, *rest]}
    match rule.get("type"):
        case "SetContainment" if rule.get("mode") == "exact":
            yield "allow items beyond the expected ones", {"mode": "superset"}
            yield "accept a part of the expected items", {"mode": "subset"}
        case "OrderedMatch":
            yield "compare without the order", {"type": "SetContainment", "mode": "exact", "normalize": chain}
        case "NumericExact":
            yield "allow a difference of 1 %", {"type": "NumericTolerance", "tolerance": RELATIVE, "mode": "relative"}
        case "NumericTolerance" | "DateTolerance" if rule.get("tolerance"):
            wider = WIDER * rule["tolerance"]
            yield f"widen the tolerance to {wider:g} {rule.get('unit', '')}".rstrip(), {"tolerance": wider}
        case "DateMatch":
            near = {"type": "DateTolerance", "tolerance": 1, "unit": "days", "dayfirst": rule.get("dayfirst", False)}
            yield "allow one day of difference", near
        case "SemanticMatch" if float(rule.get("threshold", 0)) > LOWER:
            lower = round(float(rule["threshold"]) - LOWER, 4)
            yield f"lower the threshold to {lower:g}", {"threshold": lower}


def _synonyms(item: FieldSpec, values: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    rule, truth = item.primitive, item.ground_truth
    if not isinstance(rule, ExactMatch) or not isinstance(truth, str):
        return
    texts = [entry for entry in rule.normalize if isinstance(entry, str)]
    known = next((entry.mapping for entry in reversed(rule.normalize) if isinstance(entry, SynonymMap)), {})
    others = [entry for entry in rule.to_dict()["normalize"] if entry != {"mapping": known}]
    meaning = normalize(truth, texts)
    for value in values:
        spelling = normalize(value, texts) if isinstance(value, str) else ""
        if spelling and len(value.split()) <= len(truth.split()):  # a sentence around the truth is no synonym of it
            mapping = {"mapping": {**known, spelling: meaning}}
            yield f"count {quoted(value)} as {quoted(meaning)}", {"normalize": [*others, mapping]}


# --- Changes that help -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Acceptance:
    """A change of one rule that accepts variants of the self-test.

    Attributes:
        change: The change.
        accepts: Variants that fail and would pass.
        opens: Among variants that should fail, those that would pass too.
    """

    change: RuleChange
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
    accepted: list[Acceptance] = []
    for item in template_of(template).spec.fields:
        own = [case for case in cases if case.field == item.name]
        passing = [_answer(case) for case in own if case.verdict == "pass"]
        missed = [case.values[item.name] for case in own if case.verdict == "fail" and case.expected != "fail"]
        useful = []
        for change in alternatives(item, [] if item.is_trace else missed):
            gained = _gained(change.item, own)
            right = tuple(case for case in gained if case.expected != "fail")
            wrong = tuple(case for case in gained if case.expected == "fail")
            if right and len(wrong) <= len(right) and all(field_passes(change.item, passing)):
                useful.append(Acceptance(change, right, wrong))
        labels: set[str] = set()
        for acceptance in sorted(useful, key=lambda change: (len(change.opens), -len(change.accepts))):
            if not labels.issuperset(more := {case.label for case in acceptance.accepts}):
                labels |= more
                accepted.append(acceptance)
    return accepted


def _gained(item: FieldSpec, cases: Sequence[Case]) -> list[Case]:
    """Return the variants that fail now and pass with a changed field."""
    failing = [case for case in cases if case.field == item.name and case.verdict == "fail"]
    return [case for case, passes in zip(failing, field_passes(item, map(_answer, failing)), strict=True) if passes]


@dataclass(frozen=True)
class RelaxedRule:
    """One change of one field's rule, and the failures that it would make pass.

    Attributes:
        question_id: The question.
        question: Its text.
        field: The field.
        label: What is changed, in words.
        source: The template with the change.
        result_ids: The failures that would pass.
        lets_in: Wrong variants of the truth that pass with the change and fail without it, as `label: value`.
    """

    question_id: str
    question: str
    field: str
    label: str
    source: str
    result_ids: tuple[str, ...]
    lets_in: tuple[str, ...]


def relaxed_rules(results: Iterable[VerificationResult], benchmark: Benchmark) -> list[RelaxedRule]:
    """Return changes of single rules that would make failures pass, the most helpful first.

    A template whose own code decides has none.

    Args:
        results: Of a run; those that did not fail are passed over.
        benchmark: With the rules of today; questions it does not have are passed over.
    """
    relaxed: list[RelaxedRule] = []
    for question_id, failures, template in _failures(results, benchmark):
        spec, question = template.spec, failures[0].question.question
        answers = [_stored(result) for result in failures]
        replay = _Replay(spec, answers)
        for item in spec.verified if not spec.own_code else ():
            for change in alternatives(item):
                flips = zip(failures, replay.after(change.item), replay.now, strict=True)
                ids = tuple(result.result_id for result, new, old in flips if new and not old)
                if not ids:
                    continue
                try:
                    source = change.applied_to(template.source)
                    opened = [case for case in _gained(change.item, near_misses(template)) if case.expected == "fail"]
                except KareninaError:
                    continue
                lets_in = tuple(f"{case.label}: {case.values.get(item.name)!r}" for case in opened)
                relaxed.append(RelaxedRule(question_id, question, item.name, change.label, source, ids, lets_in))
    return sorted(relaxed, key=lambda rule: (-len(rule.result_ids), len(rule.lets_in), rule.question_id, rule.field))


def passing_now(results: Iterable[VerificationResult], benchmark: Benchmark) -> set[str]:
    """Return the ids of failures that pass by the rules of today: re-verifying their run would say so.

    Args:
        results: Of a run; those that did not fail are passed over.
        benchmark: With the rules of today; questions it does not have are passed over.
    """
    passing = set()
    for _, failures, template in _failures(results, benchmark):
        for result in failures:
            try:
                if explain(template, _stored(result)).verdict:
                    passing.add(result.result_id)
            except KareninaError:  # what cannot be decided does not pass
                continue
    return passing


def relaxations(item: FieldEvidence) -> Iterator[RuleChange]:
    """Yield the changes of a field's rule with which its stored value would be right."""
    if item.rule is None or item.result is not False or item.extracted is None or item.is_trace:
        return
    try:
        spec = FieldSpec(name=item.name, description="?", ground_truth=item.expected, verify_with=item.rule)
    except ValueError:  # a rule of the template's own
        return
    similarities = {} if item.similarity is None else {item.name: item.similarity}
    answer = StoredAnswer({item.name: item.extracted}, similarities=similarities)
    yield from (change for change in alternatives(spec) if field_passes(change.item, [answer]) == [True])


def _failures(
    results: Iterable[VerificationResult], benchmark: Benchmark
) -> Iterator[tuple[str, list[VerificationResult], Template]]:
    """Yield the failures whose extraction is stored by question, with the template of today."""
    by_question = attrgetter("question.id")
    failed = [
        result
        for result in results
        if result.verdict == "fail" and result.answer and result.template and result.template.parsed
    ]
    for question_id, group in groupby(sorted(failed, key=by_question), by_question):
        try:
            template = read_template((benchmark.get_template(question_id) if question_id in benchmark else "") or "")
        except KareninaError:
            continue
        yield question_id, list(group), template


def _stored(result: VerificationResult) -> StoredAnswer:
    assert result.template is not None and result.answer is not None
    known = {item.name: item.similarity for item in result.template.fields if item.similarity is not None}
    return StoredAnswer(result.template.parsed or {}, result.answer.text, known)


def _answer(case: Case) -> StoredAnswer:
    return StoredAnswer(case.values, case.response or "")
