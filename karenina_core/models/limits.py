"""How fast one model may be called: the rules and their numbers. `limiter` applies them to calls.

Nothing here waits: every class says how many calls may be in flight, or how many seconds until the next one.
"""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterable

from karenina_core.schemas import Usage

Clock = Callable[[], float]
JITTER = random.SystemRandom()  # a seed set for the whole process must not make all callers return together
LONGEST_RETRY_AFTER = 600.0  # seconds; a provider that asks for more is not waited for

FIRST = 64  # calls in flight before anything is known of a provider; three quarters of the ceiling where that is more
CUT = 0.8  # of the limit stays when the provider asks for a slower pace
DEEPEST_CUT = 0.25  # stays at least, however many calls in flight at that moment are refused
GROWTH = 0.05  # of the limit is added after a clean round
SHORTEST_ROUND = 0.25  # seconds, once there was a refusal; quick answers are no reason for quick growth
USED = 0.8  # of the limit was in use, or there is no reason to raise it
BLIND = 4  # not cut below this while every call is refused: that says nothing about concurrency

BURST = 1.0  # seconds' worth of calls or tokens that may come at once, where that is more than one
CHARACTERS_PER_TOKEN = 4
USUAL_REPLY = 256.0  # tokens, until replies tell

SUSPEND_AFTER = 10  # failures in a row
FIRST_PROBE = 1.0  # seconds until a single call probes whether the model is back; doubles
LONGEST_PROBE = 60.0
FIRST_HOLD = 0.3  # seconds without a call after a wave of refusals, while nothing is answered; doubles
LONGEST_HOLD = 5.0  # where the provider does not say how long it wants to wait
REFUSAL_PER_ATTEMPT = 30.0  # seconds of refusals only, for each attempt of a call, until the model is given up


