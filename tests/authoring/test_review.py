"""Drafts that a person has to look at."""

from __future__ import annotations

from karenina_core.authoring import REVIEW_PROPERTY, add_draft, review
from karenina_core.benchmark import Benchmark
from karenina_core.templates import TemplateSpec, write_template
from tests.authoring.linter.cases import field, items


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


def test_an_unreadable_draft_needs_a_review() -> None:
    reviewed = review("class Answer(")
    assert reviewed.failed and reviewed.cases == ()


def test_a_hint_is_no_reason() -> None:
    hinted = review(TemplateSpec(fields=[items(normalize=[])]))
    assert [finding.severity for finding in hinted.findings] == ["hint"] and not hinted.needs_review


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
