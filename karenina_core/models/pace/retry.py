"""Which failures are tried again, and when. The only retry layer: the provider libraries have theirs switched off.

What passes by itself is tried again: a rate limit or an overload after the time the provider asks for; no connection,
no answer in time and errors of the provider's own after a random time that grows. A wrong key, a missing model, a
request that is not accepted, a prompt that is too long and a refusal to answer cost one request.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

from karenina_core.errors import ModelError

Sleep = Callable[[float], Awaitable[None]]
OnRetry = Callable[[ModelError, float], None]

FIRST_WAIT = 1.0  # seconds; doubles with every attempt
LONGEST_WAIT = 60.0
JITTER = random.SystemRandom()  # a seed set for the whole process must not make all callers return together
LONGEST_RETRY_AFTER = 600.0  # a provider that asks for more is not waited for


def seconds_to_wait(error: ModelError, number: int) -> float:
    """Return how long to wait after the attempt with this number, counted from 1.

    A provider's own word counts, plus up to a second so that not all callers return at the same moment; otherwise any
    time between nothing and a bound that doubles with every attempt.
    """
    if error.retry_after is not None:
        return error.retry_after + JITTER.uniform(0, min(1.0, error.retry_after))
    return JITTER.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2 ** (number - 1)))


def worth_another(error: ModelError) -> bool:
    """Say whether the same request may succeed after a wait that makes sense."""
    return error.retryable and (error.retry_after or 0.0) <= LONGEST_RETRY_AFTER