class ConcurrencyLimit:
    """How many calls of a model may be in flight: additive increase, multiplicative decrease.

    It begins at `FIRST` and grows by one with every answer until the provider first asks for a slower pace, and by a
    twentieth per round from then on; only while the limit is in use. A round is as many answers as the limit, and
    takes at least `SHORTEST_ROUND`. A refusal keeps four fifths of the limit. Further refusals of calls that were in
    flight at that moment show how many the provider accepts, and bring the limit down to that, at most to a quarter.
    Failures of the provider's own only postpone growth.

    Args:
        ceiling: At least 1.
        adaptive: False holds the limit at the ceiling.
        clock: Seconds.

    Attributes:
        limit: Calls that may be in flight now.
        wave: Number of cuts so far; a call keeps the number it began with.
    """

    def __init__(self, ceiling: int, adaptive: bool = True, clock: Clock = time.monotonic) -> None:
        self.limit = 1
        self.wave = 0
        self._clock = clock
        self._round_until = 0.0
        self._before_cut = 1
        self._peak = 0
        self._answers = 0
        self._clean = True
        self._all_refused = True
        self.set_ceiling(ceiling, adaptive)

    def set_ceiling(self, ceiling: int, adaptive: bool = True) -> None:
        """Set another ceiling; what was found out stays, as far as it is below."""
        self.ceiling, self._adaptive = max(1, ceiling), adaptive
        if not adaptive:
            self.limit = self.ceiling
            return
        if not self.wave:
            self.limit = max(self.limit, FIRST, self.ceiling * 3 // 4)
        self.limit = min(self.limit, self.ceiling)

    def began(self, in_flight: int) -> None:
        """Note that a call began; `in_flight` counts it."""
        self._peak = max(self._peak, in_flight)

    def answered(self) -> None:
        """Note an answer."""
        self._all_refused = False
        self._answers += 1
        if not self.wave:
            self._grow(1)
        if self._answers >= self.limit and (not self.wave or self._clock() >= self._round_until):
            if self.wave:
                self._grow(max(1, int(self.limit * GROWTH)))
            self._begin_round(0)
            self._clean = True

    def failed(self) -> None:
        """Note a failure that says nothing about the pace: this round raises nothing."""
        self._clean = False

    def refused(self, wave: int, in_flight: int) -> bool:
        """Note that the provider asks for a slower pace, and say whether this is news.

        Args:
            wave: What `wave` was when the refused call began.
            in_flight: Calls that are still in flight.
        """
        self._clean = False
        news = wave == self.wave
        if self._adaptive and wave >= self.wave - 1:
            if news:
                self._before_cut = self.limit
                lowest, wanted = 1, int(self.limit * CUT)
            else:
                lowest, wanted = math.ceil(self._before_cut * DEEPEST_CUT), in_flight
            lowest = max(lowest, min(BLIND, self.limit) if self._all_refused else 1)
            self.limit = min(self.limit, max(lowest, wanted))
        if news:
            self.wave += 1
            self._all_refused = True
            self._begin_round(in_flight)
        return news

    def _begin_round(self, peak: int) -> None:
        self._answers, self._peak = 0, peak
        self._round_until = self._clock() + SHORTEST_ROUND

    def _grow(self, step: int) -> None:
        if self._adaptive and self._clean and self._peak >= USED * self.limit:
            self.limit = min(self.ceiling, self.limit + step)


class Bucket:
    """Calls or tokens per minute, evenly; a second's worth may come at once.

    More may be taken than there is: whoever comes next waits for it. That is how a call is admitted by an estimate
    and settled by what it really took.

    Attributes:
        per_minute: None without a limit.
    """

    def __init__(self, per_minute: float | None = None, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._paid_until = -math.inf
        self.set_rate(per_minute)

    def set_rate(self, per_minute: float | None) -> None:
        """Set another rate; one that stays as it is forgets nothing."""
        self.per_minute = per_minute
        self._each = 60.0 / per_minute if per_minute else 0.0
        self._burst = BURST if self._each < BURST else 0.0

    def wait(self) -> float:
        """Return the seconds until something may be taken."""
        return max(0.0, self._paid_until - self._burst - self._clock()) if self.per_minute else 0.0

    def take(self, amount: float) -> None:
        """Take an amount."""
        self._paid_until = max(self._paid_until, self._clock()) + amount * self._each

    def settle(self, more: float) -> None:
        """Take more, or give back with a negative amount, once the truth is known."""
        self._paid_until += more * self._each


class RateBudget:
    """Requests and tokens per minute.

    A call takes an estimate of its tokens when it begins and is settled by what it really took.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._requests, self._tokens = Bucket(clock=clock), Bucket(clock=clock)
        self._usual_reply = USUAL_REPLY

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return bool(self._requests.per_minute or self._tokens.per_minute)

    def set_limits(self, requests: Iterable[float | None], tokens: Iterable[float | None]) -> None:
        """Hold calls to the narrowest of some limits per minute."""
        self._requests.set_rate(min(filter(None, requests), default=None))
        self._tokens.set_rate(min(filter(None, tokens), default=None))

    def estimate(self, characters: int) -> int:
        """Return about how many tokens a prompt of so many characters and its reply take."""
        return characters // CHARACTERS_PER_TOKEN + int(self._usual_reply)

    def wait(self) -> float:
        """Return the seconds until another call may begin."""
        return max(self._requests.wait(), self._tokens.wait())

    def take(self, tokens: int) -> None:
        """Note that a call begins, with the estimate of its tokens."""
        self._requests.take(1)
        self._tokens.take(tokens)

    def settle(self, tokens: int, usage: Usage | None) -> None:
        """Replace the estimate of a call by what it took, as far as the provider says; None gives it back."""
        if usage is None:
            self._tokens.settle(-tokens)
        elif usage.output_tokens is not None:
            self._usual_reply += 0.2 * (usage.output_tokens - self._usual_reply)
            self._tokens.settle((usage.input_tokens or 0) + usage.output_tokens - tokens)


class CircuitBreaker:
    """When a model that does not answer is asked again, and when it is given up.

    Refusals for the pace: nothing is sent for a moment that doubles with every wave of refusals, or, from the second
    wave on, for as long as the provider asks. Failures (no connection, no answer in time, an error of
    the provider's own): after `SUSPEND_AFTER` in a row the model is suspended; single calls probe it after times that
    double, and after as many of them as a call has attempts it is given up. Any answer ends all that.

    Args:
        clock: Seconds.
        jitter: Returns a number between two others.

    Attributes:
        calm: Nothing is the matter, so nothing needs to be looked at.
        suspended: One call at a time, as a probe.
        failures: In a row.
        attempts: Chances a model has; may change at any time.
    """

    def __init__(self, clock: Clock = time.monotonic, jitter: Callable[[float, float], float] = JITTER.uniform) -> None:
        self._clock = clock
        self._jitter = jitter
        self.attempts = 4
        self._reset()

    def answered(self) -> None:
        """Note that the model answered."""
        if not self.calm or self.failures:
            self._reset()

    def _reset(self) -> None:
        self.calm = True
        self.suspended = False
        self.failures = 0
        self._silent_until = -math.inf
        self._waves = 0
        self._probes = 0
        self._refused_since = 0.0

    def wait(self) -> float:
        """Return the seconds until something may be sent."""
        return 0.0 if self.calm else max(0.0, self._silent_until - self._clock())

    def refused(self, retry_after: float | None) -> bool:
        """Note a wave of refusals for the pace, and say whether the model is to be given up."""
        now = self._clock()
        if not self._waves:
            self._refused_since = now
        self.calm, self.suspended, self.failures, self._probes = False, False, 0, 0
        longest = min(LONGEST_HOLD, FIRST_HOLD * 2.0 ** min(self._waves, 10))
        hold = self._jitter(longest / 2, longest)
        if retry_after is not None:
            # The first refusal may concern that call alone; the others are not to wait for as long.
            hold = retry_after if self._waves else min(retry_after, hold)
        self._silent_until = max(self._silent_until, now + hold)
        self._waves += 1
        return self._waves > 1 and now - self._refused_since >= REFUSAL_PER_ATTEMPT * self.attempts

    def failed(self, probe: bool) -> bool:
        """Note a failure, and say whether the model is to be given up.

        Args:
            probe: The call was made to see whether the model is back.
        """
        self.failures += 1
        if not self.suspended:
            if self.failures < SUSPEND_AFTER:
                return False
            self.suspended, self.calm = True, False
            self._silent_until = self._clock() + FIRST_PROBE
        elif probe:
            self._probes += 1
            self._silent_until = self._clock() + min(LONGEST_PROBE, FIRST_PROBE * 2.0**self._probes)
        return self._probes >= self.attempts


class Rate:
    """Counts events, and says how many there are per minute.

    It looks at the last minute, or at the last ten events when they took longer, and falls while nothing happens.

    Args:
        clock: Seconds.
    """

    WINDOW = 60.0  # seconds
    FEWEST = 10  # events that are looked at, also when they took longer than the window
    MOST = 2000
    SOONEST = 1.0  # seconds of watching, and
    ENOUGH = 2  # events, before anything is known

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._moments: deque[float] = deque(maxlen=self.MOST)
        self._since = clock()

    def add(self) -> None:
        """Count an event."""
        self._moments.append(self._clock())

    def restart(self) -> None:
        """Measure anew from this moment, such as after a pause."""
        self._moments.clear()
        self._since = self._clock()

    @property
    def per_minute(self) -> float | None:
        """Events per minute; None while too little was seen."""
        now, moments = self._clock(), self._moments
        if len(moments) < self.ENOUGH or now - self._since < self.SOONEST:
            return None
        begin = now - self.WINDOW
        if len(moments) == self.MOST:
            begin = max(begin, moments[0])
        begin = min(begin, moments[-self.FEWEST]) if len(moments) >= self.FEWEST else self._since
        if begin <= self._since:
            return 60.0 * len(moments) / (now - self._since)
        return 60.0 * sum(1 for moment in moments if moment > begin) / (now - begin)
