"""Scores stored runs with one more trait, in the background, one trait of each run at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from karenina_core.errors import InputError, StoreError
from karenina_core.models import KeySource
from karenina_core.pipeline import TraitScorer
from karenina_core.runs.engine.engine import Engine
from karenina_core.runs.engine.job import BackgroundJob, JobServices, failure_text
from karenina_core.runs.engine.writer import ResultWrite
from karenina_core.runs.plan import Plan
from karenina_core.runs.store import Store
from karenina_core.runs.store.results import rows_of
from karenina_core.runs.traits.score import (
    Scoring,
    check_scoring,
    ids_of,
    note_definition,
    pages,
    rows_to_score,
    sample_of,
    with_trait,
)
from karenina_core.schemas import VerificationResult

log = logging.getLogger(__name__)
_LOOK_SECONDS = 0.1
_PAGE = 200  # results that are held at once


@dataclass(frozen=True)
class ScoringProgress:
    """Where a scoring stands at one moment.

    Attributes:
        run_id: The run.
        trait: Name of the trait.
        status: `running`; then `completed`, `cancelled`, `stopped` (the money is spent) or `failed`.
        total: Rows without a value at the start.
        done: Rows that were looked at.
        scored: Rows that have a value now.
        failed: Rows whose judge gave no value.
        left_out: Rows without an answer to assess.
        calls: Calls the ledger or a judge answered; the ledger answered `cached` of them.
        cost: US dollars, None when no price is known.
        message: Why it stopped; often empty.
    """

    run_id: str
    trait: str
    status: Literal["running", "completed", "cancelled", "stopped", "failed"] = "running"
    total: int = 0
    done: int = 0
    scored: int = 0
    failed: int = 0
    left_out: int = 0
    calls: int = 0
    cached: int = 0
    cost: float | None = None
    message: str = ""

    @property
    def active(self) -> bool:
        """Whether it is under way."""
        return self.status == "running"


class ScoringJob(BackgroundJob):
    """One scoring under way; its progress is replaced as a whole, so that any thread may look at it."""

    def __init__(self, shared: JobServices, scoring: Scoring, plan: Plan) -> None:
        config = plan.config
        super().__init__(
            shared,
            max_concurrent=scoring.max_concurrent,
            max_attempts=config.max_attempts,
            max_cost=scoring.max_cost,
            of="scoring",
            run_id=scoring.run_id,
        )
        self.progress = ScoringProgress(scoring.run_id, scoring.trait.name)
        self._scoring = scoring
        self._plan = plan
        self._scorer = TraitScorer(scoring.trait, self.caller, config.prompt_config, config.request_timeout)

    async def work(self) -> None:
        """Score everything that has no value yet."""
        store, scoring = self.shared.store, self._scoring
        keys = await asyncio.to_thread(rows_to_score, store, scoring)
        self.progress = replace(self.progress, total=len(keys))
        await asyncio.to_thread(note_definition, store, scoring)
        for page in pages(ids_of(keys), _PAGE):
            waiting = await asyncio.to_thread(self._results, page)
            async with asyncio.TaskGroup() as group:
                for _ in range(min(scoring.max_concurrent, len(waiting))):
                    group.create_task(self._score_some(waiting))

    async def finish(self, error: BaseException | None) -> None:
        """Note how it ended, and give the run back."""
        status: Literal["completed", "cancelled", "stopped", "failed"] = "completed"
        message = self.progress.message
        if self.spend.over:
            status, message = "stopped", self.spend.over
        elif isinstance(error, asyncio.CancelledError):
            status = "cancelled"
        elif error is not None:
            log.error("Scoring run %s failed", self.run_id, exc_info=error)
            status, message = "failed", failure_text(error)
        shared, run_id = self.shared, self._scoring.run_id
        with suppress(StoreError):
            await shared.writer.flush()
            await asyncio.to_thread(shared.store.runs.add_work, run_id, self.spend.take(), 0.0)
            await asyncio.to_thread(note_definition, shared.store, self._scoring)
        with suppress(StoreError):
            await asyncio.to_thread(shared.store.runs.release, run_id, shared.owner)
        self.progress = replace(self.progress, status=status, message=message)

    def _results(self, ids: Sequence[str]) -> list[VerificationResult]:
        """Return results, the first of them last."""
        return self.shared.store.results.all(self._scoring.run_id, result_id=list(ids))[::-1]

    async def _score_some(self, waiting: list[VerificationResult]) -> None:
        while waiting and not self.spend.over:
            await self._score(waiting.pop())

    async def _score(self, result: VerificationResult) -> None:
        scoring, sample = self._scoring, sample_of(result)
        if sample is None:
            self._count(done=1, left_out=1)
            return
        judge = scoring.judge_of(result.key, self._plan)
        part = await self._scorer.score(sample, judge)
        added = with_trait(result, scoring, part, judge)
        spent = self.spend.take()
        write = ResultWrite(rows_of(scoring.run_id, added), spent, self.shared.owner)
        await self.shared.writer.enqueue(write, lambda error: self.spend.settle(spent, error))
        error = part.errors.get(scoring.trait.name, "")
        cached = sum(call.usage.cached_calls for call in part.calls)
        self._count(done=1, scored=int(not error), failed=int(bool(error)), calls=len(part.calls), cached=cached)
        message = self.progress.message or error
        self.progress = replace(self.progress, cost=self.spend.spent.cost, message=message)

    def _count(self, **more: int) -> None:
        counts = {name: getattr(self.progress, name) + number for name, number in more.items()}
        self.progress = replace(self.progress, **counts)


class Scorer:
    """Starts and cancels scorings. Its methods may be called from any thread.

    Args:
        engine: Carries them out; stays open.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._jobs: dict[str, ScoringJob] = {}

    def start(self, scoring: Scoring, keys: KeySource | None = None) -> None:
        """Begin to score, and return as soon as it is under way.

        Rows that have a value of the trait stay; calls that the ledger knows are not made again, so that a scoring
        that was cancelled goes on where it was.

        Args:
            scoring: What is to be scored.
            keys: Asked for keys before the environment.

        Raises:
            InputError: There is no such run, it is under way, or it has another trait of that name.
            ConfigError: A judge cannot be asked.
            StoreError: The run is being worked on, or the database refuses.
        """
        shared, run_id = self._engine.shared, scoring.run_id
        plan = shared.store.runs.plan(run_id)
        check_scoring(shared.store, scoring, plan)
        before = self._jobs.get(run_id)
        if (before is not None and not before.ended.is_set()) or not shared.store.runs.claim(run_id, shared.owner):
            raise StoreError(
                f"Run {run_id!r} is being worked on.",
                why="It is carried out or scored at this moment.",
                next="Wait for its end.",
            )
        job = self._jobs[run_id] = ScoringJob(shared, scoring, plan)
        self._engine.begin_job(job, keys)

    def progress(self, run_id: str) -> ScoringProgress | None:
        """Return where the last scoring of a run stands; None when there was none in this process."""
        job = self._jobs.get(run_id)
        return None if job is None else job.progress

    def cancel(self, run_id: str) -> None:
        """Stop a scoring; returns when nothing is under way any more. What is scored stays."""
        job = self._jobs.get(run_id)
        if job is not None:
            self._engine.cancel_job(job)

    def wait(self, run_id: str, timeout: float | None = None) -> ScoringProgress:
        """Return where a scoring stands when it has ended, or after `timeout` seconds.

        Raises:
            InputError: There was none in this process.
        """
        job = self._jobs.get(run_id)
        if job is None:
            raise InputError(f"Run {run_id!r} is not being scored here.")
        job.ended.wait(timeout)
        return job.progress

    def close(self) -> None:
        """Cancel everything."""
        for run_id in list(self._jobs):
            self.cancel(run_id)


def score_run(
    store: Store,
    scoring: Scoring,
    keys: KeySource | None = None,
    progress_callback: Callable[[float, str], None] | None = None,
) -> ScoringProgress:
    """Score a stored run with one more trait, and return what became of it.

    Args:
        store: Holds the run.
        scoring: What is to be scored.
        keys: Asked for keys before the environment.
        progress_callback: Called with percent (0 to 100) and a line of text, from this thread.

    Raises:
        InputError: There is no such run, it is under way, or it has another trait of that name.
        ConfigError: A judge cannot be asked.
        StoreError: The run is being worked on, or the database refuses.
    """
    with Engine(store) as engine:
        scorer = Scorer(engine)
        scorer.start(scoring, keys)
        while True:
            seen = scorer.wait(scoring.run_id, _LOOK_SECONDS)
            if progress_callback is not None:
                percent = 100.0 * seen.done / seen.total if seen.total else 100.0
                progress_callback(percent, f"{seen.done} of {seen.total} answers")
            if not seen.active:
                return seen
