"""Whether one person uses this process, or a group does.

On a person's own computer that person decides where models are. On a server every member could send requests from
inside its network, so addresses there need an administrator's word.
"""

from __future__ import annotations

import os

SHARED_VARIABLE = "KARENINA_SHARED"
_YES = {"1", "true", "yes", "on"}
_serving_others = False


def is_shared() -> bool:
    """Say whether several people use this process: `KARENINA_SHARED=1`, or the app found that it serves others."""
    return _serving_others or os.environ.get(SHARED_VARIABLE, "").strip().lower() in _YES


def serve_others(others: bool = True) -> None:
    """Note that the app can be reached by others than the person at this computer."""
    global _serving_others
    _serving_others = others
