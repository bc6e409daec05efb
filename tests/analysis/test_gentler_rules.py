from __future__ import annotations

from typing import Any

import pytest

from karenina_core.analysis import changes
from karenina_core.analysis.gentler_rules import gentler_rules, right_today
from karenina_core.benchmark import Benchmark
from karenina_core.schemas import VerificationResult
from karenina_core.templates import FieldSpec, TemplateSpec, read_template, write_template

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


def failure(made: Benchmark, value: Any, result, similarity: float | None = None) -> VerificationResult:
    """Return the failure of an answer from which that value was extracted."""
    template = read_template(made.get_template("q"))
    evaluation = template.evaluate({"target": value, "other": "x"}, "An answer.")
    built = result(verdict="fail", fields=[*evaluation.fields])
    if similarity is not None:
        built.template.fields[0].similarity = similarity
    built.template.parsed = dict(evaluation.values)
    return built.model_copy(update={"question": built.question.model_copy(update={"id": "q"})})


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
def test_a_slightly_gentler_rule_is_found(rule, kind, truth, value, label, result) -> None:
    made = benchmark(rule, truth, kind)
    missed = failure(made, value, result)
    assert missed.template.fields[0].result is False
    found = {item.label: item for item in gentler_rules([missed], made)}
    assert label in found
    assert found[label].result_ids == (missed.result_id,)
    assert read_template(found[label].source).verdict({"target": value}, "An answer.") is True


def test_a_similarity_just_below_its_threshold_is_a_near_miss(result) -> None:
    made = benchmark({"type": "SemanticMatch", "threshold": 0.8})
    near = failure(made, "the BCL2 protein", result, similarity=0.77)
    (rule,) = gentler_rules([near], made)
    assert rule.label == "lower the threshold to 0.75"
    assert gentler_rules([failure(made, "the BCL2 protein", result, similarity=0.5)], made) == []


def test_a_plainly_wrong_value_has_no_gentler_rule(result) -> None:
    made = benchmark({"type": "ExactMatch", "normalize": []})
    assert gentler_rules([failure(made, "BRAF", result)], made) == []


def test_a_field_that_helps_the_verdict_nothing_is_left_out(result) -> None:
    made = benchmark({"type": "ExactMatch", "normalize": []}, more=True)
    assert gentler_rules([failure(made, "bcl2", result)], made) == []


def test_failures_of_the_same_change_are_counted_together(result) -> None:
    made = benchmark({"type": "ExactMatch", "normalize": []})
    several = [failure(made, "bcl2", result), failure(made, "Bcl2", result)]
    several[1] = several[1].model_copy(update={"answering_model": "Sample B"})
    assert len(gentler_rules(several, made)[0].result_ids) == 2


def test_what_a_change_also_lets_in_is_named(result) -> None:
    made = benchmark({"type": "NumericExact"}, 100, "int")
    (rule,) = gentler_rules([failure(made, 101, result)], made)
    assert rule.lets_in
    assert all(":" in named for named in rule.lets_in)


def test_rules_of_today_that_pass_already_need_no_change(result) -> None:
    strict, gentle = (
        benchmark({"type": "ExactMatch", "normalize": []}),
        benchmark({"type": "ExactMatch", "normalize": ["lowercase"]}),
    )
    missed = failure(strict, "bcl2", result)
    assert gentler_rules([missed], gentle) == []
    assert right_today([missed], gentle) == {missed.result_id}
    assert right_today([missed], strict) == set()


def test_questions_that_are_gone_are_passed_over(result) -> None:
    made = benchmark({"type": "ExactMatch", "normalize": []})
    assert gentler_rules([failure(made, "bcl2", result)], Benchmark.create("Empty")) == []


def test_nothing_extracted_has_no_change(field) -> None:
    assert list(changes(field(passed=None))) == []
