"""One run under way: its state, its account, its end. Everything here happens on the runner's event loop."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from karenina_core.errors import StoreError
from karenina_core.models import CallLedger, KeySource, Traffic, using_keys
from karenina_core.runs.engine.budget import Budget
from karenina_core.runs.engine.collector import quiet
from karenina_core.runs.engine.crew import Crew, workers_for
from karenina_core.runs.engine.evaluation import Evaluator
from karenina_core.runs.engine.gate import Gate
from karenina_core.runs.engine.metering import MeteredLedger
from karenina_core.runs.engine.progress import Progress, Stopwatch, Tally, account_of
from karenina_core.runs.engine.work import WorkQueue
from karenina_core.runs.engine.writer import CallWrite, ResultWrite, Writer
from karenina_core.runs.plans.plan import Plan
from karenina_core.runs.store import RunRow, RunStatus, Store
from karenina_core.runs.store.results import ResultRows, rows_of
from karenina_core.runs.store.runs import LeaseLostError
from karenina_core.schemas import VerificationResult

log = logging.getLogger(__name__)
_TICK = 0.05  # seconds; a paused run is looked at again


class Job:
    """Carries out what is left of a run.

    Args:
        store: Holds the run.
        writer: Writes its results.
        ledger: Remembers its calls.
        owner: Holds the lease of the run, which is given back at the end.
        run: The run as it is stored.
        plan: All that it wants.
        tally: Counts the rows that are stored.

    Attributes:
        ended: Set when nothing will happen any more.
        trouble: Why the end could not be stored, if so.
    """

    def __init__(
        self, store: Store, writer: Writer, ledger: CallLedger, owner: str, run: RunRow, plan: Plan, tally: Tally
    ) -> None:
        self.run = run
        self.plan = plan
        self.tally = tally
        self.ended = threading.Event()
        self.trouble: StoreError | None = None
        self._store = store
        self._writer = writer
        self._owner = owner
        self._status: RunStatus = "running"
        self._message = run.note
        self._spent = account_of(run)
        self._seconds = run.seconds
        self._stopwatch = Stopwatch()
        self._shift = Stopwatch()
        self._gate = Gate(lambda error: self.pause(str(error)))
        config = plan.config
        budget = Budget(config.max_cost, run.cost or 0.0, store.spending.today)
        traffic = Traffic(
            config.max_concurrent_requests, adaptive=config.adaptive_concurrency, attempts=config.max_attempts
        )
        self.ledger = MeteredLedger(ledger, self._gate, budget, traffic, run.id)
        self._noting = asyncio.Lock()
        self._final: RunStatus | None = None
        self._lost = False
        self._crew: Crew | None = None
        self._task: asyncio.Task[None] | None = None
        self._timekeeper: asyncio.Task[None] | None = None

    def begin(self, evaluator: Evaluator, queue: WorkQueue, keys: KeySource | None = None) -> None:
        """Start working, with these keys before those of the environment; the evaluator is closed at the end."""
        self._gate.open()
        self._go()
        with using_keys(keys):
            self._task = asyncio.create_task(self._carry_out(evaluator, queue))
        if self.plan.config.max_seconds is not None:
            self._timekeeper = asyncio.create_task(self._keep_time(self.plan.config.max_seconds))

    @property
    def here(self) -> bool:
        """Whether the run is carried out by this job."""
        return not (self._lost or self.ended.is_set())

    async def gone(self, timeout: float | None = None) -> bool:
        """Return when nothing is under way any more, or after `timeout` seconds, and whether that is so."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=timeout)
        return self._task is None or self._task.done()

    def progress(self) -> Progress:
        """Return where the run stands."""
        spent, seconds = self._spent + self.ledger.spent, self._seconds + self._stopwatch.seconds
        seen = self.tally.progress(self.run, self._status, spent, seconds, self._message)
        if self.ended.is_set():
            return seen
        traffic = self.ledger.traffic
        models = traffic.models()
        rates = [model.per_minute for model in models if model.per_minute is not None]
        return replace(
            seen,
            in_flight=max(0, self._crew.busy - self._gate.waiting) if self._crew else 0,
            calls_per_minute=sum(rates) if rates and self._status == "running" else None,
            ceiling=traffic.ceiling,
            traffic=models,
            retries=traffic.retries(),
        )

    def pace(self, ceiling: int) -> None:
        """Let so many calls be in flight from now on; those that are more are finished first."""
        self.ledger.traffic.pace(ceiling)
        if self._crew is not None:
            self._crew.grow(self._workers(ceiling))

    async def pause(self, message: str | None = None) -> None:
        """Begin nothing new; what is under way is finished and stored."""
        self._gate.shut()
        self.ledger.traffic.recall()
        self._rest()
        self._message = self.run.note if message is None else message
        await self._note("paused")

    async def resume(self) -> None:
        """Go on after a pause."""
        self._go()
        self._message = self.run.note
        self._gate.open()
        await self._note("running")

    def leave(self) -> None:
        """Give the run up, because it is somebody else's now: its rows and its status are no longer ours to write.

        Nothing new is begun. The calls in flight are paid for: they are finished, and their replies kept.
        """
        self._lost = True
        self.ledger.stop("Another process carries out this run now.")
        self._gate.leave()

    async def end(self, status: RunStatus) -> None:
        """Stop at once, and return when everything is closed; what is stored stays."""
        if self._task is None or self.ended.is_set():
            return
        if not self._gate.ended:
            self._final = status
            self._gate.end()
            self._task.cancel()
        await self.gone()

    async def save_account(self) -> None:
        """Store what was spent and worked since the last time.

        Raises:
            StoreError: It is not stored. What was spent is tried again the next time.
        """
        spent, seconds = self.ledger.take(), self._stopwatch.take()
        self._seconds += seconds
        try:
            await asyncio.to_thread(self._store.runs.add_work, self.run.id, spent, seconds)
        except StoreError:
            self.ledger.give_back(spent)
            raise
        self.ledger.stored(spent)

    def _go(self) -> None:
        self.tally.restart()
        self.ledger.traffic.restart()
        self._stopwatch.start()
        self._shift.start()

    def _rest(self) -> None:
        self._stopwatch.stop()
        self._shift.stop()

    async def _keep_time(self, most: float) -> None:
        """Stop the run when it has worked so many seconds; pauses do not count."""
        while (left := most - self._shift.seconds) > 0:
            await asyncio.sleep(max(left, _TICK))
        self.ledger.stop(f"Stopped: the run has worked {most:g} seconds, as set. Resume it to go on.")

    async def _carry_out(self, evaluator: Evaluator, queue: WorkQueue) -> None:
        quiet.begin()
        try:
            await self._work(evaluator, queue)
        finally:
            quiet.end()

    async def _work(self, evaluator: Evaluator, queue: WorkQueue) -> None:
        final: RunStatus | None = "completed"
        self._crew = crew = Crew(self.plan.benchmark, evaluator, queue, self._gate, self._save)
        try:
            await crew.work(self._workers(self.ledger.traffic.ceiling))
            if self._gate.turned_away:
                final, self._message = "interrupted", self.ledger.over
        except asyncio.CancelledError:
            final = self._final
        except Exception as error:
            log.exception("Run %s failed", self.run.id)
            final, self._message = "failed", f"The run stopped because of an internal error: {_innermost(error)}"
        if self._lost:
            final = None
        if self._timekeeper is not None:
            self._timekeeper.cancel()
        # From here on it is too late to cancel.
        self._gate.end()
        await self._close(evaluator, final)

    def _workers(self, calls: int) -> int:
        return min(workers_for(calls), max(self.plan.rows, 1))

    async def _close(self, evaluator: Evaluator, final: RunStatus | None) -> None:
        self._rest()
        try:
            await evaluator.aclose()
        except Exception:
            log.exception("The connections of run %s could not be closed", self.run.id)
        try:
            await self._writer.flush()
            async with self._noting:
                spent, seconds = self.ledger.take(), self._stopwatch.take()
                self._seconds += seconds
                await asyncio.to_thread(
                    self._store.runs.end, self.run.id, self._owner, final, self._message, spent, seconds
                )
        except StoreError as error:
            log.error("The end of run %s could not be stored: %s", self.run.id, error)
            self.trouble = error
        finally:
            # An ended job is kept for its last lines; the benchmark it worked on may be large.
            self._crew = None
            del self.plan
            self.ended.set()

    async def _save(self, result: VerificationResult) -> None:
        result.run_name = self.run.name
        calls, stored = self.ledger.held(), False
        try:
            rows = rows_of(self.run.id, result)
            await self._gate.patiently(lambda: self._put(rows, calls))
            stored = True
        except LeaseLostError:
            # The rows of the process that has the run now are the ones that count.
            self.leave()
            raise asyncio.CancelledError from None
        finally:
            self.ledger.settle(calls, stored=stored)
        # Counted only now that it is stored.
        self.tally.add(result)

    async def _put(self, rows: ResultRows, calls: Sequence[CallWrite]) -> None:
        spent = self.ledger.take()
        write = ResultWrite(rows, spent, self._owner, calls)
        await self._writer.put(write, self.ledger.given_back_unless_stored(spent))

    async def _note(self, status: RunStatus) -> None:
        self._status = status
        # Even if the waiting worker is cancelled: a late thread must not overwrite the final status.
        await asyncio.shield(self._store_status(status))

    async def _store_status(self, status: RunStatus) -> None:
        async with self._noting:
            if not self._gate.ended and not self._lost:
                # The store may be the very reason for the pause.
                with suppress(StoreError):
                    await asyncio.to_thread(
                        self._store.runs.set_status, self.run.id, status, self._message, self._owner
                    )


def _innermost(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
