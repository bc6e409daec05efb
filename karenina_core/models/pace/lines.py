"""What one run asks of one model with one key: its calls, its counts, and whether the model is given up."""

from __future__ import annotations

import time
from typing import Protocol

from karenina_core.errors import ModelError
from karenina_core.models.pace.limits import Clock
from karenina_core.models.pace.rate import Rate

LaneName = tuple[str, str]
"""Address or provider, and the model's name there."""

_ANSWERED: set[tuple[LaneName, int]] = set()  # models that answered in this process, with a hash of the key


class StoppedError(ModelError):
    """A call that was not made, because the model has been given up for the rest of the run.

    Args:
        names: Labels of the model.
        cause: The failure that ended it; its category and its words are kept.
    """

    def __init__(self, names: str, cause: ModelError) -> None:
        why = " ".join(part for part in (cause.what, cause.why) if part)
        super().__init__(f"{names} was not asked again.", why, cause.next, category=cause.category)

    @property
    def retryable(self) -> bool:
        """False: the model is asked again when the run is resumed."""
        return False


class Pumped(Protocol):
    """Something with calls that wait.

    Attributes:
        in_flight: Calls that wait no more.
    """

    in_flight: int

    def pump(self) -> None:
        """Let in whoever may go on."""
        ...


class Bound:
    """Calls that one run may have in flight at once, over all models.

    Attributes:
        ceiling: At least 1; may change at any time.
        in_flight: Calls that have a seat.
        blocked: Lanes with calls that wait for this run's bound.
        closed: Nothing more is to begin.
    """

    __slots__ = ("blocked", "ceiling", "closed", "in_flight")

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self.in_flight = 0
        self.closed = False
        self.blocked: set[Pumped] = set()


class Line:
    """The calls that one run makes of one model with one key.

    Args:
        model: Address or provider, and the model's name.
        run: The run's bound.
        key: Something that tells keys apart without being one; None where no key is used.
        clock: Seconds.

    Attributes:
        known: Whether the model accepted the key, or does not need one.
        scouting: Whether a call is finding that out, and the others wait for it.
        names: Labels under which the run knows the model.
        stopped: The failure after which it is not called any more, if there was one.
        resting: Calls between two attempts, by their key: failure category, and the clock's time of the next attempt.
        throttled: How often the provider asked for a slower pace.
        answered: Whether the model gave an answer in this run; one that did exists.
        cost: US dollars, None when no price is known.
    """

    def __init__(self, model: LaneName, run: Bound, key: int | None, clock: Clock = time.monotonic) -> None:
        self.run = run
        self.clock = clock
        self.names: list[str] = []
        self.stopped: ModelError | None = None
        self.resting: dict[str, tuple[str, float]] = {}
        self.in_flight = 0
        self.waiting = 0
        self.throttled = 0
        self.requests = 0
        self.cost: float | None = None
        self.rate = Rate(clock)
        self.answered = False
        self.scouting = False
        self._mark = None if key is None else (model, key)
        self.known = self._mark is None or self._mark in _ANSWERED

    @property
    def ready(self) -> bool:
        """Whether run and key allow another call."""
        return self.run.in_flight < self.run.ceiling and (self.known or not self.scouting)

    def prove(self, *, for_all: bool = True) -> None:
        """Note that the key was accepted, for all further runs of this process or only for this line."""
        self.known = True
        if for_all and self._mark is not None:
            _ANSWERED.add(self._mark)

    def stop(self, error: ModelError) -> None:
        """Note that the model is not to be called any more."""
        if self.stopped is None:
            self.stopped = error
        if error.category == "authentication" and self._mark is not None:
            _ANSWERED.discard(self._mark)

    @property
    def label(self) -> str:
        """Its names, in one."""
        return " / ".join(self.names)
