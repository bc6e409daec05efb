"""The ways to reach a model, one file each, and which one serves which model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import NamedTuple

from karenina_core.errors import ConfigError
from karenina_core.models.clients.openai import load_library, route_of
from karenina_core.models.embeddings import check_embedder
from karenina_core.models.ports import ModelClient
from karenina_core.schemas import ModelConfig, VerificationConfig


class ClientKind(NamedTuple):
    """One way to reach a model.

    Attributes:
        module: The file in this folder; loaded when the first client is made.
        name: The class in it, a `ModelClient` that is made of a `ModelConfig`.
        serves: Says whether it reaches a model.
    """

    module: str
    name: str
    serves: Callable[[ModelConfig], bool]


CLIENTS = (
    ClientKind("local", "LocalClient", lambda config: config.transport == "local"),
    ClientKind("recorded", "RecordedClient", lambda config: config.transport == "recorded"),
    ClientKind("manual", "ManualClient", lambda config: config.transport == "manual"),
    ClientKind("openai", "OpenAIClient", lambda config: route_of(config) is not None),
    ClientKind("litellm", "LitellmClient", lambda config: config.is_provider),
)
"""The first one that serves a model is taken."""


def make_client(config: ModelConfig) -> ModelClient:
    """Return a client for a model; nothing is sent yet.

    Raises:
        ConfigError: It cannot be asked: an unknown recording, a missing file, a bad address, a key for elsewhere.
        InputError: A file of the configuration cannot be read.
        MissingDependencyError: What a local model needs is not installed.
    """
    kind = next(kind for kind in CLIENTS if kind.serves(config))
    make: Callable[[ModelConfig], ModelClient] = getattr(import_module(f"{__name__}.{kind.module}"), kind.name)
    return make(config)


def check_model(model: ModelConfig) -> None:
    """Check before anything is stored or spent that a model can be asked; raises what `make_client` does."""
    make_client(model)


def check_models(config: VerificationConfig) -> None:
    """Check all models of a run likewise; prepared answers cannot judge."""
    if config.embedding_check_enabled:
        check_embedder(config.embedding_check_model)
    for model in config.parsing_models:
        if model.transport == "manual":
            raise ConfigError(
                f"{model.id!r} cannot judge.", "Prepared answers only answer.", "Choose a model that can be asked."
            )
    for model in (*config.answering_models, *config.parsing_models):
        check_model(model)


def preload(configs: Iterable[ModelConfig]) -> None:
    """Load what the calls of these models need, so that the first ones do not wait for it."""
    if any(route_of(config) is not None for config in configs):
        load_library()


class ClientPool:
    """Keeps one client per model configuration; configurations are not changed afterwards.

    Args:
        make: Makes a client.
    """

    def __init__(self, make: Callable[[ModelConfig], ModelClient] = make_client) -> None:
        self._make = make
        self._clients: dict[tuple[str, int], ModelClient] = {}

    def __call__(self, config: ModelConfig) -> ModelClient:
        """Return the client for a model."""
        # Prepared answers are left out of the JSON; the client keeps them alive, so their identity stays unique.
        key = (config.model_dump_json(), id(config.manual_traces))
        if key not in self._clients:
            self._clients[key] = self._make(config)
        return self._clients[key]

    async def aclose(self) -> None:
        """Release all clients."""
        while self._clients:
            await self._clients.popitem()[1].aclose()
