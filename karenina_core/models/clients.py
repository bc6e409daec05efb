"""Which client serves which model, and for how long it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from karenina_core.models.openai.route import route_of
from karenina_core.models.ports import ModelClient
from karenina_core.schemas import ModelConfig


def make_client(config: ModelConfig) -> ModelClient:
    """Return a client for a model, by its interface and provider; nothing is sent yet.

    Raises:
        InputError: The configuration cannot work, such as an unknown recording or a bad address.
    """
    if config.transport == "local":
        from karenina_core.models.local.client import LocalClient

        return LocalClient(config)
    if config.transport == "recorded":
        from karenina_core.models.recorded import RecordedClient

        return RecordedClient(config)
    if config.transport == "manual":
        from karenina_core.models.manual import ManualClient

        return ManualClient(config)
    if route_of(config) is not None:
        from karenina_core.models.openai.client import OpenAIClient

        return OpenAIClient(config)
    from karenina_core.models.litellm.client import LitellmClient

    return LitellmClient(config)


def preload(configs: Iterable[ModelConfig]) -> None:
    """Load what the calls of these models need, so that the first ones do not wait for it."""
    if any(route_of(config) is not None for config in configs):
        from karenina_core.models.openai.client import load_library

        load_library()


class ClientPool:
    """Keeps one client per model configuration; configurations are not changed afterwards.

    Args:
        make: Makes a client.
    """

    def __init__(self, make: Callable[[ModelConfig], ModelClient] = make_client) -> None:
        self._make = make
        self._clients: dict[tuple[str, int], ModelClient] = {}
        self._found: dict[int, tuple[ModelConfig, ModelClient]] = {}

    def __call__(self, config: ModelConfig) -> ModelClient:
        """Return the client for a model."""
        # Mostly the very same object asks again. It is kept alive, so that its identity stays its own.
        found = self._found.get(id(config))
        if found is None:
            found = self._found[id(config)] = (config, self._client(config))
        return found[1]

    def _client(self, config: ModelConfig) -> ModelClient:
        # Prepared answers are left out of the JSON; the client keeps them alive, so their identity stays unique.
        key = (config.model_dump_json(), id(config.manual_traces))
        if key not in self._clients:
            self._clients[key] = self._make(config)
        return self._clients[key]

    async def aclose(self) -> None:
        """Release all clients."""
        self._found.clear()
        while self._clients:
            await self._clients.popitem()[1].aclose()
