"""The two guards: what the judge is asked, and what becomes of its reply."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import ModelError
from karenina_core.models import ChatRequest
from karenina_core.pipeline.stages.guards import guard_schema
from karenina_core.schemas import GuardPart, VerificationResult
from tests.pipeline.scripted import evaluate

TEMPLATE = """
class Answer(BaseAnswer):
    target: str = VerifiedField(description="The target", ground_truth="BCL2", verify_with=ExactMatch())
"""
FOUND = {"abstention": "abstained", "sufficiency": "sufficient"}


def guarded(guard: str, reply: Any, seen: list[ChatRequest] | None = None) -> VerificationResult:
    """Evaluate a right answer with one guard, to which the judge says that."""
    benchmark = Benchmark.create("One")
    benchmark.add_question("What does it target?", "BCL2", answer_template=TEMPLATE)
    replies = {"answer": "It targets BCL2.", "parse": {"target": "BCL2"}, guard: reply}
    settings = {f"{guard}_enabled": True}
    return asyncio.run(evaluate(benchmark, lambda request: replies[request.purpose], seen=seen, **settings))


def part_of(result: VerificationResult, guard: str) -> GuardPart:
    part = getattr(result, guard)
    assert isinstance(part, GuardPart)
    return part


@pytest.mark.parametrize("guard", FOUND)
@pytest.mark.parametrize("found", [True, False])
def test_what_the_judge_found_is_kept_with_its_reason_and_its_call(guard: str, found: bool) -> None:
    part = part_of(guarded(guard, {"reasoning": "It says so.", FOUND[guard]: found}), guard)
    assert (part.performed, part.detected, part.reasoning) == (True, found, "It says so.")
    assert part.call is not None and part.call.purpose == guard


@pytest.mark.parametrize(
    ("guard", "ends_it", "reason"),
    [
        ("abstention", True, "The response declines to answer."),
        ("sufficiency", False, "The response does not hold what the template asks for."),
    ],
)
def test_a_response_that_is_stopped_without_a_reason_gets_one(guard: str, ends_it: bool, reason: str) -> None:
    result = guarded(guard, {FOUND[guard]: ends_it})
    assert result.failure is not None
    assert (result.verdict, result.failure.category, result.failure.reason) == ("not_evaluated", guard, reason)
    assert guarded(guard, {FOUND[guard]: not ends_it}).verdict == "pass"


@pytest.mark.parametrize("guard", FOUND)
def test_a_judge_that_cannot_be_asked_costs_a_warning_and_no_verdict(guard: str) -> None:
    result = guarded(guard, ModelError("Down.", category="server_error"))
    part = part_of(result, guard)
    assert (result.verdict, part.performed, part.detected) == ("pass", False, None)
    assert [f"The {guard} check was not performed" in warning for warning in result.warnings] == [True]


@pytest.mark.parametrize("guard", FOUND)
def test_the_judge_is_sent_the_schema_of_its_reply(guard: str) -> None:
    seen: list[ChatRequest] = []
    guarded(guard, {FOUND[guard]: guard == "sufficiency"}, seen)
    [sent] = [request.schema for request in seen if request.purpose == guard]
    assert sent is not None
    assert list(sent["properties"]) == ["reasoning", FOUND[guard]]


def test_a_reply_has_a_reason_and_what_was_found() -> None:
    schema = guard_schema("late", "whether it is late")
    assert schema["required"] == ["reasoning", "late"]
    assert schema["properties"]["late"] == {"type": "boolean", "description": "whether it is late"}
    assert schema["additionalProperties"] is False
