"""Other settings of a rule, replayed on stored answers: what flips, what helps, and what else gets in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.authoring import (
    Acceptance,
    StoredAnswer,
    acceptances,
    adjustable,
    near_misses,
    passing_now,
    relaxed_rules,
    settings_of,
    what_if,
)
from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from karenina_core.schemas import (
    AnswerPart,
    AnyOf,
    FieldCheck,
    QuestionSnapshot,
    TemplatePart,
    VerificationResult,
)
from karenina_core.templates import FieldSpec, TemplateSpec, read_template, write_template
from tests.authoring.linter.cases import LOWER, category, day, exact, items, number, similar, trace

RATIO = number(0.72, "float", type="NumericTolerance", tolerance=0.01, mode="absolute")
ANSWERS = [StoredAnswer({"amount": value}) for value in (0.72, 0.70, 0.77, 0.80, None)]


def spec(*fields: FieldSpec, **more: Any) -> TemplateSpec:
    return TemplateSpec(fields=list(fields), **more)


def test_a_wider_tolerance_lets_more_pass() -> None:
    curve = what_if(spec(RATIO), "amount", "tolerance", [0.0, 0.02, 0.05, 0.1], ANSWERS)
    assert curve.now == 1
    assert [point.passed for point in curve.points] == [1, 2, 3, 4]
    assert [point.gained for point in curve.points] == [0, 1, 2, 3]


def test_settings_need_no_order_and_impossible_ones_are_left_out() -> None:
    curve = what_if(spec(RATIO), "amount", "tolerance", [0.1, -1, 0.0], ANSWERS)
    assert [(point.setting, point.passed) for point in curve.points] == [(0.1, 4), (0.0, 1)]


def test_a_normaliser_switched_off() -> None:
    answers = [StoredAnswer({"gene": text}) for text in ("BCL2", "bcl2", " BCL2")]
    curve = what_if(spec(exact(*LOWER)), "gene", "normalize", [[], ["strip"], LOWER], answers)
    assert [(point.passed, point.lost) for point in curve.points] == [(1, 2), (2, 1), (3, 0)]


def test_the_other_fields_and_the_composition_count() -> None:
    answers = [StoredAnswer({"amount": 0.75, "gene": gene}) for gene in ("BCL2", "KRAS")]
    both = what_if(spec(RATIO, exact(*LOWER)), "amount", "tolerance", [0.01, 0.05], answers)
    assert [point.passed for point in both.points] == [0, 1]
    either = AnyOf(conditions=[FieldCheck(field_name="amount"), FieldCheck(field_name="gene")])
    one = what_if(spec(RATIO, exact(*LOWER), verify_strategy=either), "amount", "tolerance", [0.01, 0.05], answers)
    assert [point.passed for point in one.points] == [1, 2]


def test_the_length_of_a_response_also_where_it_shall_be_exceeded_not() -> None:
    answers = [StoredAnswer({}, "word " * n) for n in (5, 50, 500)]
    rule = {"type": "TraceLength", "max": 100, "unit": "words"}
    shall = what_if(spec(trace(True, **rule)), "cites", "max", [10, 100, 1000], answers)
    shall_not = what_if(spec(trace(False, **rule)), "cites", "max", [10, 100, 1000], answers)
    assert [point.passed for point in shall.points] == [1, 2, 3]
    assert [point.passed for point in shall_not.points] == [2, 1, 0]


def test_stored_similarities_answer_for_thresholds() -> None:
    answers = [StoredAnswer({"gene": "x"}, similarities={"gene": value}) for value in (0.5, 0.9)] + [StoredAnswer({})]
    curve = what_if(spec(similar()), "gene", "threshold", [0.4, 0.8, 0.95], answers)
    assert [point.passed for point in curve.points] == [2, 1, 0]


def test_only_built_in_rules_can_be_varied() -> None:
    with pytest.raises(InputError, match="no field 'other'"):
        what_if(spec(RATIO), "other", "tolerance", [1], ANSWERS)
    source = write_template(spec(RATIO)) + "    def verify(self):\n        return True\n"
    with pytest.raises(InputError, match="own code decides"):
        what_if(source, "amount", "tolerance", [1], ANSWERS)


FIELDS = [
    (RATIO, "tolerance", st.floats(0, 2)), (number(0, type="NumericRange", min=0), "min", st.floats(-9, 9)),
    (items(mode="overlap"), "min_overlap", st.integers(1, 4)),
    (day(type="DateTolerance", tolerance=3), "tolerance", st.integers(0, 40)),
]  # fmt: skip


@given(st.data())
def test_every_point_is_what_the_changed_template_says(data: st.DataObject) -> None:
    item, parameter, settings = data.draw(st.sampled_from(FIELDS))
    values: dict[str, st.SearchStrategy[Any]] = {
        "amount": st.none() | st.floats(-9, 9),
        "uses": st.lists(st.sampled_from(["CLL", "SLL", "AML"])),
        "approved": st.sampled_from(["2016-04-11", "April 20, 2016", "2016", "soon"]),
    }
    answers = [StoredAnswer({item.name: value}) for value in data.draw(st.lists(values[item.name], max_size=5))]
    tried = data.draw(st.lists(settings, max_size=4))
    for point in what_if(spec(item), item.name, parameter, tried, answers).points:
        changed = item.model_copy(update={"verify_with": {**(item.verify_with or {}), parameter: point.setting}})
        template = read_template(write_template(spec(changed)))
        assert point.passed == sum(template.evaluate(answer.values, "").verdict is True for answer in answers)


@pytest.mark.parametrize(
    ("item", "names"),
    [(RATIO, ["tolerance"]), (number(5, type="NumericRange", min=1), ["min", "max"]),
     (trace(True, type="TraceLength", max=50, unit="words"), ["min", "max"]), (similar(), ["threshold"]),
     (items(mode="overlap"), ["min_overlap"]), (items(mode="exact"), []), (exact(*LOWER), [])],
)  # fmt: skip
def test_numbers_that_have_an_effect_can_be_adjusted(item: FieldSpec, names: list[str]) -> None:
    assert [entry.name for entry in adjustable(item)] == names


def test_tolerances_reach_as_far_as_the_answers_do() -> None:
    stored = [StoredAnswer({"amount": value}) for value in (0.72, 0.92, 5000, None, "0.82")]
    found = settings_of(RATIO, "tolerance", stored)
    assert found[0] == 0 and 0.01 in found
    assert 0.2 <= found[-1] < 1
    assert found == sorted(set(found)) and len(found) <= 60


@pytest.mark.parametrize(
    ("item", "parameter"),
    [(RATIO, "tolerance"), (number(0, "float", type="NumericTolerance", tolerance=0.1, mode="relative"), "tolerance"),
     (number(7, type="NumericRange"), "min"),
     (number(10**300, type="NumericTolerance", tolerance=1, mode="absolute"), "tolerance"),
     (day(type="DateTolerance", tolerance=2, unit="hours"), "tolerance"), (similar(), "threshold"),
     (items(mode="overlap"), "min_overlap"), (trace(True, type="TraceRegex", pattern="x"), "count_min"),
     (trace(False, type="TraceLength"), "min")],
    ids=lambda value: value if isinstance(value, str) else str(value.verify_with["type"]),
)  # fmt: skip
@pytest.mark.parametrize("stored", [[], [StoredAnswer({"amount": 1e308, "approved": "May 2016"}, "x x")]])
def test_all_settings_are_possible(item: FieldSpec, parameter: str, stored: list[Any]) -> None:
    found = settings_of(item, parameter, stored)
    curve = what_if(TemplateSpec(fields=[item]), item.name, parameter, found, stored)
    assert found and [point.setting for point in curve.points] == found


def applied(template: TemplateSpec, change: Acceptance) -> TemplateSpec:
    return read_template(change.change.applied_to(write_template(template))).spec


def changes(item: FieldSpec) -> dict[str, list[str]]:
    """Return what each change accepts, by its label."""
    template = TemplateSpec(fields=[item])
    return {
        change.change.title: [case.label for case in change.accepts]
        for change in acceptances(template, near_misses(template))
    }


def test_a_synonym_accepts_what_no_normaliser_does() -> None:
    assert changes(exact(*LOWER))['Count "BCL2s" as "bcl2"'] == ["in the plural"]
    assert not [label for label in changes(exact(*LOWER)) if "The answer is" in label]


def test_a_synonym_joins_the_ones_there_are() -> None:
    template = TemplateSpec(fields=[exact(*LOWER, {"mapping": {"bcl-2": "bcl2"}})])
    [change] = [item for item in acceptances(template, near_misses(template)) if item.change.title.startswith("Count")]
    rule = applied(template, change).fields[0].verify_with
    assert rule is not None
    assert rule["normalize"] == [*LOWER, {"mapping": {"bcl-2": "bcl2", "bcl2s": "bcl2"}}]


def test_the_change_does_what_it_says() -> None:
    template = TemplateSpec(fields=[exact(*LOWER)])
    for change in acceptances(template, near_misses(template)):
        changed = applied(template, change)
        passing = {case.label for case in near_misses(changed) if case.verdict == "pass"}
        assert {case.label for case in change.accepts} <= passing


@pytest.mark.parametrize("item", [category(), number(), day(), number(0.72, "float")], ids=lambda item: item.type)
def test_changes_never_lose_what_passes(item: FieldSpec) -> None:
    template = TemplateSpec(fields=[item])
    cases = near_misses(template)
    before = {case.label for case in cases if case.verdict == "pass"}
    for change in acceptances(template, cases):
        after = {case.label for case in near_misses(applied(template, change)) if case.verdict == "pass"}
        assert before & {case.label for case in cases} <= after | {"as a text", "with decimals"}


SYNONYMS = {"mapping": {"bcl-2": "bcl2"}}


def benchmark(rule: dict[str, Any], truth: Any = "BCL2", kind: str = "str", more: bool = False) -> Benchmark:
    """One question, decided by one rule; with a second field that is always wrong, if asked for."""
    exact = {"type": "ExactMatch", "normalize": []}
    fields = [FieldSpec(name="target", type=kind, description="What is hit", ground_truth=truth, verify_with=rule)]
    if more:
        fields.append(FieldSpec(name="other", description="Something else", ground_truth="never", verify_with=exact))
    made = Benchmark.create("One")
    made.add_question("What does it hit?", "BCL2", write_template(TemplateSpec(fields=fields)), question_id="q")
    return made


def failure(made: Benchmark, value: Any, similarity: float | None = None, model: str = "A") -> VerificationResult:
    """Return the failure of an answer from which that value was extracted."""
    template = read_template(made.get_template("q"))
    evaluation = template.evaluate({"target": value, "other": "x"}, "An answer.")
    fields = list(evaluation.fields)
    if similarity is not None:
        fields[0] = fields[0].model_copy(update={"similarity": similarity})
    part = TemplatePart(template_id="t", style="declarative", parsed=dict(evaluation.values), fields=fields)
    return VerificationResult(
        question=QuestionSnapshot(id="q", question="What does it hit?", raw_answer="BCL2"),
        answering_model=model,
        parsing_model="J",
        status="completed",
        verdict="fail",
        answer=AnswerPart(text="An answer."),
        template=part,
    )


@pytest.mark.parametrize(
    ("rule", "kind", "truth", "value", "label"),
    [
        ({"type": "ExactMatch", "normalize": []}, "str", "BCL2", "bcl2", "ignore capitals"),
        ({"type": "ExactMatch", "normalize": []}, "str", "BCL2", "BCL-2",
         "drop punctuation"),
        ({"type": "ExactMatch", "normalize": [SYNONYMS]}, "str", "bcl2", "BCL-2",
         "ignore capitals before the synonyms"),
        ({"type": "SetContainment", "mode": "exact", "normalize": []}, "list_str", ["CLL"], ["cll"],
         "ignore capitals"),
        ({"type": "NumericExact"}, "float", 100.0, 100.5, "allow a difference of 1 %"),
        ({"type": "NumericTolerance", "tolerance": 1, "mode": "absolute"}, "float", 10.0, 11.5,
         "widen the tolerance to 2"),
        ({"type": "DateMatch"}, "date", "2016-04-11", "2016-04-12", "allow one day of difference"),
        ({"type": "DateTolerance", "tolerance": 2, "unit": "days"}, "date", "2016-04-11", "2016-04-14",
         "widen the tolerance to 4 days"),
    ],
)  # fmt: skip
def test_a_slightly_relaxed_rule_is_found(rule, kind, truth, value, label) -> None:
    made = benchmark(rule, truth, kind)
    missed = failure(made, value)
    assert missed.template.fields[0].result is False
    found = {item.label: item for item in relaxed_rules([missed], made)}
    assert label in found
    assert found[label].result_ids == (missed.result_id,)
    assert read_template(found[label].source).verdict({"target": value}, "An answer.") is True


def test_a_similarity_just_below_its_threshold_is_a_near_miss() -> None:
    made = benchmark({"type": "SemanticMatch", "threshold": 0.8})
    near = failure(made, "the BCL2 protein", similarity=0.77)
    (rule,) = relaxed_rules([near], made)
    assert rule.label == "lower the threshold to 0.75"
    assert relaxed_rules([failure(made, "the BCL2 protein", similarity=0.5)], made) == []


def test_a_plainly_wrong_value_has_no_relaxed_rule() -> None:
    made = benchmark({"type": "ExactMatch", "normalize": []})
    assert relaxed_rules([failure(made, "BRAF")], made) == []


def test_a_field_that_helps_the_verdict_nothing_is_left_out() -> None:
    made = benchmark({"type": "ExactMatch", "normalize": []}, more=True)
    assert relaxed_rules([failure(made, "bcl2")], made) == []


def test_failures_of_the_same_change_are_counted_together() -> None:
    made = benchmark({"type": "ExactMatch", "normalize": []})
    several = [failure(made, "bcl2"), failure(made, "Bcl2", model="B")]
    assert len(relaxed_rules(several, made)[0].result_ids) == 2


def test_what_a_change_also_lets_in_is_named() -> None:
    made = benchmark({"type": "NumericExact"}, 100, "int")
    (rule,) = relaxed_rules([failure(made, 101)], made)
    assert rule.lets_in
    assert all(":" in named for named in rule.lets_in)


def test_rules_of_today_that_pass_already_need_no_change() -> None:
    strict, tolerant = (
        benchmark({"type": "ExactMatch", "normalize": []}),
        benchmark({"type": "ExactMatch", "normalize": ["lowercase"]}),
    )
    missed = failure(strict, "bcl2")
    assert relaxed_rules([missed], tolerant) == []
    assert passing_now([missed], tolerant) == {missed.result_id}
    assert passing_now([missed], strict) == set()
