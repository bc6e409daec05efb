from __future__ import annotations

import subprocess
import sys

import pytest

from karenina_core.models.prices import price_of
from karenina_core.schemas.config import ModelConfig


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


def test_prices_are_read_without_importing_litellm() -> None:
    script = (
        "import sys; from karenina_core.models.prices import price_of; "
        "from karenina_core.schemas.config import ModelConfig; "
        "assert price_of(ModelConfig(model_name='gpt-4.1-mini')); print('litellm' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "False"
