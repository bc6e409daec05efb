"""What models cost, by the price list that comes with litellm; read without importing litellm."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from karenina_core.errors import InputError
from karenina_core.schemas.config import ModelConfig

_FILE = "model_prices_and_context_window_backup.json"


class Price(NamedTuple):
    """US dollars for one token."""

    input: float
    output: float

    def of(self, input_tokens: float, output_tokens: float) -> float:
        """Return what a call costs, in US dollars."""
        return self.input * input_tokens + self.output * output_tokens


def price_of(config: ModelConfig) -> Price | None:
    """Return the price of a model; nothing for models that cost nothing, None when the price is not known."""
    if config.transport != "litellm":
        return Price(0.0, 0.0)
    name, listed = config.provider_model, _listed()
    entry = listed.get(name)
    prefix, slash, bare = name.partition("/")
    if entry is None and slash and listed.get(bare, {}).get("litellm_provider") == prefix:
        entry = listed[bare]
    return _price(entry) if entry else None


def _price(entry: dict[str, Any]) -> Price | None:
    asked, told = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(asked, int | float) or not isinstance(told, int | float):
        return None
    return Price(float(asked), float(told))


@lru_cache(maxsize=1)
def _listed() -> dict[str, dict[str, Any]]:
    from karenina_core.files import read_json_file

    spec = find_spec("litellm")
    places = list(spec.submodule_search_locations or ()) if spec else []
    try:
        listed = read_json_file(Path(places[0]) / _FILE) if places else {}
    except InputError:
        return {}
    return listed if isinstance(listed, dict) else {}
