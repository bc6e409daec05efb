"""The thirteen stages: their order, what each notes, the two guards, and the result they leave."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import ModelError
from karenina_core.models import ChatReply, ChatRequest
from karenina_core.pipeline import STAGES
from karenina_core.pipeline.pipeline import check_stages
from karenina_core.schemas import GuardPart, Usage, VerificationResult
from tests.performance import workload
from tests.pipeline.scripted import evaluate

TEMPLATE = """
class Answer(BaseAnswer):
    target: str = VerifiedField(description="The target", ground_truth="BCL2", verify_with=ExactMatch())
"""
FIELDS = {"abstention": "abstained", "sufficiency": "sufficient"}


def test_there_are_thirteen_stages_in_their_established_order() -> None:
    assert [stage.name for stage in STAGES] == [
        "validate_template",
        "generate_answer",
        "recursion_limit_autofail",
        "trace_validation_autofail",
        "abstention_check",
        "sufficiency_check",
        "parse_template",
        "verify_template",
        "embedding_check",
        "deep_judgment_autofail",
        "rubric_evaluation",
        "deep_judgment_rubric_autofail",
        "finalize_result",
    ]


def test_a_stage_without_its_inputs_is_refused_before_anything_runs() -> None:
    with pytest.raises(ValueError, match="parse_template requires answer"):
        check_stages([STAGES[0], STAGES[6]])


def guarded(guard: str, reply: Any, seen: list[ChatRequest] | None = None) -> VerificationResult:
    """Evaluate a right answer with one guard, to which the judge replies that."""
    benchmark = Benchmark.create("One")
    benchmark.add_question("What does it target?", "BCL2", answer_template=TEMPLATE)
    replies = {"answer": "It targets BCL2.", "parse": {"target": "BCL2"}, guard: reply}
    settings = {f"{guard}_enabled": True}
    return asyncio.run(evaluate(benchmark, lambda request: replies[request.purpose], seen=seen, **settings))


def part_of(result: VerificationResult, guard: str) -> GuardPart:
    part = getattr(result, guard)
    assert isinstance(part, GuardPart)
    return part


def test_every_stage_says_what_it_did() -> None:
    states = {stage.name: stage.state for stage in guarded("abstention", {"abstained": False}).stages}
    assert list(states) == [stage.name for stage in STAGES]
    assert {name for name, state in states.items() if state == "ran"} == {
        "validate_template",
        "generate_answer",
        "abstention_check",
        "parse_template",
        "verify_template",
        "finalize_result",
    }
    assert {name for name, state in states.items() if state == "off"} == {stage.name for stage in STAGES if stage.off}


@pytest.mark.parametrize("guard", FIELDS)
@pytest.mark.parametrize("value", [True, False])
def test_what_the_judge_replied_is_kept_with_its_reason_and_its_call(guard: str, value: bool) -> None:
    part = part_of(guarded(guard, {"reasoning": "It says so.", FIELDS[guard]: value}), guard)
    assert (part.performed, part.detected, part.reasoning) == (True, value, "It says so.")
    assert part.call is not None and part.call.purpose == guard


@pytest.mark.parametrize(
    ("guard", "ends_it", "reason"),
    [
        ("abstention", True, "The response declines to answer."),
        ("sufficiency", False, "The response does not hold what the template asks for."),
    ],
)
def test_a_response_that_is_stopped_has_no_verdict_and_asks_for_no_extraction(
    guard: str, ends_it: bool, reason: str
) -> None:
    seen: list[ChatRequest] = []
    result = guarded(guard, {FIELDS[guard]: ends_it}, seen)
    assert result.failure is not None
    assert (result.status, result.verdict) == ("completed", "not_evaluated")
    assert (result.failure.category, result.failure.reason) == (guard, reason)
    assert [request.purpose for request in seen] == ["answer", guard]
    schema = seen[1].schema
    assert schema is not None and list(schema["properties"]) == ["reasoning", FIELDS[guard]]
    assert guarded(guard, {FIELDS[guard]: not ends_it}).verdict == "pass"


@pytest.mark.parametrize("guard", FIELDS)
def test_a_judge_that_cannot_be_asked_costs_a_warning_and_no_verdict(guard: str) -> None:
    result = guarded(guard, ModelError("Down.", category="server_error"))
    part = part_of(result, guard)
    assert (result.verdict, part.performed, part.detected) == ("pass", False, None)
    assert [f"The {guard} check was not performed" in warning for warning in result.warnings] == [True]


def evaluated() -> VerificationResult:
    """Evaluate the question that the performance is measured with."""

    def reply(request: ChatRequest) -> ChatReply:
        values = json.dumps(workload.truths(1)[0])
        text = "BCL2 in 100 patients, approved on 1 January 2001." if request.schema is None else values
        return ChatReply(text, usage=Usage(input_tokens=3, output_tokens=2, calls=1))

    return asyncio.run(evaluate(workload.benchmark(1), reply))


def test_a_result_that_is_built_without_a_check_is_valid_and_complete() -> None:
    result = evaluated()
    assert result.verdict == "pass"
    assert VerificationResult.model_validate(result.model_dump()) == result
    assert result.answer is not None and result.answer.call is not None and result.template is not None
    parts = [result, result.question, result.answer, result.answer.call, result.template, *result.template.fields]
    parts += [*result.template.calls, result.usage, result.answer.call.usage, *result.stages]
    assert all(list(part.__dict__) == list(type(part).model_fields) for part in parts)
