"""How many requests and tokens a model may be sent per minute, over all runs that share its lane."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from karenina_core.models.pace.limits import Bucket, Clock, ModelLimits
from karenina_core.schemas import Usage

CHARACTERS_PER_TOKEN = 4
USUAL_REPLY = 256.0  # tokens, until replies tell


class Allowance:
    """Requests and tokens per minute; where neither is limited, nothing is counted.

    A call takes its estimate when it begins and is settled by what it really took.

    Args:
        clock: Seconds.

    Attributes:
        buckets: One for each of the two that is limited.
        counts_tokens: Whether tokens are limited, so that calls need an estimate.
    """

    def __init__(self, clock: Clock) -> None:
        self.buckets: tuple[Bucket, ...] = ()
        self.counts_tokens = False
        self._clock = clock
        self._requests: Bucket | None = None
        self._tokens: Bucket | None = None
        self._usual_reply = USUAL_REPLY

    def follow(self, settings: Collection[ModelLimits]) -> None:
        """Hold calls to the narrowest of some settings; a limit that stays as it is forgets nothing."""
        self._requests = self._narrowest(self._requests, (limits.requests_per_minute for limits in settings))
        self._tokens = self._narrowest(self._tokens, (limits.tokens_per_minute for limits in settings))
        self.buckets = tuple(bucket for bucket in (self._requests, self._tokens) if bucket is not None)
        self.counts_tokens = self._tokens is not None

    def estimate(self, characters: int) -> int:
        """Return the tokens that a prompt of so many characters and its reply are going to take, about."""
        return characters // CHARACTERS_PER_TOKEN + int(self._usual_reply)

    def wait(self) -> float:
        """Return the seconds until another call may begin."""
        return max((bucket.wait() for bucket in self.buckets), default=0.0)

    def take(self, tokens: int) -> None:
        """Note that a call begins, with the estimate of its tokens."""
        if self._requests is not None:
            self._requests.take(1)
        if self._tokens is not None:
            self._tokens.take(tokens)

    def settle(self, tokens: int, usage: Usage) -> None:
        """Replace the estimate of a call by what it took, if its provider says so."""
        if self._tokens is not None and usage.output_tokens is not None:
            self._usual_reply += 0.2 * (usage.output_tokens - self._usual_reply)
            self._tokens.settle((usage.input_tokens or 0) + usage.output_tokens - tokens)

    def give_back(self, tokens: int) -> None:
        """Return the estimate of a call that failed; its request is spent."""
        if self._tokens is not None:
            self._tokens.settle(-tokens)

    def _narrowest(self, bucket: Bucket | None, per_minute: Iterable[float | None]) -> Bucket | None:
        narrowest = min((number for number in per_minute if number), default=None)
        if narrowest is None:
            return None
        return bucket if bucket is not None and bucket.per_minute == narrowest else Bucket(narrowest, self._clock)
