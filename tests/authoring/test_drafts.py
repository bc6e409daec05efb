"""First templates without a model, and drafts that a person has to look at."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.authoring import REVIEW_PROPERTY, add_draft, draft_by_rule, lint, review
from karenina_core.benchmark import Benchmark
from karenina_core.templates import FieldSpec, TemplateSpec, read_template, write_template
from tests.authoring.linter.cases import field, items

LISTED = "Which of these are inflammatory: asthma, bronchitis, pneumonia, emphysema, sarcoidosis?"


def drafted(question: str, answer: str, notes: str | None = None) -> FieldSpec:
    draft = draft_by_rule(question, answer, notes)
    assert draft.spec is not None and draft.review is not None and not draft.review.reasons
    (item,) = draft.spec.fields
    return item


@pytest.mark.parametrize(
    ("question", "answer", "name", "kind", "truth", "rule"),
    [("Is it approved?", "Yes, since 2016.", "answer_is_yes", "bool", True, "BooleanMatch"),
     ("How many pairs of it are there?", "23 pairs", "number_of_pairs", "int", 23, "NumericExact"),
     ("What is the hazard ratio?", "0.72", "hazard_ratio", "float", 0.72, "NumericTolerance"),
     ("When was it approved?", "April 11, 2016", "date", "date", "2016-04-11", "DateMatch"),
     ("What is the dose?", "5-10 mg", "dose", "int", 0, "NumericRange"),
     ("Which phase (I, II or III)?", "III", "choice", "literal", "III", "LiteralMatch"),
     ("Where is it approved?", "CLL, SLL and AML", "items", "list_str", ["CLL", "SLL", "AML"], "SetContainment"),
     ("Name the steps in order.", "a1; b2; c3", "items", "list_str", ["a1", "b2", "c3"], "OrderedMatch"),
     ("What is the capital of France?", "Paris", "capital", "str", "Paris", "ExactMatch")],
)  # fmt: skip
def test_what_is_drafted(question: str, answer: str, name: str, kind: str, truth: Any, rule: str) -> None:
    item = drafted(question, answer)
    assert (item.name, item.type, item.ground_truth) == (name, kind, truth)
    assert (item.verify_with or {})["type"] == rule


def test_other_names_become_synonyms() -> None:
    item = drafted("What is the target?", "BCL2 (B-cell lymphoma 2)", "Accept 'Bcl-2' but not 'BCL-XL'.")
    mapping = (item.verify_with or {})["normalize"][-1]["mapping"]
    assert item.ground_truth == "BCL2" and mapping == {"b-cell lymphoma 2": "bcl2", "bcl-2": "bcl2"}


def test_what_the_question_offers_must_be_met_exactly() -> None:
    assert (drafted(LISTED, "asthma, bronchitis, pneumonia").verify_with or {})["mode"] == "exact"
    assert (drafted("Which?", "asthma, bronchitis").verify_with or {})["mode"] == "superset"


@pytest.mark.parametrize(
    ("question", "answer", "notes", "reason"),
    [("How many patients?", "1,024", None, "thousands separator: 1024"),
     ("What is the ratio?", "0.72 (95% CI 0.6-0.9)", None, "95% CI"),
     ("What is the target?", "BCL2", "Accept 'bcl2' but not 'BCL2'.", "rejected by the notes")],
)  # fmt: skip
def test_what_is_not_sure_needs_a_review(question: str, answer: str, notes: str | None, reason: str) -> None:
    reviewed = draft_by_rule(question, answer, notes).review
    assert reviewed is not None and reviewed.needs_review and reason in reviewed.reasons[0]


@pytest.mark.parametrize("answer", ["", "N/A", "It binds BCL2 and frees proteins that start the death of the cell."])
def test_what_a_rule_cannot_compare_is_left_to_others(answer: str) -> None:
    draft = draft_by_rule("What does it do?", answer)
    assert draft.spec is None and draft.review is None
    assert draft.why.endswith(".")


def test_what_a_template_cannot_hold_is_not_drafted() -> None:
    draft = draft_by_rule("What is it?", "a\0b")
    assert draft.spec is None and "NUL" in draft.why


def test_the_name_and_description_do_not_give_the_answer_away() -> None:
    item = drafted("What is the paris agreement of?", "Paris")
    assert item.name == "answer" and "paris" not in item.description.lower()


QUESTIONS = st.sampled_from(["How many are there?", "What is the name of it?", "Which is it: a, b or c?", LISTED, ""])


@given(QUESTIONS, st.text(max_size=60) | st.from_regex(r"[A-Za-z0-9 ,;()%.±-]{1,40}", fullmatch=True))
def test_whatever_is_drafted_can_be_read_and_accepts_its_own_truth(question: str, answer: str) -> None:
    draft = draft_by_rule(question, answer)
    if draft.spec is not None:
        assert read_template(write_template(draft.spec)).spec == draft.spec
        assert not [
            f for f in lint(draft.spec) if f.code in ("truth_fails_rule", "truth_type", "description_leaks_truth")
        ]


def test_a_list_of_thousands_is_left_to_others() -> None:
    draft = draft_by_rule("What is there?", ", ".join(f"item {number}" for number in range(5_000)))
    assert draft.spec is None


def benchmark() -> tuple[Benchmark, str]:
    made = Benchmark.create(name="b")
    return made, made.add_question("What is the target?", "BCL2")


def test_a_sound_draft_needs_no_review() -> None:
    reviewed = review(TemplateSpec(fields=[field()]), reference_answer="BCL2")
    assert reviewed.cases and not reviewed.needs_review and not reviewed.failed


def test_a_finding_or_a_surprise_is_a_reason() -> None:
    vague = review(TemplateSpec(fields=[field(description="The gene")]))
    assert vague.reasons == ['gene: The description "The gene" repeats the name of the field.']
    assert not vague.failed
    empty = review(TemplateSpec(fields=[items(mode="subset")]))
    assert empty.failed and "uses: an empty list should fail, but the verdict is pass." in empty.reasons


def test_a_draft_is_stored_with_what_has_to_be_looked_at() -> None:
    made, question_id = benchmark()
    source = write_template(TemplateSpec(fields=[items(mode="subset")]))
    add_draft(made, question_id, source, review(source))
    question = made.get_question(question_id)
    assert question.answer_template == source and not question.finished
    assert "an empty list" in (question.custom_metadata or {})[REVIEW_PROPERTY]


def test_a_better_draft_takes_the_mark_away() -> None:
    made, question_id = benchmark()
    for item in (field(description="The gene"), field()):
        source = write_template(TemplateSpec(fields=[item]))
        add_draft(made, question_id, source, review(source))
    question = made.get_question(question_id)
    assert question.finished and not question.custom_metadata
