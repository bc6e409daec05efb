"""One trait over one response."""

from __future__ import annotations

import asyncio
import json

import pytest

from karenina_core.models import CallServices, MemoryLedger, ModelCaller
from karenina_core.pipeline import Sample, TraitScorer, needs_judge
from karenina_core.schemas import (
    AnyTrait,
    ManualRubricTrait,
    MetricRubricTrait,
    ModelConfig,
    PromptConfig,
    RubricPart,
    RubricTrait,
)
from tests.faults.openai_server import OpenAIServer, Reply

SAMPLE = Sample("Which metal?", "It is gold.", "q1", "lab/model")
TONE = RubricTrait(name="Tone", description="How?", kind="literal", classes={"dry": "as in a journal", "warm": "else"})
METALS = MetricRubricTrait(name="Metals", metrics=["recall"], tp_instructions=["gold", "iron"])


def outcome(trait: AnyTrait, server: OpenAIServer, reply: object = None, **settings: PromptConfig) -> RubricPart:
    """Let the server judge."""
    server.script = lambda sent: Reply(json.dumps(reply))
    judge = ModelConfig(id="judge", interface="openai_endpoint", model_name="j", endpoint_base_url=server.url)

    async def once() -> RubricPart:
        async with ModelCaller(CallServices(MemoryLedger())) as caller:
            return await TraitScorer(trait, caller, **settings).score(SAMPLE, judge)

    return asyncio.run(once())


def test_a_trait_of_classes_gets_its_label(openai_server: OpenAIServer) -> None:
    part = outcome(TONE, openai_server, {"reason": "Short.", "value": "dry"})
    assert (part.labels, part.scores, part.reasons) == ({"Tone": "dry"}, {"Tone": 0}, {"Tone": "Short."})


def test_the_call_is_kept_with_prompt_and_reply(openai_server: OpenAIServer) -> None:
    (call,) = outcome(TONE, openai_server, {"reason": "", "value": "warm"}).calls
    assert (call.purpose, call.part, call.model) == ("rubric", "Tone", "judge")
    assert "It is gold." in call.messages[1]["content"]
    assert json.loads(call.reply or "")["value"] == "warm"


def test_a_list_that_does_not_fit_is_an_error_in_words_for_people_and_for_the_judge(
    openai_server: OpenAIServer,
) -> None:
    part = outcome(METALS, openai_server, {"items": [{"item": "gold", "matches": ["gold"]}]})
    problem = 'matches of entry 1 of items must be text, not ["gold"]'
    assert problem in part.errors["Metals"]
    assert "validation error" not in part.errors["Metals"]
    assert problem in openai_server.requests[1]["messages"][-1]["content"]


def test_extra_instructions_reach_the_judge(openai_server: OpenAIServer) -> None:
    outcome(TONE, openai_server, {"value": "dry"}, prompts=PromptConfig(rubric_evaluation="Be strict."))
    assert "Be strict." in openai_server.requests[0]["messages"][0]["content"]


def test_patterns_are_searched_without_a_judge(openai_server: OpenAIServer) -> None:
    part = outcome(ManualRubricTrait(name="Gold", pattern="GOLD", case_sensitive=False), openai_server)
    assert (part.regex, openai_server.requests) == ({"Gold": True}, [])


def test_a_pattern_that_hangs_is_an_error_of_the_trait(openai_server: OpenAIServer) -> None:
    async def once() -> RubricPart:
        async with ModelCaller(CallServices(MemoryLedger())) as caller:
            trait = ManualRubricTrait(name="Slow", pattern="(a|a)+$")
            return await TraitScorer(trait, caller).score(Sample("?", "a" * 40 + "b"))

    assert "took too long" in asyncio.run(once()).errors["Slow"]


def test_a_judge_is_needed_for_what_is_judged() -> None:
    assert [needs_judge(trait) for trait in (TONE, METALS, ManualRubricTrait(name="A", pattern="a"))] == [
        True,
        True,
        False,
    ]

    async def once() -> RubricPart:
        async with ModelCaller(CallServices(MemoryLedger())) as caller:
            return await TraitScorer(TONE, caller).score(SAMPLE)

    with pytest.raises(ValueError, match="needs a judge"):
        asyncio.run(once())
