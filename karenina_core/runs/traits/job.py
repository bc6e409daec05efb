"""One scoring of a stored run under way: in a thread and an event loop of its own."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from karenina_core.errors import KareninaError, StoreError
from karenina_core.models import CallServices, KeySource, ModelCaller, RunLimiter, using_keys
from karenina_core.pipeline import TraitScorer
from karenina_core.runs.cancellation import Cancellation
from karenina_core.runs.engine.ledger import RunLedger, StoreLedger
from karenina_core.runs.engine.spending import SpendMeter
from karenina_core.runs.engine.writer import BatchWriter, ResultWrite
from karenina_core.runs.plan import Plan
from karenina_core.runs.prices import client_at
from karenina_core.runs.store import Store
from karenina_core.runs.store.results import rows_of
from karenina_core.runs.store.runs import forget_owner, new_owner
from karenina_core.runs.traits.score import (
    Scoring,
    ids_of,
    note_definition,
    pages,
    rows_to_score,
    sample_of,
    with_trait,
)
from karenina_core.schemas import VerificationResult

log = logging.getLogger(__name__)
BEAT_SECONDS = 5.0
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


class ScoringJob:
    """One scoring under way; its progress is replaced as a whole, so that any thread may look at it.

    Args:
        store: Holds the run.
        scoring: What is to be scored.
        plan: Of the run.
        keys: Asked for keys before the environment.
    """

    def __init__(self, store: Store, scoring: Scoring, plan: Plan, keys: KeySource | None) -> None:
        self.progress = ScoringProgress(scoring.run_id, scoring.trait.name)
        self.ended = threading.Event()
        self._store = store
        self._scoring = scoring
        self._plan = plan
        self._keys = keys
        self._owner = new_owner()
        self._cancellation = Cancellation()

    def begin(self) -> None:
        """Take the run and start.

        Raises:
            StoreError: Another process has the run.
        """
        run_id = self._scoring.run_id
        if not self._store.runs.claim(run_id, self._owner):
            forget_owner(self._owner)
            raise StoreError(
                f"Run {run_id!r} is being worked on.",
                why="It is carried out or scored at this moment.",
                next="Wait for its end.",
            )
        threading.Thread(target=self._run, name="karenina-scoring", daemon=True).start()

    def cancel(self) -> None:
        """Stop asking; what is scored stays."""
        self._cancellation.ask()

    def _run(self) -> None:
        try:
            with using_keys(self._keys):
                asyncio.run(self._carry_out())
        except asyncio.CancelledError:
            self._end("cancelled")
        except Exception as error:
            found = _innermost(error)
            log.exception("Scoring run %s failed", self._scoring.run_id)
            known = isinstance(found, KareninaError)
            self._end("failed", str(found) if known else f"An internal error stopped it: {type(found).__name__}.")
        finally:
            with suppress(StoreError):
                self._store.runs.release(self._scoring.run_id, self._owner)
            forget_owner(self._owner)
            self.ended.set()

    def _end(self, status: Literal["completed", "cancelled", "stopped", "failed"], message: str = "") -> None:
        self.progress = replace(self.progress, status=status, message=message or self.progress.message)

    async def _carry_out(self) -> None:
        self._cancellation.watch()
        store, scoring = self._store, self._scoring
        spend = SpendMeter(lambda: asyncio.to_thread(store.spending.today), scoring.max_cost, of="scoring")
        writer = BatchWriter(store)
        ledger = StoreLedger(store, writer)
        config = self._plan.config
        limiter = RunLimiter(scoring.max_concurrent, attempts=config.max_attempts)
        services = CallServices(RunLedger(ledger, spend, scoring.run_id), limiter, spend)
        caller = ModelCaller(services, client_at(store.settings.prices()))
        scorer = TraitScorer(scoring.trait, caller, config.prompt_config, config.request_timeout)
        heart = asyncio.create_task(self._beat())
        try:
            await self._score_all(scorer, spend, writer)
        finally:
            heart.cancel()
            await caller.aclose()
            ledger.close()
            with suppress(StoreError):
                await asyncio.to_thread(store.runs.add_work, scoring.run_id, spend.take(), 0.0)
                await asyncio.to_thread(note_definition, store, scoring)
            writer.close()
        self._end("stopped" if spend.over else "completed", spend.over)

    async def _score_all(self, scorer: TraitScorer, spend: SpendMeter, writer: BatchWriter) -> None:
        store, scoring = self._store, self._scoring
        keys = await asyncio.to_thread(rows_to_score, store, scoring)
        self.progress = replace(self.progress, total=len(keys))
        await asyncio.to_thread(note_definition, store, scoring)
        # Each result once: a list whose items are taken by whoever is free.
        for page in pages(ids_of(keys), _PAGE):
            waiting = await asyncio.to_thread(_results, store, scoring.run_id, page)
            async with asyncio.TaskGroup() as group:
                for _ in range(min(scoring.max_concurrent, len(waiting))):
                    group.create_task(self._score_some(waiting, scorer, spend, writer))
            if spend.over:
                return

    async def _score_some(
        self, waiting: list[VerificationResult], scorer: TraitScorer, spend: SpendMeter, writer: BatchWriter
    ) -> None:
        while waiting and not spend.over:
            await self._score(waiting.pop(), scorer, spend, writer)

    async def _score(
        self, result: VerificationResult, scorer: TraitScorer, spend: SpendMeter, writer: BatchWriter
    ) -> None:
        scoring, sample = self._scoring, sample_of(result)
        if sample is None:
            self._count(done=1, left_out=1)
            return
        judge = scoring.judge_of(result.key, self._plan)
        part = await scorer.score(sample, judge)
        failed = scoring.trait.name in part.errors
        if failed and spend.over:
            return  # the trait did not fail, it was not asked for
        cached = sum(call.usage.cached_calls for call in part.calls)
        added = with_trait(result, scoring, part, judge)
        await writer.enqueue(ResultWrite(rows_of(scoring.run_id, added), spend.take(), self._owner))
        self._count(done=1, scored=int(not failed), failed=int(failed), calls=len(part.calls), cached=cached)
        self.progress = replace(self.progress, cost=spend.spent.cost)
        if failed and not self.progress.message:
            self.progress = replace(self.progress, message=part.errors[scoring.trait.name])

    def _count(self, **more: int) -> None:
        counts = {name: getattr(self.progress, name) + number for name, number in more.items()}
        self.progress = replace(self.progress, **counts)

    async def _beat(self) -> None:
        """Keep the run; whoever took it over meanwhile has it."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            with suppress(StoreError):
                run_id = self._scoring.run_id
                if run_id not in await asyncio.to_thread(self._store.runs.heartbeat, [run_id], self._owner):
                    self.cancel()


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _results(store: Store, run_id: str, ids: Sequence[str]) -> list[VerificationResult]:
    """Return results, the first of them last."""
    return store.results.all(run_id, result_id=list(ids))[::-1]
