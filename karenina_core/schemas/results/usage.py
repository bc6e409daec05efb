"""Tokens and money."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karenina_core.schemas.results.part import Part, built


class Usage(Part):
    """Tokens and money of one or several calls.

    Attributes:
        input_tokens: Tokens sent; None when the provider did not say.
        output_tokens: Tokens received.
        cost: US dollars; None when no price is known.
        calls: Number of model calls, answered from the ledger or not.
        cached_calls: How many of them the ledger answered.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    calls: int = 0
    cached_calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return total_usage((self, other))


def total_usage(usages: Sequence[Usage]) -> Usage:
    """Return what several calls took together; what none of them says is None."""
    return built(
        Usage,
        input_tokens=_total([usage.input_tokens for usage in usages]),
        output_tokens=_total([usage.output_tokens for usage in usages]),
        cost=_total([usage.cost for usage in usages]),
        calls=sum([usage.calls for usage in usages]),
        cached_calls=sum([usage.cached_calls for usage in usages]),
    )


def _total(values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
