"""Finds the key for a call: by the name of a variable, at call time, into a local variable, and nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from karenina_core import redact
from karenina_core.errors import ModelError
from karenina_core.schemas.config import ModelConfig

ALLOWED_VARIABLES = "KARENINA_KEY_VARIABLES"
NO_KEY = "none"  # sent to endpoints that take no key; clients refuse to send nothing
_KEY_LIKE = re.compile(r"API_?(?:KEY|TOKEN)|^HF_TOKEN$|^KARENINA_")

KeySource = Callable[[str], str | None]
_source: KeySource | None = None


def set_key_source(source: KeySource | None) -> None:
    """Ask `source` for a variable's value before the environment, such as for keys entered in a session.

    Args:
        source: Gets the variable's name, returns the key or None; None removes the source.
    """
    global _source
    _source = source


def find_key(config: ModelConfig) -> str | None:
    """Return the key for a model, or None when the provider's usual variable is to be used.

    A variable must look like the key of a model provider, or be on the list in `KARENINA_KEY_VARIABLES` when there is
    one, so that a configuration from elsewhere cannot name another secret and have it sent to an address of its own.

    Raises:
        ModelError: The variable is not set or not allowed; category `authentication`.
    """
    name = config.api_key_env
    if name is None:
        # With an address of its own, no provider's key may go there unasked.
        return NO_KEY if config.endpoint_base_url else None
    if not _is_allowed(name):
        raise ModelError(
            f"The variable {name!r} may not be used as a model key.",
            why="Its name does not look like the key of a model provider.",
            next=f"Use a name such as OPENAI_API_KEY, or list it in {ALLOWED_VARIABLES}.",
            category="authentication",
        )
    value = (_source(name) if _source else None) or os.environ.get(name)
    if not value:
        raise ModelError(
            f"The environment variable {name!r} is not set.",
            why=f"It should hold the key for {config.id!r}.",
            next="Set it and start again; other models are not affected.",
            category="authentication",
        )
    redact.hide(value)
    return value


def _is_allowed(name: str) -> bool:
    listed = os.environ.get(ALLOWED_VARIABLES, "")
    if listed:
        return name in {item.strip() for item in listed.split(",")}
    return bool(_KEY_LIKE.search(name))
