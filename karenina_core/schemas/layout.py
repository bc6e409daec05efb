"""Read-only models by the thousand: what all of them have alike is kept once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import BaseModel

_set = object.__setattr__


def share_layout(model: BaseModel) -> None:
    """Let a model share its attributes' names, and the set of those that were given, with others of its class.

    A dictionary with names of its own and a set are more than half the memory of a small model. To be called from
    `model_post_init` of a frozen class: nothing may change the set afterwards.
    """
    own, layout = vars(model), _layout(type(model))
    if len(own) == len(layout):
        shared = layout.copy()
        shared.update(own)
        _set(model, "__dict__", shared)
    _set(model, "__pydantic_fields_set__", _same_set(frozenset(model.__pydantic_fields_set__)))


@lru_cache(maxsize=256)
def _layout(kind: type[BaseModel]) -> dict[str, Any]:
    """Return the attributes of a blank model; copies of this dictionary share its keys and hold only values."""
    blank = kind.__new__(kind)
    for name in kind.model_fields:
        _set(blank, name, None)
    return vars(blank)


@lru_cache(maxsize=1024)
def _same_set(names: frozenset[str]) -> set[str]:
    return set(names)
