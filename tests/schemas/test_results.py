"""What one evaluation leaves behind."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from pydantic import ValidationError

from karenina_core.errors import InputError
from karenina_core.schemas import (
    AnswerPart,
    Failure,
    FailureCategory,
    FieldEvidence,
    GuardPart,
    QuestionSnapshot,
    RowKey,
    RubricPart,
    TemplatePart,
    Usage,
    Verdict,
    VerificationResult,
    VerificationResultSet,
    built,
    result_id,
    total_usage,
)


@pytest.mark.parametrize(
    ("category", "group"),
    [
        ("recursion_limit", "autofail"),
        ("abstention", "abstained"),
        ("no_template", "template"),
        ("parsing", "judge"),
        ("timeout", "provider"),
        ("unexpected", "provider"),
    ],
)
def test_a_failure_belongs_to_a_class(category: FailureCategory, group: str) -> None:
    assert Failure(category=category, stage="stage", reason="Because.").group == group


def test_every_category_has_a_class_of_its_own_or_is_the_providers() -> None:
    groups = {Failure(category=name, stage="s", reason="r").group for name in get_args(FailureCategory)}
    assert groups == {"autofail", "abstained", "template", "judge", "provider"}


def test_what_is_built_unchecked_equals_what_is_checked() -> None:
    checked = GuardPart(performed=True, detected=False, reasoning="It answers.", call=None)
    unchecked = built(GuardPart, performed=True, detected=False, reasoning="It answers.", call=None)
    assert unchecked == checked
    assert unchecked.model_dump_json() == checked.model_dump_json()


def test_what_was_built_can_be_copied_with_changes() -> None:
    usage = built(Usage, input_tokens=1, output_tokens=2, cost=None, calls=1, cached_calls=0)
    assert usage.model_copy(update={"calls": 2}) == Usage(input_tokens=1, output_tokens=2, calls=2)
    assert usage.calls == 1


def test_a_part_has_no_keys_it_does_not_know() -> None:
    with pytest.raises(ValidationError):
        Usage.model_validate({"calls": 1, "dollars": 3})


def evaluation(verdict: Verdict = "pass", **parts: object) -> VerificationResult:
    question = QuestionSnapshot(id="q1", question="What does it hit?", raw_answer="BCL2")
    given = {"answering_model": "a", "parsing_model": "j", "status": "completed", "verdict": verdict}
    return VerificationResult.model_validate({"question": question} | given | parts)


def test_a_row_keeps_its_name_in_links() -> None:
    assert evaluation(replicate=2).key == RowKey("q1", "a", "j", 2)
    assert evaluation(replicate=2).result_id == result_id(RowKey("q1", "a", "j", 2)) == "3ec1199aaadfe033"


def test_rows_that_differ_in_one_part_of_their_key_have_names_of_their_own() -> None:
    keys = [RowKey("q1", "a", "j", 1), RowKey("q2", "a", "j", 1), RowKey("q1", "b", "j", 1), RowKey("q1", "a", "k", 1)]
    assert len({result_id(key) for key in keys}) == 4


@pytest.mark.parametrize(("verdict", "right"), [("pass", True), ("fail", False), ("not_evaluated", None)])
def test_without_a_verdict_nothing_is_right_or_wrong(verdict: Verdict, right: bool | None) -> None:
    assert evaluation(verdict).verify_result is right


def test_values_of_the_parts_are_at_hand() -> None:
    rubric = RubricPart(performed=True, scores={"s": 3}, regex={"r": True}, metrics={"m": {"precision": 0.5}})
    template = TemplatePart(template_id="t", style="declarative", verify_granular_result=0.5)
    made = evaluation(answer=AnswerPart(text="It hits BCL2."), rubric=rubric, template=template)
    assert (made.question_id, made.raw_llm_response, made.verify_granular_result) == ("q1", "It hits BCL2.", 0.5)
    assert made.rubric_scores == {"s": 3}
    assert made.manual_rubric_results == {"r": True}
    assert made.metric_rubric_results == {"m": {"precision": 0.5}}


def test_where_there_is_no_part_there_is_no_value() -> None:
    made = evaluation("not_evaluated")
    assert (made.raw_llm_response, made.verify_granular_result, made.rubric_scores) == (None, None, {})


def test_a_stored_result_has_its_parts_in_this_order() -> None:
    stored = json.loads(evaluation().model_dump_json())
    assert " ".join(stored) == (
        "question answering_model parsing_model replicate status verdict failure answer partial_answer template "
        "similarity rubric abstention sufficiency stages warnings usage seconds timestamp run_name"
    )
    assert VerificationResult.model_validate(stored).model_dump_json() == json.dumps(stored, separators=(",", ":"))


def row(name: str, verdict: str) -> VerificationResult:
    question = QuestionSnapshot(id=name, question=f"{name}?", raw_answer="x")
    parts = {"answering_model": "a", "parsing_model": "j", "status": "completed", "verdict": verdict}
    return VerificationResult.model_validate({"question": question} | parts)


@pytest.fixture
def results() -> VerificationResultSet:
    given = [row("q1", "pass"), row("q2", "fail"), row("q3", "pass")]
    return VerificationResultSet(given, "run1", "One question was left out.")


def test_the_results_of_a_run_are_a_sequence(results: VerificationResultSet) -> None:
    assert len(results) == 3
    assert results[1].question_id == "q2"
    assert [result.question_id for result in results] == ["q1", "q2", "q3"]


def test_what_is_shown_of_them_counts_the_verdicts_and_says_what_was_left_out(results: VerificationResultSet) -> None:
    assert results.counts() == {"pass": 2, "fail": 1, "not_evaluated": 0}
    assert repr(results) == "<3 results: 2 pass, 1 fail, 0 not_evaluated> One question was left out."


def test_results_can_be_chosen_by_what_they_have(results: VerificationResultSet) -> None:
    passed = results.filter(verdict="pass", question_id="q3")
    assert [result.question_id for result in passed] == ["q3"]
    assert passed.run_id == "run1"


def test_results_become_a_table(results: VerificationResultSet) -> None:
    assert list(results.to_dataframe()["verdict"]) == ["pass", "fail", "pass"]
    with pytest.raises(InputError):
        results.to_dataframe("guesses")


def test_only_fields_with_a_rule_have_results() -> None:
    rule = {"type": "BooleanMatch"}
    fields = [
        FieldEvidence(name="right", result=True, rule=rule),
        FieldEvidence(name="missing", rule=rule),
        FieldEvidence(name="own", result=True),
    ]
    part = TemplatePart(template_id="t", style="declarative", fields=fields)
    assert part.field_results == {"right": True, "missing": None}


def test_calls_add_up() -> None:
    first = Usage(input_tokens=10, output_tokens=2, cost=0.5, calls=1)
    second = Usage(input_tokens=5, output_tokens=1, cost=0.25, calls=1, cached_calls=1)
    both = Usage(input_tokens=15, output_tokens=3, cost=0.75, calls=2, cached_calls=1)
    assert first + second == total_usage([first, second]) == both


def test_what_some_calls_do_not_say_is_not_counted() -> None:
    assert total_usage([Usage(input_tokens=10, calls=1), Usage(cost=0.5, calls=1)]) == Usage(
        input_tokens=10, cost=0.5, calls=2
    )


def test_what_no_call_says_is_not_known_rather_than_nothing() -> None:
    assert total_usage([Usage(calls=1), Usage(calls=1)]).cost is None


def test_nothing_at_all_took_nothing() -> None:
    assert total_usage([]) == Usage()
