"""How far a run is: counted as rows arrive, shown as a frozen snapshot."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from karenina_core.models import ModelTraffic, Rate, Retry
from karenina_core.runs.store import ACTIVE, Outcome, RunRow, RunStatus, Store
from karenina_core.schemas import NO_VERDICT, RowKey, Usage, VerificationResult, failure_in_words

MOST_CALLS = 1000
"""Model calls of one run that may be in flight at once, at the most."""
RECENT = 20
_IN_VAIN = 5  # evaluations without a single verdict are no accident
_UNASKED = ("authentication", "not_found")
_QUESTION = 60  # characters of a question in a recent line


@dataclass(frozen=True)
class ModelCount:
    """Rows of one answering model by verdict."""

    passed: int = 0
    failed: int = 0
    not_evaluated: int = 0


@dataclass(frozen=True)
class Progress:
    """Where a run stands at one moment.

    Attributes:
        total: Wanted rows; `done` are stored.
        to_retry: Stored rows that are to be evaluated again; each counts as what it is until it is replaced.
        passed: Rows with verdict `pass`; `failed` and `not_evaluated` count the other two.
        errors: Rows whose evaluation failed for technical reasons, by failure category.
        causes: All rows without a verdict, by failure category; `no_verdict` where nothing was to be decided.
        in_flight: Answers and judgements being made at this moment, also shortly after a pause.
        calls: Model calls the run needed; the ledger answered `cached_calls` of them.
        cost: US dollars, None when no price is known.
        started: ISO 8601 in UTC, None before the start.
        elapsed: Seconds worked, pauses left out.
        rate: Rows per minute over the last minute or the last ten rows, those left out that took no time; None while it
            is unknown, or the run rests.
        eta: Seconds that are left at this rate, None while it is unknown.
        calls_per_minute: Requests to providers per minute, None while it is unknown, or the run rests.
        ceiling: Model calls that may be in flight at once; None when the run is not under way here.
        traffic: How the models are doing that the run has called since it was started or resumed.
        retries: Calls that wait for their next attempt.
        recent: The last rows in words, the newest last.
        models: Counts by answering model.
        message: Why the run stopped or waits, or what it left out; often empty.
    """

    run_id: str
    name: str
    status: RunStatus
    total: int
    done: int
    passed: int
    failed: int
    not_evaluated: int
    to_retry: int = 0
    errors: Mapping[str, int] = field(default_factory=dict)
    causes: Mapping[str, int] = field(default_factory=dict)
    in_flight: int = 0
    calls: int = 0
    cached_calls: int = 0
    cost: float | None = None
    started: str | None = None
    elapsed: float = 0.0
    rate: float | None = None
    eta: float | None = None
    calls_per_minute: float | None = None
    ceiling: int | None = None
    traffic: tuple[ModelTraffic, ...] = ()
    retries: tuple[Retry, ...] = ()
    recent: tuple[str, ...] = ()
    models: Mapping[str, ModelCount] = field(default_factory=dict)
    message: str = ""

    @property
    def percent(self) -> float:
        """The share that needs no more work, 0 to 100; a run that wants nothing is finished."""
        return 100.0 * (self.done - self.to_retry) / self.total if self.total else 100.0

    @property
    def in_vain(self) -> bool:
        """Whether all evaluations so far failed, and there are enough of them to expect the same of the others."""
        return self.done >= _IN_VAIN and sum(self.errors.values()) == self.done

    @property
    def active(self) -> bool:
        """Whether the run is under way, or waits."""
        return self.status in ACTIVE

    def paced(self, factor: float) -> int | None:
        """Return the calls in flight at another pace, for `Engine.set_concurrency`; None where it cannot change."""
        if self.status != "running" or self.ceiling is None:
            return None
        calls = max(1, min(MOST_CALLS, int(factor * self.ceiling)))
        return None if calls == self.ceiling else calls


class Stopwatch:
    """Adds up the seconds between `start` and `stop`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: float | None = None
        self._before = 0.0

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        return self._before + (0.0 if self._since is None else self._clock() - self._since)

    def start(self) -> None:
        """Run on."""
        if self._since is None:
            self._since = self._clock()

    def stop(self) -> None:
        """Stand still."""
        self._before, self._since = self.seconds, None


