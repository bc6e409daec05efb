"""Templates drafted by a model go through the linter and the self-test."""

from __future__ import annotations

from typing import Any

from karenina_core.authoring import REVIEW_PROPERTY
from karenina_core.benchmark import Benchmark
from karenina_core.models import ChatRequest
from karenina_core.pipeline import GeneratedTemplate
from karenina_core.pipeline.generation import generate_all_templates
from tests.pipeline.scripted import JUDGE, ScriptedClient


def proposal(description: str, truth: Any = "BCL2", kind: str = "str") -> dict[str, Any]:
    item = {"name": "target", "type": kind, "description": description, "ground_truth": truth, "options": []}
    return {"fields": [item]}


def generated(reply: dict[str, Any], notes: str | None = None) -> tuple[Benchmark, GeneratedTemplate]:
    benchmark = Benchmark.create(name="b")
    benchmark.add_question("What is the target of venetoclax?", "BCL2", question_id="q", answer_notes=notes)

    def script(request: ChatRequest) -> dict[str, Any]:
        return reply

    made = generate_all_templates(benchmark, JUDGE, clients=lambda config: ScriptedClient(config, script, []))
    return benchmark, made["q"]


def test_a_sound_draft_is_ready_to_run() -> None:
    benchmark, made = generated(proposal("The protein target of the drug named in the response"))
    question = benchmark.get_question("q")
    assert made.success and made.review is not None and not made.needs_review
    assert question.finished and question.answer_template == made.source


def test_a_draft_that_gives_the_answer_away_stays_a_draft() -> None:
    benchmark, made = generated(proposal("Whether the target named is BCL2 or another protein"))
    question = benchmark.get_question("q")
    assert made.success and made.needs_review and not question.finished
    assert "holds the expected value" in (question.custom_metadata or {})[REVIEW_PROPERTY]


def test_what_the_notes_reject_is_tried() -> None:
    benchmark, made = generated(proposal("The protein target of the drug named"), "Accept 'B-cell lymphoma 2'.")
    assert made.needs_review and not benchmark.get_question("q").finished
    assert made.review is not None and "accepted by the notes should pass" in made.review.reasons[0]


def test_a_draft_that_fails_its_self_test_stays_a_draft_with_the_reason() -> None:
    benchmark, made = generated(proposal("The day on which the response says it happened", "some day", "date"))
    question = benchmark.get_question("q")
    assert made.success and made.needs_review and not question.finished
    assert made.review is not None and "The self-test failed: The truth fails its own rule" in made.review.reasons[0]
    assert question.answer_template == made.source


def test_the_plan_of_the_model_is_kept() -> None:
    reply = {"plan": "It must name the protein.", **proposal("The protein target of the drug that is named")}
    assert generated(reply)[1].plan == "It must name the protein."


def test_a_reply_that_is_no_draft_says_so() -> None:
    benchmark, made = generated({"fields": []})
    assert (made.success, made.category) == (False, "invalid_output")
    assert not benchmark.has_template("q")
