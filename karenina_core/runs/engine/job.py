"""Work that an engine carries out in the background. Everything here happens on the engine's event loop."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol

from karenina_core.benchmark import Benchmark
from karenina_core.errors import ConfigError, KareninaError, StoreError
from karenina_core.models import (
    CallServices,
    KeySource,
    ModelCaller,
    RunLimiter,
    check_access,
    check_embedder,
    preload,
    using_keys,
)
from karenina_core.pipeline import Pipeline
from karenina_core.runs.engine.ledger import RunLedger, StoreLedger
from karenina_core.runs.engine.pause import PauseControl
from karenina_core.runs.engine.progress import Progress, Stopwatch, Tally, account_of
from karenina_core.runs.engine.spending import SpendMeter
from karenina_core.runs.engine.work import AnswerTask, WorkQueue
from karenina_core.runs.engine.writer import BatchWriter, ResultWrite
from karenina_core.runs.plan import Generation, Plan
from karenina_core.runs.prices import client_at
from karenina_core.runs.store import RunRow, RunStatus, Store
from karenina_core.runs.store.results import rows_of
from karenina_core.runs.store.runs import LeaseLostError
from karenina_core.schemas import Failure, ModelConfig, QuestionSnapshot, VerificationConfig, VerificationResult

log = logging.getLogger(__name__)
_TICK = 0.05  # seconds; a paused run is looked at again
_FEW_CALLS = 32


class JobServices(NamedTuple):
    """What the jobs of one engine share.

    Attributes:
        store: Holds everything.
        writer: Writes results and calls.
        ledger: Remembers calls.
        owner: In whose name runs are carried out.
    """

    store: Store
    writer: BatchWriter
    ledger: StoreLedger
    owner: str


class BackgroundJob:
    """Work with model calls; a subclass says in `work` what is to be done.

    Args:
        shared: What the jobs of the engine share.
        limiter: How many calls may be in flight, and how often a call is tried.
        max_cost: US dollars that may be spent; None without a bound.
        spent: US dollars that were spent before.
        of: What spends, in words.
        ends_with_money: Whether the work is stopped when the money is spent; otherwise calls fail as `cancelled`.
        run_id: The run whose account the calls belong to and whose lease the engine keeps; only the account of the
            day when not given.

    Attributes:
        of: As given.
        caller: Makes the calls.
        ended: Set when nothing will happen any more.
    """

    def __init__(
        self,
        shared: JobServices,
        limiter: RunLimiter,
        *,
        max_cost: float | None = None,
        spent: float = 0.0,
        of: str = "the run",
        ends_with_money: bool = True,
        run_id: str | None = None,
    ) -> None:
        self.run_id = run_id
        self.of = of
        self.ended = threading.Event()
        self.limiter = limiter
        self.pauses = PauseControl(self.pause_for_trouble)
        self.spend = SpendMeter(self._spent_today, max_cost, spent, of, self.stop if ends_with_money else None)
        ledger = RunLedger(shared.ledger, self.spend, run_id, self.pauses)
        services = CallServices(ledger, limiter, self.spend, self.pauses)
        self.caller = ModelCaller(services, client_at(shared.store.settings.prices()))
        self.shared = shared
        self._task: asyncio.Task[None] | None = None

    async def work(self) -> None:
        """Do the work. When it is cancelled, what is stored stays."""
        raise NotImplementedError

    async def finish(self, error: BaseException | None) -> None:
        """Note how the work ended, before `ended` is set.

        Args:
            error: What ended it early; `CancelledError` when that was asked for.
        """

    def ending(self, error: BaseException | None) -> tuple[Literal["completed", "cancelled", "failed"], str]:
        """Return how the work ended and, where it failed, the reason for people."""
        if error is None or isinstance(error, asyncio.CancelledError):
            return "cancelled" if error else "completed", ""
        log.error("%s failed, of run %s", self.of, self.run_id, exc_info=error)
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, KareninaError):
            return "failed", str(error)
        return "failed", f"It stopped because of an internal error: {type(error).__name__}: {error}"

    def pause_for_trouble(self, error: StoreError, began: float) -> None:
        """Deal with a store that refused something in an attempt that began at this moment; other work than runs fails.

        Raises:
            StoreError: What the store said.
        """
        raise error

    def begin(self, keys: KeySource | None = None) -> None:
        """Start working, with these keys before those of the environment."""
        self.pauses.resume()
        with using_keys(keys):
            self._task = asyncio.create_task(self._carry_out())

    def stop(self, why: str) -> None:
        """Let no further call be made; those in flight are finished, those that wait are not."""
        self.spend.over = why
        self.pauses.stop_accepting()
        self.limiter.close()

    def abandon(self) -> None:
        """Give the run up, because it is somebody else's now: its rows and its status are no longer ours to write.

        Nothing new is begun. The calls in flight are paid for: they are finished, and their replies stored.
        """
        self.stop("Another process carries out this run now.")
        self.pauses.abandon()

    async def save_account(self) -> None:
        """Store what was spent and is not on its way into the account.

        Raises:
            StoreError: It is not stored.
        """

    async def cancel(self) -> None:
        """Stop at once, and return when nothing is under way any more."""
        if self._task is not None and not self.pauses.ended:
            self.pauses.end()
            self._task.cancel()
        await self.gone()

    async def gone(self, timeout: float | None = None) -> bool:
        """Return when nothing is under way any more, or after `timeout` seconds, and whether that is so."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=timeout)
        return self._task is None or self._task.done()

    async def _carry_out(self) -> None:
        error: BaseException | None = None
        try:
            with gc_tuning():
                await self.work()
        except (Exception, asyncio.CancelledError) as caught:
            error = caught
        # From here on it is too late to cancel.
        self.pauses.end()
        try:
            await self.caller.aclose()
        except Exception:
            log.exception("The connections of a job could not be closed")
        try:
            await self.finish(error)
        finally:
            self.ended.set()

    async def _spent_today(self) -> float:
        return await self.pauses.retry_while_store_fails(lambda: asyncio.to_thread(self.shared.store.spending.today))