class Tally:
    """Counts the rows of a run.

    Args:
        outcomes: What became of the rows that are stored, with their number.
        clock: Seconds, for the rate.
        retried: Those among them that are evaluated again, by their position.
        position: Of a row; needed where there are some of these.
    """

    def __init__(
        self,
        outcomes: Iterable[tuple[Outcome, int]] = (),
        clock: Callable[[], float] = time.monotonic,
        retried: Mapping[int, Outcome] | None = None,
        position: Callable[[RowKey], int] | None = None,
    ) -> None:
        self._rate = Rate(clock)
        self._retried = dict(retried or {})
        self._position = position
        self._verdicts: Counter[str] = Counter()
        self._models: dict[str, Counter[str]] = {}
        self._errors: Counter[str] = Counter()
        self._causes: Counter[str] = Counter()
        self.recent: deque[str] = deque(maxlen=RECENT)
        for outcome, number in outcomes:
            self._count(outcome, number)

    def add(self, result: VerificationResult) -> None:
        """Count a row that is stored now."""
        category = result.failure.category if result.failure else None
        if self._retried and self._position is not None:
            before = self._retried.pop(self._position(result.key), None)
            if before is not None:
                self._count(before, -1)
        self._count(Outcome(0, result.answering_model, result.status, result.verdict, category), 1)
        # Rows of a model that was given up, or of known replies, take no time and promise nothing about the others.
        known = 0 < result.usage.calls == result.usage.cached_calls
        if category not in _UNASKED and not known:
            self._rate.add()
        self.recent.append(_line(result))

    def restart_rate(self) -> None:
        """Measure the rate anew, at the start and after a pause."""
        self._rate.restart()

    @property
    def rate(self) -> float | None:
        """Rows per minute, None while too few have come."""
        return self._rate.per_minute

    def progress(self, run: RunRow, status: RunStatus, spent: Usage, elapsed: float, message: str) -> Progress:
        """Return the counts as a snapshot."""
        rate, done = self.rate if status == "running" else None, sum(self._verdicts.values())
        left = max(0, run.total - done + len(self._retried))
        return Progress(
            run_id=run.id,
            name=run.name,
            status=status,
            total=run.total,
            done=done,
            passed=self._verdicts["pass"],
            failed=self._verdicts["fail"],
            not_evaluated=self._verdicts["not_evaluated"],
            to_retry=len(self._retried),
            errors=dict(+self._errors),
            causes=dict(+self._causes),
            calls=spent.calls,
            cached_calls=spent.cached_calls,
            cost=spent.cost,
            started=run.started,
            elapsed=elapsed,
            rate=rate,
            eta=60.0 * left / rate if rate else None,
            recent=tuple(self.recent),
            models={name: _model_count(counts) for name, counts in self._models.items()},
            message=message,
        )

    def _count(self, outcome: Outcome, number: int) -> None:
        self._verdicts[outcome.verdict] += number
        self._models.setdefault(outcome.answering_model, Counter())[outcome.verdict] += number
        if outcome.status == "failed":
            self._errors[outcome.failure_category or "unexpected"] += number
        if outcome.verdict == "not_evaluated":
            self._causes[outcome.failure_category or NO_VERDICT] += number


def stored_progress(store: Store, run_id: str, recent: Iterable[str] = ()) -> Progress:
    """Return where a run stands by what is stored.

    Raises:
        InputError: There is no such run.
    """
    run = store.runs.get(run_id)
    tally = Tally(store.results.outcome_counts(run_id))
    tally.recent.extend(recent)
    return tally.progress(run, run.status, account_of(run), run.seconds, run.note)


def account_of(run: RunRow) -> Usage:
    """Return what a run has spent so far."""
    return Usage(calls=run.calls, cached_calls=run.cached_calls, cost=run.cost)


def _model_count(counts: Counter[str]) -> ModelCount:
    return ModelCount(counts["pass"], counts["fail"], counts["not_evaluated"])


def _line(result: VerificationResult) -> str:
    question = result.question.question
    short = question if len(question) <= _QUESTION else f"{question[: _QUESTION - 1]}…"
    outcome = result.verdict.replace("_", " ")
    if result.failure:
        outcome += f" ({failure_in_words(result.failure.category)})"
    repeat = f" · repeat {result.replicate}" if result.replicate > 1 else ""
    return f"{outcome}: {short} · {result.answering_model} · judge {result.parsing_model}{repeat}"
