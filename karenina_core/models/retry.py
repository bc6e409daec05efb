"""The only retry layer: litellm and the provider libraries have theirs switched off."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from karenina_core.errors import ModelError

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]
OnRetry = Callable[[ModelError, float], None]

FIRST_WAIT = 1.0  # seconds; doubles with every attempt
LONGEST_WAIT = 60.0
LONGEST_RETRY_AFTER = 600.0  # a provider that asks for more is not waited for


async def with_retries(
    attempt: Callable[[], Awaitable[T]],
    *,
    max_attempts: int,
    sleep: Sleep = asyncio.sleep,
    on_retry: OnRetry | None = None,
) -> T:
    """Make attempts until one succeeds, fails for good, or the attempts are used up.

    Args:
        attempt: Makes one attempt; raises `ModelError`.
        max_attempts: At least 1.
        sleep: Waits; replaceable in tests.
        on_retry: Told the error and the seconds waited before each further attempt.

    Raises:
        ModelError: Of the last attempt.
    """
    for number in range(1, max_attempts + 1):
        try:
            return await attempt()
        except ModelError as error:
            if number == max_attempts or not _worth_waiting(error):
                raise
            wait = seconds_to_wait(error, number)
            if on_retry is not None:
                on_retry(error, wait)
        await sleep(wait)
    raise ValueError(f"max_attempts must be at least 1, not {max_attempts}")


def seconds_to_wait(error: ModelError, number: int) -> float:
    """Return how long to wait after the attempt with this number, counted from 1.

    A provider's own word counts, plus up to a second so that not all callers return at the same moment; otherwise any
    time between nothing and a bound that doubles with every attempt.
    """
    if error.retry_after is not None:
        return error.retry_after + random.uniform(0, min(1.0, error.retry_after))
    return random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2 ** (number - 1)))


def _worth_waiting(error: ModelError) -> bool:
    return error.retryable and (error.retry_after or 0.0) <= LONGEST_RETRY_AFTER
