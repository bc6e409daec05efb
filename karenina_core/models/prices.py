"""What models cost, by the price list that comes with litellm; read without importing litellm."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from karenina_core.errors import InputError
from karenina_core.schemas import ModelConfig

_FILE = "model_prices_and_context_window_backup.json"


class Price(NamedTuple):
    """US dollars for one token."""

    input: float
    output: float

    def of(self, input_tokens: float, output_tokens: float) -> float:
        """Return what a call costs, in US dollars."""
        return self.input * input_tokens + self.output * output_tokens


class Listed(NamedTuple):
    """What the list says of a model.

    Attributes:
        provider: Whose it is, by the prefix in front of model names.
        mode: How it is asked: `chat`, `responses`, `embedding` and so on.
        price: For one token; None when there is none.
        cached: US dollars for a token of a prompt that the provider has still at hand; None when there is no rebate.
    """

    provider: str
    mode: str
    price: Price | None
    cached: float | None

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float | None:
        """Return what a call costs in US dollars; None when it is not known.

        Args:
            input_tokens: All tokens of the prompt.
            output_tokens: All tokens of the reply.
            cached_tokens: How many of the prompt's tokens the provider had at hand.
        """
        if self.price is None:
            return None
        cached = 0 if self.cached is None else min(cached_tokens, input_tokens)
        return self.price.of(input_tokens - cached, output_tokens) + cached * (self.cached or 0.0)


def price_of(config: ModelConfig) -> Price | None:
    """Return the price of a model; nothing for models that cost nothing, None when the price is not known."""
    if not config.is_provider:
        return Price(0.0, 0.0)
    found = listed(config.provider_model)
    return found.price if found else None


def listed(name: str) -> Listed | None:
    """Return what the list says of a model, named with its provider in front or, where it is known so, without."""
    known = _list()
    found = known.get(name)
    prefix, slash, bare = name.partition("/")
    if found is None and slash and bare in known and known[bare].provider == prefix:
        found = known[bare]
    return found


@lru_cache(maxsize=1)
def _list() -> dict[str, Listed]:
    from karenina_core.files import read_json_file

    spec = find_spec("litellm")
    places = list(spec.submodule_search_locations or ()) if spec else []
    try:
        entries = read_json_file(Path(places[0]) / _FILE) if places else {}
    except InputError:
        return {}
    if not isinstance(entries, dict):
        return {}
    # Only what is asked for is kept: the whole list would fill the memory with some ten megabytes.
    return {name: _read(entry) for name, entry in entries.items() if isinstance(entry, dict)}


def _read(entry: dict[str, Any]) -> Listed:
    names = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
    values = [entry.get(name) for name in names]
    sent, received, cached = [float(value) if isinstance(value, int | float) else None for value in values]
    # The same few words, thousands of times.
    provider, mode = [sys.intern(str(entry.get(name, ""))) for name in ("litellm_provider", "mode")]
    return Listed(provider, mode, None if sent is None or received is None else Price(sent, received), cached)
