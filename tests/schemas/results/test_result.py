from __future__ import annotations

import json

import pytest

from karenina_core.schemas import (
    AnswerPart,
    QuestionSnapshot,
    RowKey,
    RubricPart,
    TemplatePart,
    Verdict,
    VerificationResult,
    result_id,
)


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
