"""Whether one person uses this process, or a group does.

On a person's own computer that person decides where models are. On a server every member, or a configuration from a
file, could send requests from inside its network or have any of its files read, so addresses and places there need an
administrator's word.
"""

from __future__ import annotations

import os
from pathlib import Path

from karenina_core.errors import ConfigError

SHARED_VARIABLE = "KARENINA_SHARED"
ALLOWED_MODELS = "KARENINA_ALLOWED_MODELS"
_YES = {"1", "true", "yes", "on"}
_serving_others = False


def is_shared() -> bool:
    """Say whether several people use this process: `KARENINA_SHARED=1`, or the app found that it serves others."""
    return _serving_others or os.environ.get(SHARED_VARIABLE, "").strip().lower() in _YES


def serve_others(others: bool = True) -> None:
    """Note that the app can be reached by others than the person at this computer."""
    global _serving_others
    _serving_others = others


def check_place(name: str, *known: str) -> None:
    """Refuse on a shared server a model or file in it that its administrator has not listed; nothing is looked up.

    Args:
        name: A path, or the name of a model, as a configuration has it.
        *known: Names that may always be used.

    Raises:
        ConfigError: It is neither listed in `KARENINA_ALLOWED_MODELS` nor in a folder that is.
    """
    if not is_shared() or name in known:
        return
    listed = [entry.strip() for entry in os.environ.get(ALLOWED_MODELS, "").split(",") if entry.strip()]
    folders = [os.path.realpath(entry) for entry in listed if os.path.isabs(entry)]
    place = Path(os.path.realpath(os.path.expanduser(name.replace("\0", ""))))
    if name not in listed and not any(map(place.is_relative_to, folders)):
        raise ConfigError(
            f"{name!r} may not be loaded here.",
            "This server is shared, and its administrator has listed neither this model nor its folder.",
            f"Use another model, or have it listed in {ALLOWED_MODELS}.",
        )
