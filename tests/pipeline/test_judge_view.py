"""The view of the judge is what a run sends, word for word."""

from __future__ import annotations

import asyncio

import pytest

from karenina_core.models import ChatRequest
from karenina_core.pipeline import judge_view
from karenina_core.schemas import PromptConfig, VerificationConfig
from karenina_core.templates import read_template
from tests.pipeline.scripted import ANSWERER, JUDGE, evaluate
from tests.pipeline.test_pipeline import DECLARATIVE, OWN_CODE, TRACE_ONLY, benchmark, script

QUESTION, RESPONSE = "What does venetoclax target?", "It targets BCL-2."


@pytest.mark.parametrize("source", [DECLARATIVE, OWN_CODE])
@pytest.mark.parametrize(
    "settings",
    [{}, {"include_extraction_hints": False}, {"prompt_config": PromptConfig(parsing="Spell symbols as HGNC does.")}],
)
def test_a_run_sends_exactly_what_is_shown(source: str, settings: dict[str, object]) -> None:
    seen: list[ChatRequest] = []
    asyncio.run(evaluate(benchmark(source), script(), seen=seen, **settings))
    [sent] = [request for request in seen if request.purpose == "parse"]
    config = VerificationConfig.model_validate({"answering_models": [ANSWERER], "parsing_models": [JUDGE], **settings})
    view = judge_view(read_template(source), QUESTION, RESPONSE, config=config, judge=JUDGE)
    assert view is not None
    assert (view.messages, view.schema) == (sent.messages, sent.schema)


def test_the_judges_own_prompt_comes_first() -> None:
    judge = JUDGE.model_copy(update={"system_prompt": "You are strict."})
    view = judge_view(read_template(DECLARATIVE), QUESTION, RESPONSE, judge=judge)
    assert view is not None and view.messages[0].content.startswith("You are strict.\n\nYou read a response")


def test_without_settings_it_is_as_by_default() -> None:
    view = judge_view(read_template(DECLARATIVE), QUESTION, RESPONSE)
    assert view is not None and "Give the gene symbol" in view.messages[0].content


def test_where_no_judge_is_asked_there_is_no_view() -> None:
    assert judge_view(read_template(TRACE_ONLY), QUESTION, RESPONSE) is None
