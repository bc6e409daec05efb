"""Whose fault a result without a pass is: what people say, and what the evidence suggests."""

from __future__ import annotations

from typing import get_args

import pytest

from karenina_core.analysis import disputes, stance, suggestions, whose_fault
from karenina_core.analysis.triage import Fault, blame, suggest
from karenina_core.benchmark import Benchmark
from karenina_core.schemas import Annotation, AnswerPart, Failure, FailureCategory, VerificationResult
from karenina_core.templates import FieldSpec, TemplateSpec, write_template

ANSWER = AnswerPart(text="It inhibits BRAF, the kinase.")


def failing(make, field, answer=ANSWER, **parts):
    item = field(passed=False, **parts)
    made = make(verdict="fail", fields=[item], answer=answer)
    made.template.parsed = {item.name: item.extracted}
    return made


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
        ("empty", "technical"),
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


def test_an_undecided_field_blames_nobody(result, field) -> None:
    undecided = field("drug", extracted="gold", result=None, rule={"type": "SemanticMatch", "threshold": 0.85})
    made = result(verdict="fail", fields=[undecided, field(passed=False)], answer=ANSWER)
    made.template.parsed = {"drug": "gold", "target": "BRAF"}
    found = suggest(made)
    assert (found.cause, found.why) == ("answer_wrong", "target: the answer says something else than the truth.")


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


def test_where_nothing_was_extracted_nothing_was_found(result, field) -> None:
    nothing = failing(result, field, extracted=None, result=None)
    assert suggest(nothing).why == "target: nothing was found in the answer."
    fields = [field("drug", False, extracted="BRAF"), field(passed=None)]
    both = result(verdict="fail", fields=fields, answer=ANSWER)
    both.template.parsed = {"drug": "BRAF", "target": None}
    assert suggest(both).why == (
        "drug: the answer says something else than the truth. target: nothing was found in the answer."
    )


def test_a_field_without_a_rule_says_nothing_beside_one_with_a_rule(result, field) -> None:
    made = result(verdict="fail", fields=[field("note", None, rule=None), field(passed=False)], answer=ANSWER)
    made.template.parsed = {"note": None, "target": "BRAF"}
    assert suggest(made).why == "target: the answer says something else than the truth."


def told(result) -> str:
    suggestion = suggest(result)
    assert suggestion is not None
    return blame(result, suggestion)


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


def benchmark(*normalizers: str) -> Benchmark:
    """One question, whose only field has to be `BCL2`."""
    rule = {"type": "ExactMatch", "normalize": list(normalizers)}
    target = FieldSpec(name="target", description="What is hit", ground_truth="BCL2", verify_with=rule)
    made = Benchmark.create("One")
    made.add_question("What does it hit?", "BCL2", write_template(TemplateSpec(fields=[target])), question_id="q")
    return made


def missed(result, field, extracted: str = "BCL-2") -> VerificationResult:
    """The failure of an answer that says BRAF, to the only question of the benchmark."""
    made = failing(result, field, extracted=extracted)
    return made.model_copy(update={"question": made.question.model_copy(update={"id": "q"})})


def test_the_rule_that_would_have_been_gentle_enough_is_named_with_its_field(result, field) -> None:
    failure = missed(result, field)
    found = suggestions([failure], benchmark("lowercase"))
    assert found.causes[failure.result_id].why == "It would pass if one were to drop punctuation (target)."
    assert "drop punctuation" in [rule.label for rule in found.rules]


def test_rules_of_today_that_are_gentle_enough_are_to_blame(result, field) -> None:
    failure = missed(result, field)
    found = suggestions([failure], benchmark("remove_punctuation"))
    assert "passes by the rules of today" in found.causes[failure.result_id].why
    assert found.rules == []


def test_nobody_is_at_fault_for_a_pass(result) -> None:
    assert whose_fault(result(), [], benchmark) is None


def test_without_a_review_the_evidence_tells_whose_fault_it_is(result, field) -> None:
    fault = whose_fault(missed(result, field, "BRAF"), [], benchmark)
    assert fault == Fault("The answer is probably wrong. target: the answer says something else than the truth.")


def test_the_cause_that_a_person_named_last_counts_before_the_evidence(result, field) -> None:
    def never() -> Benchmark:
        pytest.fail("the benchmark is not needed")

    failure = missed(result, field)
    about = {"run_id": "r1", "result_id": failure.result_id, "agrees": False}
    first = Annotation(**about, at="2026-03-01T12:01:00Z", author="Ann", cause="answer_wrong")
    last = Annotation(**about, at="2026-03-01T12:02:00Z", cause="judge_misread")
    assert whose_fault(failure, [last, first], never) == Fault("the judge misread it", "Somebody")


def review(author: str, cause: str | None = None, minute: int = 0, **parts) -> Annotation:
    given = {"run_id": "r1", "result_id": "x", "agrees": False, "at": f"2026-03-01T12:{minute:02}:00Z"}
    return Annotation(**given | parts, author=author, cause=cause)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"cause": "judge_misread"}, "the judge misread it"),
        ({"cause": "answer_wrong", "agrees": True}, "the answer is wrong"),
        ({"agrees": True}, "agrees"),
        ({"agrees": False}, "disagrees"),
    ],
)
def test_an_opinion_is_its_cause_or_else_what_it_thinks_of_the_verdict(parts: dict[str, object], words: str) -> None:
    assert stance(review("Ann", **parts)) == words


def test_two_people_who_name_different_causes_disagree() -> None:
    ann, bob = review("Ann", "answer_wrong", 1, agrees=True), review("Bob", "judge_misread", 2)
    assert disputes([bob, ann]) == {"x": (ann, bob)}


def test_one_person_may_change_the_mind() -> None:
    first, second = review("Ann", "answer_wrong", 1, agrees=True), review("Ann", "judge_misread", 2)
    assert disputes([first, second]) == {}
    assert disputes([first, second, review("Bob", "judge_misread", 3)]) == {}


def test_what_was_taken_back_or_is_about_a_field_disputes_nothing() -> None:
    ann = review("Ann", "answer_wrong", 1, agrees=True)
    assert disputes([ann, review("Bob", "judge_misread", 2, undone=True)]) == {}
    assert disputes([ann, review("Bob", "judge_misread", 2, field="target")]) == {}
