"""Finds the key for a call: by the name of a variable, at call time, into a local variable, and nowhere else.

Every key is bound to its provider: the value of `OPENAI_API_KEY` goes to the hosts of OpenAI, to hosts that an
administrator listed in `KARENINA_ALLOWED_HOSTS`, to this very computer when it is not shared, and nowhere else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from karenina_core import redact
from karenina_core.errors import ConfigError, ModelError
from karenina_core.models.endpoints import ALLOWED_HOSTS, check_endpoint, host_of, standing
from karenina_core.models.providers import matches, owner_of, provider_named
from karenina_core.models.sharing import is_shared
from karenina_core.schemas import ModelConfig

ALLOWED_VARIABLES = "KARENINA_KEY_VARIABLES"
NO_KEY = "none"  # sent to endpoints that take no key; clients refuse to send nothing
_KEY_LIKE = re.compile(r"API_?(?:KEY|TOKEN)|^HF_TOKEN$|^KARENINA_\w*KEY$")

KeySource = Callable[[str], str | None]
_source: ContextVar[KeySource | None] = ContextVar("key_source", default=None)


class _Problem(NamedTuple):
    what: str
    why: str
    next: str


@contextmanager
def using_keys(source: KeySource | None) -> Iterator[None]:
    """Ask `source` for keys before the environment, in this context and in the tasks begun in it.

    Keys typed by one person thereby serve that person's runs and nobody else's.

    Args:
        source: Gets a variable's name, returns the key or None; None leaves the environment alone.
    """
    token = _source.set(source)
    try:
        yield
    finally:
        _source.reset(token)


def check_access(config: ModelConfig) -> None:
    """Check where a model is, and whether its key may be sent there; nothing is sent and no key is read.

    Raises:
        ConfigError: With the reason and the way out.
    """
    if not config.is_provider:
        return
    if config.endpoint_base_url:
        check_endpoint(config.endpoint_base_url)
    problem = _protocol_problem(config) or _key_problem(config, provider_prefix(config))
    if problem:
        raise ConfigError(*problem)


def provider_prefix(config: ModelConfig) -> str:
    """Return the provider's name in front of the model's, or nothing when litellm is to find it out."""
    prefix, slash, _ = config.provider_model.partition("/")
    return prefix if slash else ""


def key_variable(config: ModelConfig, prefix: str | None = None) -> str | None:
    """Return the variable with the key of a model: its own, or the provider's usual one; None when there is none."""
    if config.api_key_env or config.endpoint_base_url:
        return config.api_key_env
    provider = provider_named(provider_prefix(config) if prefix is None else prefix)
    return provider.variables[0] if provider else None


def find_key(config: ModelConfig, prefix: str | None = None) -> str | None:
    """Return the key for a model, or None when the provider's own variables are to be used.

    A variable must look like the key of a model provider, or be on the list in `KARENINA_KEY_VARIABLES` when there is
    one, so that a configuration from elsewhere cannot name another secret and have it sent to an address of its own.

    Args:
        config: The model.
        prefix: Its provider as litellm found it; by the model's name when not given.

    Raises:
        ModelError: The variable is not set, or its key may not be used for this model; category `authentication`.
    """
    prefix = provider_prefix(config) if prefix is None else prefix
    problem = _key_problem(config, prefix)
    if problem:
        raise ModelError(*problem, category="authentication")
    if config.api_key_env is None:
        # With an address of its own, no provider's key may go there unasked.
        return NO_KEY if config.endpoint_base_url else _usual(prefix)
    value = _value(config.api_key_env)
    if not value:
        raise no_key(config.api_key_env, config.id)
    return value


def no_key(variable: str | None, model: str) -> ModelError:
    """Return the error that there is no key for a model in the variable that should hold it."""
    return ModelError(
        f"The environment variable {variable!r} is not set.",
        why=f"It should hold the key for {model!r}.",
        next="Set it and start again, or type the key on the page Settings; other models are not affected.",
        category="authentication",
    )


def _usual(prefix: str) -> str | None:
    provider = provider_named(prefix)
    return next((value for name in provider.variables if (value := _value(name))), None) if provider else None


def _value(name: str | None) -> str | None:
    if name is None:
        return None
    source = _source.get()
    value = (source(name) if source else None) or os.environ.get(name)
    if value:
        redact.hide(value)
    return value


def _protocol_problem(config: ModelConfig) -> _Problem | None:
    """Refuse libraries that find credentials of their own, such as those of clouds, for an address of one's own."""
    if not config.endpoint_base_url or provider_prefix(config) in ("openai", ""):
        return None
    host = host_of(config.endpoint_base_url)
    provider = provider_named(provider_prefix(config))
    if standing(host) in ("listed", "loopback") or (provider is not None and matches(host, provider.hosts)):
        return None
    return _Problem(
        f"{config.id!r} cannot be reached at {host}.",
        "Only the OpenAI protocol is spoken to addresses that do not belong to the provider.",
        "Use the interface openai_endpoint, or an administrator lists the host in " + ALLOWED_HOSTS + ".",
    )


def _key_problem(config: ModelConfig, prefix: str) -> _Problem | None:
    name = config.api_key_env
    if name is None:
        return None
    if not _is_allowed(name):
        return _Problem(
            f"The variable {name!r} may not be used as a model key.",
            "Its name does not look like the key of a model provider, or is not on the administrator's list.",
            f"Use a name such as OPENAI_API_KEY, or list it in {ALLOWED_VARIABLES}.",
        )
    return _address_problem(name, config.endpoint_base_url) if config.endpoint_base_url else _name_problem(name, prefix)


def _address_problem(name: str, url: str) -> _Problem | None:
    host, owner = host_of(url), owner_of(name)
    kind = standing(host)
    if kind == "listed" or (kind == "loopback" and not is_shared()):
        return None
    if owner is not None and matches(host, owner.hosts):
        return None
    return _Problem(
        f"The key in {name!r} may not be sent to {host}.",
        f"It belongs to {owner.title}." if owner else "It is not known whose key it is.",
        f"Leave the key out, or an administrator allows the host by naming it in {ALLOWED_HOSTS}.",
    )


def _name_problem(name: str, prefix: str) -> _Problem | None:
    owner = owner_of(name)
    if owner is None or not prefix or prefix in owner.prefixes:
        return None
    return _Problem(
        f"The key in {name!r} may not be sent to the provider {prefix!r}.",
        f"It belongs to {owner.title}.",
        "Name the variable with that provider's own key.",
    )


def _is_allowed(name: str) -> bool:
    listed = os.environ.get(ALLOWED_VARIABLES, "")
    if listed:
        return name in {item.strip() for item in listed.split(",")}
    return bool(_KEY_LIKE.search(name))
