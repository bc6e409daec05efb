from __future__ import annotations

import pytest

from karenina_core.analysis.triage import suggest
from karenina_core.schemas.results import AnswerPart, Failure

ANSWER = AnswerPart(text="It inhibits BRAF, the kinase.")


def failing(make, field, answer=ANSWER, **parts):
    item = field(passed=False, **parts)
    made = make(verdict="fail", fields=[item], answer=answer)
    made.template.parsed = {item.name: item.extracted}
    return made


def test_a_pass_needs_no_cause(result) -> None:
    assert suggest(result()) is None


def test_a_value_that_is_there_and_wrong_is_the_answers_fault(result, field) -> None:
    assert suggest(failing(result, field)).cause == "answer_wrong"


def test_a_value_that_stands_nowhere_is_the_judges(result, field) -> None:
    found = suggest(failing(result, field, extracted="EGFR"))
    assert (found.cause, found.why) == ("judge_misread", "target: the extracted value stands nowhere in the answer.")


def test_a_truth_that_stands_there_and_was_not_extracted_is_the_judges(result, field) -> None:
    answer = AnswerPart(text="It inhibits BCL-2.")
    found = suggest(failing(result, field, answer=answer, expected="bcl 2", extracted=None, result=None))
    assert found.cause == "judge_misread"
    assert "not extracted" in found.why


def test_a_near_miss_is_the_rules(result, field) -> None:
    found = suggest(failing(result, field, extracted="EGFR"), "add the normaliser lowercase")
    assert (found.cause, found.why) == ("rule_too_strict", "It would pass if one were to add the normaliser lowercase.")


def test_a_failure_that_passes_by_the_rules_of_today_was_the_rules(result, field) -> None:
    found = suggest(failing(result, field, extracted="EGFR"), right_today=True)
    assert found.cause == "rule_too_strict"
    assert "passes by the rules of today" in found.why


@pytest.mark.parametrize(
    ("category", "cause"),
    [
        ("abstention", "abstained"),
        ("sufficiency", "abstained"),
        ("refused", "abstained"),
        ("parsing", "unparseable"),
        ("timeout", "technical"),
        ("rate_limit", "technical"),
        ("template_execution", "technical"),
    ],
)
def test_a_failure_names_its_own_cause(result, category: str, cause: str) -> None:
    failure = Failure(category=category, stage="stage", reason="Because.")
    found = suggest(result(verdict="not_evaluated", failure=failure))
    assert (found.cause, found.why) == (cause, "Because.")


def test_a_yes_or_no_is_no_evidence_of_misreading(result, field) -> None:
    assert suggest(failing(result, field, expected=True, extracted=False)).cause == "answer_wrong"


def test_code_of_the_template_without_fields_still_gives_a_cause(result) -> None:
    assert suggest(result(verdict="fail", fields=[])).cause == "answer_wrong"
