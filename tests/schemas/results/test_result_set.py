from __future__ import annotations

import pytest

from karenina_core.errors import InputError
from karenina_core.schemas import QuestionSnapshot, VerificationResult, VerificationResultSet


def evaluation(name: str, verdict: str) -> VerificationResult:
    question = QuestionSnapshot(id=name, question=f"{name}?", raw_answer="x")
    parts = {"answering_model": "a", "parsing_model": "j", "status": "completed", "verdict": verdict}
    return VerificationResult.model_validate({"question": question} | parts)


@pytest.fixture
def results() -> VerificationResultSet:
    given = [evaluation("q1", "pass"), evaluation("q2", "fail"), evaluation("q3", "pass")]
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
