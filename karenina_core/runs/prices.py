"""What a model costs here: by a person's own price, or by the list's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

from karenina_core.models import ChatReply, ChatRequest, ModelClient, Price, make_client, price_of
from karenina_core.schemas import ModelConfig, VerificationConfig

Prices = Mapping[str, Price]


class Quote(NamedTuple):
    """The price of a model, and whose word it is.

    Attributes:
        name: Names the model among prices.
        price: US dollars per token; None when nobody knows.
        source: `yours`, `list` or `unknown`.
    """

    name: str
    price: Price | None
    source: Literal["yours", "list", "unknown"]


def price_name(config: ModelConfig) -> str:
    """Return what a model's price is kept under: its name at the provider, with the address if it has its own."""
    name = config.provider_model
    return f"{name} at {config.endpoint_base_url}" if config.endpoint_base_url else name


def quote(config: ModelConfig, own: Prices) -> Quote:
    """Return the price of a model; a person's own comes before the list's."""
    name = price_name(config)
    if config.is_provider and name in own:
        return Quote(name, own[name], "yours")
    listed = price_of(config)
    return Quote(name, listed, "unknown" if listed is None else "list")


def spent_in_words(cost: float | None, config: VerificationConfig, own: Prices, asked: int | None = None) -> str:
    """Say what a run has spent; calls whose price nobody knows are in no sum, and it says so.

    Args:
        cost: US dollars of the calls whose price is known.
        config: Of the run.
        own: A person's own prices.
        asked: Calls of the run that nothing stored answered, where that is known; without any, nothing is spent.
    """
    if asked == 0 and not cost:
        return "nothing"
    models = (*config.answering_models, *config.parsing_models)
    unknown = cost is None or any(quote(model, own).price is None for model in models if model.is_provider)
    if not cost:
        return "unknown" if unknown else "nothing"
    return f"at least ${cost:.4f}" if unknown else f"${cost:.4f}"


class PricedClient:
    """A client whose replies cost what a person has said they cost."""

    def __init__(self, client: ModelClient, price: Price) -> None:
        self.config = client.config
        self._client = client
        self._price = price

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one attempt.

        Raises:
            ModelError: With its category.
        """
        reply = await self._client.complete(request)
        usage = reply.usage
        if usage.input_tokens is None or usage.output_tokens is None:
            return reply
        cost = self._price.of(usage.input_tokens, usage.output_tokens)
        return replace(reply, usage=usage.model_copy(update={"cost": cost}))

    async def aclose(self) -> None:
        """Release what the client holds."""
        await self._client.aclose()


def client_at(
    own: Prices, make: Callable[[ModelConfig], ModelClient] = make_client
) -> Callable[[ModelConfig], ModelClient]:
    """Return what makes clients, priced by a person's own prices where there are any."""

    def client_of(config: ModelConfig) -> ModelClient:
        client, known = make(config), quote(config, own)
        return PricedClient(client, known.price) if known.source == "yours" and known.price is not None else client

    return client_of
