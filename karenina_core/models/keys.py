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

from karenina_core import redact
from karenina_core.errors import ConfigError, ModelError
from karenina_core.models.endpoints import ALLOWED_HOSTS, check_endpoint, host_of, standing
from karenina_core.models.providers import matches, owner_of, provider_named
from karenina_core.models.sharing import check_place, is_shared
from karenina_core.schemas import ModelConfig

ALLOWED_VARIABLES = "KARENINA_KEY_VARIABLES"
NO_KEY = "none"  # sent to endpoints that take no key; clients refuse to send nothing
_KEY_LIKE = re.compile(r"API_?(?:KEY|TOKEN)|^HF_TOKEN$|^KARENINA_\w*KEY$")

KeySource = Callable[[str], str | None]
_source: ContextVar[KeySource | None] = ContextVar("key_source", default=None)


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


def check_access(config: ModelConfig) -> None:
    """Check where a model is, and whether its key may be sent there; nothing is sent and no key is read.

    Raises:
        ConfigError: With the reason and the way out.
    """
    if config.transport == "local" and config.model_name:
        check_place(config.model_name)
    if not config.is_provider:
        return
    if config.endpoint_base_url:
        check_endpoint(config.endpoint_base_url)
        _check_protocol(config, host_of(config.endpoint_base_url))
    _check_key(config, provider_prefix(config))


def find_key(config: ModelConfig, prefix: str | None = None) -> str | None:
    """Return the key for a model, or None when the provider's own variables are to be used.

    A variable must look like the key of a model provider, on a shared server be that of a known one, or be on the list
    in `KARENINA_KEY_VARIABLES` when there is one, so that a configuration from elsewhere cannot name another secret and
    have it sent somewhere.

    Args:
        config: The model.
        prefix: Its provider as litellm found it; by the model's name when not given.

    Raises:
        ModelError: The variable is not set, or its key may not be used for this model; category `authentication`.
    """
    prefix = provider_prefix(config) if prefix is None else prefix
    try:
        _check_key(config, prefix)
    except ConfigError as error:
        raise ModelError(error.what, error.why, error.next, category="authentication") from None
    if config.api_key_env is None:
        if config.endpoint_base_url:
            return NO_KEY  # no provider's key may go to an address of one's own unasked
        provider = provider_named(prefix)
        return next((value for name in provider.variables if (value := _value(name))), None) if provider else None
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


def _value(name: str) -> str | None:
    source = _source.get()
    value = (source(name) if source else None) or os.environ.get(name)
    if value:
        redact.hide(value)
    return value


def _check_protocol(config: ModelConfig, host: str) -> None:
    """Refuse libraries that find credentials of their own, such as those of clouds, for an address of one's own."""
    prefix = provider_prefix(config)
    provider = provider_named(prefix)
    if prefix in ("openai", "") or standing(host) in ("listed", "loopback"):
        return
    if provider is None or not matches(host, provider.hosts):
        raise ConfigError(
            f"{config.id!r} cannot be reached at {host}.",
            "Only the OpenAI protocol is spoken to addresses that do not belong to the provider.",
            "Use the interface openai_endpoint, or an administrator lists the host in " + ALLOWED_HOSTS + ".",
        )


def _check_key(config: ModelConfig, prefix: str) -> None:
    name = config.api_key_env
    if name is None:
        return
    listed = os.environ.get(ALLOWED_VARIABLES, "")
    owner = owner_of(name)
    # A server has keys of other services too; whose they are, their names do not tell.
    usual = owner if is_shared() else _KEY_LIKE.search(name)
    if not (name in map(str.strip, listed.split(",")) if listed else usual):
        raise ConfigError(
            f"The variable {name!r} may not be used as a model key.",
            "Its name is not that of a model provider's key, or is not on the administrator's list.",
            f"Use a name such as OPENAI_API_KEY, or list it in {ALLOWED_VARIABLES}.",
        )
    if config.endpoint_base_url:
        host = host_of(config.endpoint_base_url)
        kind = standing(host)
        trusted = kind == "listed" or (kind == "loopback" and not is_shared())
        if not trusted and (owner is None or not matches(host, owner.hosts)):
            raise ConfigError(
                f"The key in {name!r} may not be sent to {host}.",
                f"It belongs to {owner.title}." if owner else "It is not known whose key it is.",
                f"Leave the key out, or an administrator allows the host by naming it in {ALLOWED_HOSTS}.",
            )
    elif owner is not None and prefix and prefix not in owner.prefixes:
        raise ConfigError(
            f"The key in {name!r} may not be sent to the provider {prefix!r}.",
            f"It belongs to {owner.title}.",
            "Name the variable with that provider's own key.",
        )