class Evaluator(Protocol):
    """Answers and judges one question at a time."""

    def preflight(self) -> list[str]:
        """Return what makes the run pointless, in words."""

    async def generate(self, question_id: str, answering: ModelConfig, replicate: int) -> Any:
        """Ask the model under test, and return the context its judges need. Failures are part of it."""

    async def judge(self, context: Any, parsing: ModelConfig) -> VerificationResult:
        """Judge the answer in the context."""


EvaluatorFactory = Callable[[Benchmark, VerificationConfig, ModelCaller], Evaluator]


class RunPipeline(Pipeline):
    """The pipeline of a run, which also checks addresses, keys and places before the first call."""

    def preflight(self) -> list[str]:
        """Return what makes the run pointless, in words."""
        models = (*self.config.answering_models, *self.config.parsing_models)
        checks = [partial(check_access, model) for model in models]
        if self.config.embedding_check_enabled:
            checks.append(partial(check_embedder, self.config.embedding_check_model))
        problems = super().preflight() + list(dict.fromkeys(filter(None, map(_problem, checks))))
        if not problems:
            preload(models)
        return problems


class RunJob(BackgroundJob):
    """Carries out what is left of a run.

    Args:
        shared: What the jobs of the engine share; the engine has the lease of the run, which is given back at the end.
        run: The run as it is stored.
        plan: All that it wants.
        queue: What is left of that.
        tally: Counts the rows that are stored.
        make_evaluator: Makes what answers and judges.

    Attributes:
        trouble: Why the end could not be stored, if so.

    Raises:
        ConfigError: The run cannot work.
    """

    def __init__(
        self,
        shared: JobServices,
        run: RunRow,
        plan: Plan,
        queue: WorkQueue,
        tally: Tally,
        make_evaluator: EvaluatorFactory = RunPipeline,
    ) -> None:
        config = plan.config
        limiter = RunLimiter(
            config.max_concurrent_requests, adaptive=config.adaptive_concurrency, attempts=config.max_attempts
        )
        super().__init__(shared, limiter, max_cost=config.max_cost, spent=run.cost or 0.0, run_id=run.id)
        self.run = run
        self.tally = tally
        self.trouble: StoreError | None = None
        self._benchmark: Benchmark | None = plan.benchmark
        self._evaluator: Evaluator | None = make_evaluator(plan.benchmark, config, self.caller)
        problems = self._evaluator.preflight()
        if problems:
            raise ConfigError("The run cannot start.", why=" ".join(problems))
        self._queue: WorkQueue | None = queue
        self._rows = max(plan.rows, 1)
        self._max_seconds = config.max_seconds
        self._status: RunStatus = "running"
        self._message = run.note
        self._final: RunStatus = "cancelled"
        self._lost = False
        self._stopwatch = Stopwatch()
        self._stored_seconds = 0.0
        self._noting = asyncio.Lock()
        self._busy = self._workers = 0
        self._grow: Callable[[], None] = lambda: None

    @property
    def here(self) -> bool:
        """Whether the run is carried out by this job."""
        return not (self._lost or self.ended.is_set())

    @property
    def paused(self) -> bool:
        """Whether it waits to be resumed."""
        return self.here and self._status == "paused"

    def progress(self) -> Progress:
        """Return where the run stands."""
        spent, seconds = account_of(self.run) + self.spend.spent, self.run.seconds + self._stopwatch.seconds
        seen = self.tally.progress(self.run, self._status, spent, seconds, self._message)
        if self.ended.is_set():
            return seen
        models = self.limiter.models()
        rates = [model.per_minute for model in models if model.per_minute is not None]
        return replace(
            seen,
            in_flight=max(0, self._busy - self.pauses.waiting),
            calls_per_minute=sum(rates) if rates and self._status == "running" else None,
            ceiling=self.limiter.ceiling,
            traffic=models,
            retries=self.limiter.retries(),
        )

    def set_concurrency(self, calls: int) -> None:
        """Let so many calls be in flight from now on; those that are more are finished first."""
        self.limiter.set_ceiling(calls)
        self._grow()

    async def pause(self, message: str | None = None) -> None:
        """Begin nothing new; what is under way is finished and stored."""
        self._pause(message)
        await self._note()

    def pause_for_trouble(self, error: StoreError, began: float) -> None:
        """Pause because the store refused something; trouble from before the last resume deserves another attempt."""
        if self.pauses.running and began >= self.pauses.resumed:
            self._pause(str(error))
            asyncio.get_running_loop().create_task(self._note())

    async def resume(self) -> None:
        """Go on after a pause."""
        self._go_on()
        self.pauses.resume()
        self.shared.writer.retry_now()
        await self._note()

    def abandon(self) -> None:
        """Give the run up, because it is somebody else's now."""
        self._lost = True
        super().abandon()

    async def end(self, status: RunStatus) -> None:
        """Stop at once, and return when everything is closed; what is stored stays."""
        if not self.pauses.ended:
            self._final = status
        await self.cancel()

    async def save_account(self) -> None:
        """Store what was spent and worked since the last time.

        Raises:
            StoreError: It is not stored. What was spent is tried again the next time.
        """
        spent, seconds = self.spend.take(), self._stopwatch.seconds
        try:
            worked = seconds - self._stored_seconds
            await asyncio.to_thread(self.shared.store.runs.add_work, self.run.id, spent, worked)
        except StoreError as error:
            self.spend.settle(spent, error)
            raise
        self.spend.settle(spent)
        self._stored_seconds = seconds

    async def work(self) -> None:
        """Evaluate everything that is left, with as many workers as keep the calls in flight that are allowed."""
        self._go_on()
        timekeeper = None if self._max_seconds is None else asyncio.create_task(self._keep_time(self._max_seconds))
        context = copy_context()
        try:
            async with asyncio.TaskGroup() as group:

                def grow() -> None:
                    wanted = min(workers_for(self.limiter.ceiling), self._rows)
                    while self._workers < wanted and self.pauses.accepting:
                        self._workers += 1
                        # In the context of the run, whose keys it uses, whoever asks for more.
                        group.create_task(self._worker(), context=context.copy()).add_done_callback(self._left)

                grow()
                self._grow = grow
        finally:
            self._grow = lambda: None
            if timekeeper is not None:
                timekeeper.cancel()

    async def finish(self, error: BaseException | None) -> None:
        """Store how the run ended."""
        self._stopwatch.stop()
        ending, why = self.ending(error)
        status: RunStatus = self._final if ending == "cancelled" else ending
        if ending == "completed" and self.spend.over:
            status, why = "interrupted", self.spend.over
        self._message = why or self._message
        shared, run_id = self.shared, self.run.id
        try:
            await shared.writer.flush()
            async with self._noting:
                final = None if self._lost else status
                seconds = self._stopwatch.seconds - self._stored_seconds
                work = self._message, self.spend.take(), seconds
                await asyncio.to_thread(shared.store.runs.end, run_id, shared.owner, final, *work)
        except StoreError as trouble:
            log.error("The end of run %s could not be stored: %s", run_id, trouble)
            self.trouble = trouble
        # An ended job is kept for its last lines; the benchmark it worked on may be large.
        self._evaluator = self._queue = self._benchmark = None

    def _go_on(self) -> None:
        self._status, self._message = "running", self.run.note
        self.tally.restart_rate()
        self.limiter.restart_rates()
        self._stopwatch.start()

    def _pause(self, message: str | None) -> None:
        self.pauses.pause()
        self.limiter.recall()
        self._stopwatch.stop()
        self._status, self._message = "paused", self.run.note if message is None else message

    async def _keep_time(self, most: float) -> None:
        """Stop the run when it has worked so many seconds; pauses do not count."""
        while (left := most - self._stopwatch.seconds) > 0:
            await asyncio.sleep(max(left, _TICK))
        self.stop(f"Stopped: the run has worked {most:g} seconds, as set. Resume it to go on.")

    def _left(self, worker: asyncio.Task[None]) -> None:
        self._workers -= 1
        if not worker.cancelled() and worker.exception() is not None:
            # What one cannot deal with ends the work of all.
            self._grow = lambda: None

    async def _worker(self) -> None:
        assert self._queue is not None
        while (work := self._queue.next()) is not None:
            stream, task = work
            self._busy += 1
            try:
                await self._evaluate(task)
            finally:
                self._busy -= 1
                self._queue.done(stream)

    async def _evaluate(self, task: AnswerTask) -> None:
        assert self._evaluator is not None
        question_id, answering, replicate = task.generation
        evaluation = question_id, answering.id, replicate
        context, failure = None, None
        try:
            await self.pauses.wait()
            try:
                context = await self._evaluator.generate(*task.generation)
            except Exception as error:
                log.exception("Answering %s failed", question_id)
                failure = error
            for judge in task.judges:
                self.pauses.finish(evaluation)
                if failure is not None:
                    await self._save(self._broken_row(task.generation, judge, failure))
                    continue
                await self.pauses.wait()
                try:
                    result = await self._evaluator.judge(context, judge)
                except Exception as error:
                    log.exception("Judging %s failed", question_id)
                    result = self._broken_row(task.generation, judge, error)
                await self._save(result)
        finally:
            self.pauses.finish(evaluation)

    async def _save(self, result: VerificationResult) -> None:
        result.run_name = self.run.name
        spent = self.spend.take()
        write = ResultWrite(rows_of(self.run.id, result), spent, self.shared.owner)
        try:
            await self.shared.writer.enqueue(write, lambda error: self.spend.settle(spent, error))
        except LeaseLostError:
            # The rows of the process that has the run now are the ones that count.
            self.abandon()
            raise asyncio.CancelledError from None
        # Counted only now that it is stored.
        self.tally.add(result)

    async def _note(self) -> None:
        # Even if who waits is cancelled: a late thread must not overwrite the final status.
        await asyncio.shield(self._store_status())

    async def _store_status(self) -> None:
        async with self._noting:
            if not self.pauses.ended and not self._lost:
                # The store may be the very reason for the pause.
                with suppress(StoreError):
                    store, owner = self.shared.store, self.shared.owner
                    await asyncio.to_thread(store.runs.set_status, self.run.id, self._status, self._message, owner)

    def _broken_row(self, generation: Generation, judge: ModelConfig, error: Exception) -> VerificationResult:
        """Return the row of an evaluation that broke down, so that no wanted row is ever missing."""
        assert self._benchmark is not None
        question = self._benchmark.get_question_as_object(generation.question_id)
        return VerificationResult(
            question=QuestionSnapshot.model_validate(question, from_attributes=True),
            answering_model=generation.answering.id,
            parsing_model=judge.id,
            replicate=generation.replicate,
            status="failed",
            verdict="not_evaluated",
            failure=Failure(category="unexpected", stage="pipeline", reason=f"{type(error).__name__}: {error}"[:500]),
        )


def workers_for(calls: int) -> int:
    """Return how many workers keep so many calls in flight.

    A worker that has its reply reads it, decides and has it stored before it asks again. Where many replies come
    together they wait for each other, for one interpreter deals with them all; meanwhile further workers use the
    places at the provider. With few calls they gain nothing: they only make the groups that are stored together
    smaller.

    Args:
        calls: That may be in flight at once, at least 1.
    """
    return calls + max(0, calls - _FEW_CALLS)


_usual_threshold = gc.get_threshold()
_tuning = threading.Lock()
_tuned = 0


@contextmanager
def gc_tuning() -> Iterator[None]:
    """Search less often for garbage in cycles while a job works, which is a tenth of its time otherwise."""
    global _tuned
    with _tuning:
        _tuned += 1
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
    try:
        yield
    finally:
        with _tuning:
            _tuned -= 1
            if not _tuned:
                gc.set_threshold(*_usual_threshold)
                gc.unfreeze()


def _problem(check: Callable[[], None]) -> str:
    try:
        check()
    except ConfigError as error:
        return str(error)
    return ""
