"""What a run has spent, in words that promise no more than is known."""

from __future__ import annotations

import pytest

from karenina_core.models import Price
from karenina_core.runs import spent_in_words
from karenina_core.runs.prices import Prices
from karenina_core.schemas import ModelConfig, VerificationConfig

HERE = "http://127.0.0.1:9/v1"
LISTED = ModelConfig(model_name="gpt-4.1-mini", model_provider="openai")
UNLISTED = ModelConfig(interface="openai_endpoint", model_name="ours", endpoint_base_url=HERE)
OWN: Prices = {f"openai/ours at {HERE}": Price(1e-6, 1e-6)}


@pytest.mark.parametrize(
    ("judge", "own", "cost", "words"),
    [
        (LISTED, {}, 0.0524, "$0.0524"),
        (LISTED, {}, 0.0, "nothing"),
        (UNLISTED, {}, 0.0, "unknown"),
        (UNLISTED, {}, None, "unknown"),
        (UNLISTED, {}, 0.0524, "at least $0.0524"),
        (UNLISTED, OWN, 0.0524, "$0.0524"),
    ],
)
def test_a_sum_that_lacks_calls_says_so(judge: ModelConfig, own: Prices, cost: float | None, words: str) -> None:
    config = VerificationConfig(answering_models=[LISTED], parsing_models=[judge])
    assert spent_in_words(cost, config, own) == words


def test_a_run_that_asked_nobody_has_spent_nothing_whatever_its_models_would_cost() -> None:
    config = VerificationConfig(answering_models=[UNLISTED], parsing_models=[UNLISTED])
    assert spent_in_words(None, config, {}, asked=0) == "nothing"
    assert spent_in_words(None, config, {}, asked=3) == "unknown"
