from __future__ import annotations

from typing import get_args

import pytest

from karenina_core.analysis.triage import blame, disputes, suggest
from karenina_core.schemas.annotation import Annotation
from karenina_core.schemas.results import AnswerPart, Failure, FailureCategory

ANSWER = AnswerPart(text="It inhibits BRAF, the kinase.")


def failing(make, field, answer=ANSWER, **parts):
    item = field(passed=False, **parts)
    made = make(verdict="fail", fields=[item], answer=answer)
    made.template.parsed = {item.name: item.extracted}
    return made


def review(author: str, cause: str | None = None, minute: int = 0, **parts) -> Annotation:
    given = {"run_id": "r1", "result_id": "x", "agrees": False, "at": f"2026-03-01T12:{minute:02}:00Z"}
    return Annotation(**given | parts, author=author, cause=cause)


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


def test_an_undecided_field_blames_nobody(result, field) -> None:
    undecided = field("drug", extracted="gold", result=None, rule={"type": "SemanticMatch", "threshold": 0.85})
    made = result(verdict="fail", fields=[undecided, field(passed=False)], answer=ANSWER)
    made.template.parsed = {"drug": "gold", "target": "BRAF"}
    found = suggest(made)
    assert (found.cause, found.why) == ("answer_wrong", "target: the answer says something else than the truth.")


def test_a_field_that_is_right_blames_nobody(result, field) -> None:
    made = result(verdict="fail", fields=[field("drug", extracted="gold"), field(passed=False)], answer=ANSWER)
    made.template.parsed = {"drug": "gold", "target": "BRAF"}
    assert suggest(made).cause == "answer_wrong"


@pytest.mark.parametrize("extracted", [None, "cancer", "infectious"])
def test_a_class_that_is_named_elsewhere_is_no_evidence(result, field, extracted: str | None) -> None:
    classes = {"mapping": {"pleurisy": "Inflammatory", "flu": "infectious"}}
    rule = {"type": "ExactMatch", "normalize": ["lowercase", classes]}
    answer = AnswerPart(text="No inflammatory disease; it is a cancer.")
    made = failing(
        result,
        field,
        answer=answer,
        expected="inflammatory",
        extracted=extracted,
        rule=rule,
        result=extracted and False,
    )
    assert suggest(made).cause == "answer_wrong"


def test_a_choice_that_is_named_elsewhere_is_no_evidence(result, field) -> None:
    rule = {"type": "LiteralMatch"}
    made = failing(result, field, expected="kinase", extracted=None, result=None, rule=rule)
    assert suggest(made).cause == "answer_wrong"


def test_where_nothing_was_extracted_nothing_was_found(result, field) -> None:
    nothing = failing(result, field, extracted=None, result=None)
    assert suggest(nothing).why == "target: nothing was found in the answer."
    fields = [field("drug", False, extracted="BRAF"), field(passed=None)]
    both = result(verdict="fail", fields=fields, answer=ANSWER)
    both.template.parsed = {"drug": "BRAF", "target": None}
    assert suggest(both).why == (
        "drug: the answer says something else than the truth. target: nothing was found in the answer."
    )


def test_of_code_of_the_template_only_a_missing_value_counts(result, field) -> None:
    own = [field("drug", extracted="gold", result=None, rule=None), field("dose", None, rule=None)]
    made = result(verdict="fail", fields=own, answer=ANSWER)
    made.template.parsed = {"drug": "gold", "dose": None}
    assert suggest(made).why == "dose: nothing was found in the answer."


def test_a_field_without_a_rule_says_nothing_beside_one_with_a_rule(result, field) -> None:
    made = result(verdict="fail", fields=[field("note", None, rule=None), field(passed=False)], answer=ANSWER)
    made.template.parsed = {"note": None, "target": "BRAF"}
    assert suggest(made).why == "target: the answer says something else than the truth."


def test_two_people_who_name_different_causes_disagree() -> None:
    ann, bob = review("Ann", "answer_wrong", 1, agrees=True), review("Bob", "judge_misread", 2)
    assert disputes([bob, ann]) == {"x": (ann, bob)}


def test_one_person_may_change_the_mind() -> None:
    first, second = review("Ann", "answer_wrong", 1, agrees=True), review("Ann", "judge_misread", 2)
    assert disputes([first, second]) == {}
    assert disputes([first, second, review("Bob", "judge_misread", 3)]) == {}


def test_a_cause_that_only_one_names_is_no_dispute() -> None:
    assert disputes([review("Ann", "judge_misread", 1), review("Bob", None, 2)]) == {}
    assert "x" in disputes([review("Ann", None, 1, agrees=True), review("Bob", None, 2)])


def test_what_was_taken_back_or_is_about_a_field_disputes_nothing() -> None:
    ann = review("Ann", "answer_wrong", 1, agrees=True)
    assert disputes([ann, review("Bob", "judge_misread", 2, undone=True)]) == {}
    assert disputes([ann, review("Bob", "judge_misread", 2, field="target")]) == {}


def told(result) -> str:
    suggestion = suggest(result)
    assert suggestion is not None
    return blame(result, suggestion)


def test_whose_fault_it_is_stays_a_guess_where_values_tell(result, field) -> None:
    assert told(failing(result, field)) == (
        "The answer is probably wrong. target: the answer says something else than the truth."
    )
    assert told(failing(result, field, extracted="EGFR")).startswith("The judge probably misread the answer.")


@pytest.mark.parametrize(
    ("category", "stage", "words"),
    [
        ("timeout", "generate_answer", "The provider of the model is probably at fault"),
        ("rate_limit", "parse_template", "The provider of the judge is probably at fault"),
        ("authentication", "generate_answer", "The settings of the model are probably at fault"),
        ("template_execution", "verify_template", "The template is at fault, not the answer."),
        ("parsing", "parse_template", "The judge is at fault, not the answer"),
        ("cancelled", "generate_answer", "Nobody is at fault"),
    ],
)
def test_a_failure_says_who_failed_and_whose_call_it_was(result, category: str, stage: str, words: str) -> None:
    failure = Failure(category=category, stage=stage, reason="It failed.")
    assert told(result(verdict="not_evaluated", failure=failure)).startswith(words)


@pytest.mark.parametrize("category", get_args(FailureCategory))
def test_every_kind_of_failure_has_words_of_its_own(result, category: str) -> None:
    failure = Failure(category=category, stage="parse_template", reason="It failed.")
    said = told(result(verdict="not_evaluated", failure=failure))
    assert "{" not in said
    assert category == "unexpected" or not said.startswith("Something failed")
