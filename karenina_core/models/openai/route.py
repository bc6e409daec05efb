"""Which models are reached in the OpenAI protocol directly, where, and under which name.

| named as | goes |
|---|---|
| `interface="litellm"` | through litellm |
| an address of its own, and no prefix, `openai/`, `hosted_vllm/` or the prefix of a provider below | directly |
| a provider that speaks the protocol as it is, such as `openai/`, `openrouter/`; see `providers.py` | directly |
| a name alone that the price list knows as OpenAI's, such as `gpt-4.1-mini` | directly |
| models of OpenAI that answer in another protocol only, such as `openai/o1-pro` | through litellm |
| a provider to which the environment leads on another way: `OPENAI_BASE_URL`, `HTTPS_PROXY` | through litellm |
| everything else | through litellm |
"""

from __future__ import annotations

import os
from typing import NamedTuple
from urllib.parse import urlsplit

from karenina_core.models.endpoints import check_endpoint, host_of, standing
from karenina_core.models.keys import provider_prefix
from karenina_core.models.prices import listed
from karenina_core.models.providers import PROVIDERS, matches
from karenina_core.schemas import ModelConfig

OPENAI = "openai"
_DIRECT = {provider.prefixes[0]: provider for provider in PROVIDERS if provider.base_url}
_OF_ANY_ADDRESS = ("", OPENAI, "hosted_vllm", *_DIRECT)


class Route(NamedTuple):
    """The way to a model.

    Attributes:
        url: Where its endpoint is; without a slash at the end.
        model: Its name there.
        provider: The prefix of its provider, by which its key is found; empty for an address of one's own.
    """

    url: str
    model: str
    provider: str

    @property
    def at_openai(self) -> bool:
        """Whether the endpoint is OpenAI's own."""
        return matches(host_of(self.url), _DIRECT[OPENAI].hosts)


def route_of(config: ModelConfig) -> Route | None:
    """Return the direct way to a model; None when it is reached through litellm, or is no provider's.

    Raises:
        ConfigError: Its address cannot be used.
    """
    if not config.is_provider or config.interface == "litellm":
        return None
    prefix = provider_prefix(config)
    name = config.provider_model.removeprefix(f"{prefix}/") if prefix else config.provider_model
    route = _own(config.endpoint_base_url, prefix, name) if config.endpoint_base_url else _known(prefix, name)
    return None if route is None or _leads_over_a_proxy(route.url) else route


def _own(address: str, prefix: str, name: str) -> Route | None:
    return Route(check_endpoint(address), name, prefix) if prefix in _OF_ANY_ADDRESS else None


def _known(prefix: str, name: str) -> Route | None:
    if not prefix:
        found = listed(name)
        prefix = OPENAI if found is not None and (found.provider, found.mode) == (OPENAI, "chat") else ""
    provider = _DIRECT.get(prefix)
    if provider is None or _has_other_address(prefix):
        return None
    if prefix == OPENAI and (found := listed(name)) is not None and found.mode != "chat":
        return None
    return Route(provider.base_url, name, prefix)


def _has_other_address(prefix: str) -> bool:
    return any(os.environ.get(f"{prefix.upper()}_{ending}") for ending in ("API_BASE", "BASE_URL"))


def _leads_over_a_proxy(url: str) -> bool:
    """Say whether a provider is reached by the environment's proxy; other addresses never are."""
    host = host_of(url)
    if standing(host) != "provider":
        return False
    from urllib.request import getproxies_environment, proxy_bypass

    proxies = getproxies_environment()
    found = proxies.get(urlsplit(url).scheme) or proxies.get("all")
    return bool(found) and not proxy_bypass(host)
