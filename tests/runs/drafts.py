"""A benchmark to draft templates for, and a provider that drafts."""

from __future__ import annotations

import json

from karenina_core.benchmark import Benchmark
from karenina_core.models import Price
from karenina_core.runs import Store
from karenina_core.runs.prices import price_name
from karenina_core.schemas import ModelConfig
from tests.app.samples import TEMPLATE
from tests.faults.openai_server import OpenAIServer, Reply

SENTENCE = "The drug closes the channel so that the cell stops firing over many weeks."
COST = 11 * 0.01 + 7 * 0.1
"""What a draft of a priced drafter costs, in US dollars."""


def untemplated_benchmark() -> Benchmark:
    """One question the rules can draft for, one they are unsure of, one they cannot, and one that has a template."""
    benchmark = Benchmark.create("Lab")
    benchmark.add_question("Which protein does venetoclax bind?", "BCL2", question_id="name", finished=False)
    benchmark.add_question("How many base pairs are there?", "3,100", question_id="number", finished=False)
    benchmark.add_question("How does it work?", SENTENCE, question_id="sentence", finished=False)
    benchmark.add_question("What is the target?", "BCL2", TEMPLATE, question_id="own")
    return benchmark


def proposal(
    truth: str = "BCL2", description: str = "The protein the response names as target", name: str = "target"
) -> str:
    """Return what a drafter says."""
    item = {"name": name, "type": "str", "description": description, "ground_truth": truth, "options": []}
    return json.dumps({"plan": "It must name the protein.", "fields": [item]})


def drafter_at(server: OpenAIServer, said: str) -> ModelConfig:
    """Let a provider on this computer say the same to everything, and return its model."""
    server.script = lambda sent: Reply(said)
    return ModelConfig(interface="openai_endpoint", model_name="drafter", endpoint_base_url=server.url)


def priced(store: Store, model: ModelConfig) -> ModelConfig:
    """Let every draft of a model cost `COST`."""
    store.settings.set_prices({price_name(model): Price(0.01, 0.1)})
    return model
