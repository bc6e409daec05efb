from __future__ import annotations

import subprocess
import sys

import pytest

from karenina_core.models import Price, price_of
from karenina_core.models.prices import Listed, listed
from karenina_core.schemas import ModelConfig


@pytest.mark.parametrize("name", ["openai/gpt-4.1-mini", "gpt-4.1-mini", "anthropic/claude-sonnet-4-5"])
def test_prices_are_found_with_and_without_the_providers_name(name: str) -> None:
    price = price_of(ModelConfig(model_name=name))
    assert price is not None
    assert 0 < price.input < price.output < 0.001
    assert price.of(1_000_000, 0) == pytest.approx(price.input * 1e6)


def test_a_price_of_another_provider_is_not_taken() -> None:
    assert price_of(ModelConfig(model_name="groq/gpt-4.1-mini")) is None
    assert price_of(ModelConfig(model_name="lab/unheard-of")) is None


def test_models_without_a_provider_cost_nothing() -> None:
    assert price_of(ModelConfig(interface="local")) == (0.0, 0.0)


def test_a_prompt_that_the_provider_has_at_hand_costs_less() -> None:
    entry = Listed("openai", "chat", Price(2.0, 10.0), 0.5)
    assert entry.cost(100, 1) == 210
    assert entry.cost(100, 1, 40) == 60 * 2.0 + 40 * 0.5 + 10
    assert entry.cost(100, 1, 1000) == 100 * 0.5 + 10
    assert entry._replace(cached=None).cost(100, 1, 40) == 210
    assert entry._replace(price=None).cost(100, 1) is None


def test_the_list_tells_whose_a_model_is_and_how_it_is_asked() -> None:
    for name, mode in (("gpt-4.1-mini", "chat"), ("openai/o1-pro", "responses")):
        found = listed(name)
        assert found is not None and (found.provider, found.mode) == ("openai", mode)
    assert listed("lab/unheard-of") is None


def test_prices_are_read_without_importing_litellm() -> None:
    script = (
        "import sys; from karenina_core.models.prices import price_of; "
        "from karenina_core.schemas.config import ModelConfig; "
        "assert price_of(ModelConfig(model_name='gpt-4.1-mini')); print('litellm' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "False"
