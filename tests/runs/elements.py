"""A small benchmark with real templates, prepared answers and a judge, for runs through the real pipeline."""

from __future__ import annotations

import json
from typing import Any

from karenina_core.benchmark import Benchmark
from karenina_core.schemas import ModelConfig, VerificationConfig
from tests.faults.openai_server import OpenAIServer, Reply

TEMPLATE = """
from karenina_core.schemas.entities import BaseAnswer, VerifiedField
from karenina_core.schemas.primitives import ExactMatch


class Answer(BaseAnswer):
    value: str = VerifiedField(
        description="{description}", ground_truth="{truth}", verify_with=ExactMatch(normalize={normalize})
    )
"""
ANSWERS = {"gold": "The symbol of gold is Au.", "iron": "Iron is written FE.", "neon": "That must be Na."}
EXTRACTIONS = {"gold": "Au", "iron": "FE", "neon": "Na"}


def template(truth: str, normalize: tuple[str, ...] = (), description: str = "The symbol that is stated") -> str:
    return TEMPLATE.format(truth=truth, normalize=list(normalize), description=description)


def elements() -> Benchmark:
    """Gold passes, iron fails because of its case, neon is wrong."""
    benchmark = Benchmark.create("Elements")
    for name, truth in (("gold", "Au"), ("iron", "Fe"), ("neon", "Ne")):
        benchmark.add_question(f"Which symbol has {name}?", truth, template(truth), question_id=name)
    return benchmark


def config_for(server: OpenAIServer, **settings: Any) -> VerificationConfig:
    """Prepared answers, judged by the model of a server."""
    answers = ModelConfig(id="notes", interface="manual", model_name="notes", manual_traces=dict(ANSWERS))
    judge = ModelConfig(
        id="judge", interface="openai_endpoint", model_name="judge", endpoint_base_url=server.url, max_retries=0
    )
    return VerificationConfig(answering_models=[answers], parsing_models=[judge], **settings)


def extraction(request: dict[str, Any]) -> Reply:
    """Reply the value that the answer in the request states."""
    text = "\n".join(message["content"] for message in request["messages"])
    name = next(name for name, answer in ANSWERS.items() if answer in text)
    return Reply(json.dumps({"value": EXTRACTIONS[name]}))
