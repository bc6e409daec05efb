"""Carries out runs in the background: one thread, one event loop, any number of runs."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from karenina_core.errors import ConfigError, InputError, StoreError
from karenina_core.models import KeySource, max_concurrent
from karenina_core.runs.engine.job import BackgroundJob, EvaluatorFactory, JobServices, RunJob, RunPipeline
from karenina_core.runs.engine.ledger import StoreLedger
from karenina_core.runs.engine.progress import MOST_CALLS, Progress, Tally, stored_progress
from karenina_core.runs.engine.spending import daily_budget
from karenina_core.runs.engine.work import WorkQueue, finished_rows, remaining
from karenina_core.runs.engine.writer import BatchWriter
from karenina_core.runs.plan import Plan, config_hash
from karenina_core.runs.prepared import answers_missing, require_answers
from karenina_core.runs.store import Store
from karenina_core.runs.store.runs import forget_owner, new_owner
from karenina_core.schemas import VerificationConfig

T = TypeVar("T")
HEARTBEAT_SECONDS = 5.0
ONE_CLICK_SECONDS = 5.0  # from the begin of a run to the second click
_LAST_CALLS_SECONDS = 10.0  # of a run that was given up here and comes back
_KEPT_ANSWERS = 16  # runs


class Engine:
    """Starts, pauses, resumes and cancels runs of a store. Its methods may be called from any thread.

    Runs that a process left behind when it died are marked `interrupted` first.

    Args:
        store: Holds the runs; stays open when the engine is closed.
        make_evaluator: Makes what answers and judges, from benchmark, configuration and caller.

    Attributes:
        shared: What its jobs share.
    """

    def __init__(self, store: Store, make_evaluator: EvaluatorFactory = RunPipeline) -> None:
        self._store = store
        self._make_evaluator = make_evaluator
        store.runs.interrupt_abandoned()
        writer = BatchWriter(store, self._in_trouble)
        self.shared = JobServices(store, writer, StoreLedger(store, writer), new_owner())
        self._runs: dict[str, RunJob] = {}
        self._jobs: set[BackgroundJob] = set()
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._prepared: dict[str, VerificationConfig] = {}  # with the prepared answers, which are never stored
        self._closing = asyncio.Event()
        started: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._live(started)), name="karenina-engine", daemon=True
        )
        self._thread.start()
        self._loop = started.result()

    def start(self, run_id: str, config: VerificationConfig | None = None, keys: KeySource | None = None) -> None:
        """Begin or continue a run, and return as soon as it is under way.

        Rows that are completed stay; failures of providers and judges are tried again; calls that the ledger knows
        are not made again. Starting a run that is under way changes nothing, one that is paused goes on.

        Args:
            run_id: A stored run.
            config: The run's own configuration, given again when it has `manual` models: their prepared answers are
                not stored.
            keys: Asked for keys before the environment, for this run only, until it ends.

        Raises:
            InputError: There is no such run.
            ConfigError: The run cannot work, or the configuration is not the run's.
            StoreError: Another process carries the run out, or the database refuses.
        """
        self._on_loop(self._start(run_id, config, keys))

    def resume(self, run_id: str, config: VerificationConfig | None = None, keys: KeySource | None = None) -> None:
        """Go on with a run that was paused, interrupted or cancelled, or that has failures; the same as `start`."""
        self.start(run_id, config, keys)

    def pause(self, run_id: str) -> None:
        """Begin no further evaluations; those under way are finished and stored.

        Raises:
            InputError: The run is not under way here.
        """
        self._on_loop(self._job(run_id).pause())

    def set_concurrency(self, run_id: str, calls: int) -> None:
        """Let a run have so many calls in flight from now on, also after it was resumed; nothing is interrupted.

        Args:
            run_id: A run under way here.
            calls: Over all models; brought into 1 to 1000.

        Raises:
            InputError: The run is not under way here.
        """
        self._on_loop(self._set_concurrency(run_id, max(1, min(calls, MOST_CALLS))))

    def needs_answers(self, run_id: str) -> tuple[str, ...]:
        """Return the models whose prepared answers must be given to `start` again, by their ids.

        Raises:
            InputError: There is no such run.
        """
        run = self._store.runs.get(run_id)
        return () if self._prepared_config(run_id, run.config_hash) else answers_missing(run.config)

    def stop(self, run_id: str, why: str) -> None:
        """Let a run make no further call, and return at once: when those in flight are stored it is `interrupted`.

        Args:
            run_id: The run; one that is not under way here is left as it is.
            why: A sentence for people.
        """
        self._on_loop(self._stop(run_id, why))

    def cancel(self, run_id: str) -> None:
        """Stop a run at once; returns when nothing is under way any more. What is stored stays.

        Raises:
            InputError: There is no such run.
            StoreError: Another process carries the run out.
        """
        self._on_loop(self._cancel(run_id))

    def progress(self, run_id: str) -> Progress:
        """Return where a run stands.

        Raises:
            InputError: There is no such run.
        """
        job = self._runs.get(run_id)
        if job is not None and job.here:
            with suppress(InputError):
                return self._on_loop(_progress(job))
        seen = stored_progress(self._store, run_id, job.tally.recent if job else ())
        if job is None:
            return seen
        seen = replace(seen, traffic=tuple(model for model in job.limiter.models() if model.reason))
        return seen if job.trouble is None else replace(seen, status="failed", message=str(job.trouble))

    def wait(self, run_id: str, timeout: float | None = None) -> Progress:
        """Return where a run stands when it has ended, or after `timeout` seconds."""
        job = self._runs.get(run_id)
        if job is not None:
            job.ended.wait(timeout)
        return self.progress(run_id)

    def begin_job(self, job: BackgroundJob, keys: KeySource | None = None) -> None:
        """Carry out other work than a run, with these keys before those of the environment; returns at once."""

        async def begin() -> None:
            self._jobs = {other for other in self._jobs if not other.ended.is_set()} | {job}
            job.begin(keys)

        self._on_loop(begin())

    def cancel_job(self, job: BackgroundJob) -> None:
        """Stop such work; returns when nothing is under way any more."""
        if not job.ended.is_set():
            self._on_loop(job.cancel())

    def close(self) -> None:
        """Interrupt all runs and end the thread."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()
        self.shared.ledger.close()
        self.shared.writer.close()
        forget_owner(self.shared.owner)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            work.close()
            raise InputError("The engine is closed.")
        outcome = asyncio.run_coroutine_threadsafe(work, self._loop)
        # Work handed over while the loop is being closed is never looked at.
        while not outcome.done() and self._thread.is_alive():
            wait([outcome], timeout=1.0)
        if not outcome.done():
            raise InputError("The engine was closed.")
        return outcome.result()

    async def _live(self, started: Future[asyncio.AbstractEventLoop]) -> None:
        heartbeat = asyncio.create_task(self._beat())
        started.set_result(asyncio.get_running_loop())
        await self._closing.wait()
        heartbeat.cancel()
        if self._starting:
            await asyncio.wait(list(self._starting.values()))
        ends = [job.end("interrupted") for job in self._runs.values()]
        await asyncio.gather(*ends, *(job.cancel() for job in self._jobs))

    async def _start(self, run_id: str, config: VerificationConfig | None, keys: KeySource | None) -> None:
        job = self._runs.get(run_id)
        if job is not None and job.paused:
            await self._keep_leases({run_id: job})  # somebody else may have taken the run over during the pause
        if job is not None and job.here:
            if job.paused:
                await job.resume()
            return
        if run_id not in self._starting:
            self._starting[run_id] = asyncio.create_task(self._launch(run_id, config, keys))
        # A second click joins the first.
        await asyncio.shield(self._starting[run_id])

    async def _launch(self, run_id: str, config: VerificationConfig | None, keys: KeySource | None) -> None:
        try:
            if (before := self._runs.get(run_id)) is not None and not await before.gone(_LAST_CALLS_SECONDS):
                raise StoreError(
                    f"The last calls that run {run_id!r} made here are still under way.",
                    next="Resume it in a moment; their replies are stored.",
                )
            job = self._runs[run_id] = await asyncio.to_thread(self._make_ready, run_id, config)
            job.begin(keys)
        finally:
            del self._starting[run_id]

    async def _set_concurrency(self, run_id: str, calls: int) -> None:
        self._job(run_id).set_concurrency(calls)
        # It holds now; a store in trouble is met, and reported, where results are written.
        with suppress(StoreError):
            await asyncio.to_thread(self._store.runs.set_concurrency, run_id, calls)

    async def _stop(self, run_id: str, why: str) -> None:
        job = self._runs.get(run_id)
        if job is not None and job.here:
            job.stop(why)
            job.pauses.abandon()

    async def _cancel(self, run_id: str) -> None:
        if run_id in self._starting:
            await asyncio.wait([self._starting[run_id]])
        job = self._runs.get(run_id)
        if job is not None and job.here:
            await job.end("cancelled")
        else:
            await asyncio.to_thread(self._cancel_stored, run_id)

    def _cancel_stored(self, run_id: str) -> None:
        if self._store.runs.get(run_id).active:
            self._claim(run_id)
            self._store.runs.end(run_id, self.shared.owner, "cancelled")

    def _job(self, run_id: str) -> RunJob:
        job = self._runs.get(run_id)
        if job is None or not job.here:
            raise InputError(f"Run {run_id!r} is not under way here.", next="Start or resume it first.")
        return job

    def _in_trouble(self, run_ids: set[str | None], error: StoreError, began: float) -> None:
        def pause() -> None:
            for run_id, job in self._runs.items():
                if run_id in run_ids and job.here:
                    job.pause_for_trouble(error, began)

        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(pause)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            under_way = [*(job for job in self._runs.values() if job.here), *self._jobs]
            await self._keep_leases({job.run_id: job for job in under_way if job.run_id and not job.ended.is_set()})

    async def _keep_leases(self, jobs: Mapping[str, BackgroundJob]) -> None:
        """Keep the leases of runs, and give up runs that were taken over."""
        # A store in trouble is met, and reported, where results are written.
        with suppress(StoreError):
            held = await asyncio.to_thread(self._store.runs.heartbeat, list(jobs), self.shared.owner)
            for run_id, job in jobs.items():
                if run_id in held:
                    await job.save_account()
                else:
                    job.abandon()

    # Below, in threads: waits for the store.

    def _make_ready(self, run_id: str, config: VerificationConfig | None) -> RunJob:
        """Claim a run and return what carries it out; a run that cannot work ends as failed, with the reason."""
        stored_hash = self._store.runs.get(run_id).config_hash
        self._claim(run_id)
        try:
            daily_budget(), max_concurrent()  # settings of the environment that cannot be used stop the run here
            plan = self._store.runs.plan(run_id)
            if config is not None and any(model.manual_traces is not None for model in config.answering_models):
                self._prepared = {**dict(list(self._prepared.items())[1 - _KEPT_ANSWERS :]), run_id: config}
            chosen = config or self._prepared_config(run_id, stored_hash) or plan.config
            if config_hash(chosen) != stored_hash:
                raise ConfigError(
                    "The configuration is not the one this run was made with.",
                    next="Start a new run; the answers that stay the same are taken from the ledger.",
                )
            return self._run_job(run_id, replace(plan, config=chosen))
        except Exception as error:
            self._store.runs.end(run_id, self.shared.owner, "failed", str(error))
            raise

    def _run_job(self, run_id: str, plan: Plan) -> RunJob:
        order = self._store.runs.order(run_id, reload=True)
        stored = self._store.results.outcomes(run_id)
        finished = finished_rows(self._store, run_id, plan, order, stored)
        # An answer that was there once is in the ledger, whatever else the row lacks.
        there = (row for row in stored if row.failure_category != "missing_recording")
        require_answers(plan, Counter(row.answering_model for row in there))
        retried = {outcome.position: outcome for outcome in stored if outcome.position not in finished}
        tally = Tally(((outcome, 1) for outcome in stored), retried=retried, position=order.position)
        self._store.runs.set_status(run_id, "running", plan.note)
        queue = WorkQueue(remaining(plan, order, finished))
        return RunJob(self.shared, self._store.runs.get(run_id), plan, queue, tally, self._make_evaluator)

    def _prepared_config(self, run_id: str, stored_hash: str) -> VerificationConfig | None:
        """Return the configuration with prepared answers that this process has seen."""
        known = self._prepared.get(run_id)
        return known if known is not None and config_hash(known) == stored_hash else None

    def _claim(self, run_id: str) -> None:
        if not self._store.runs.claim(run_id, self.shared.owner):
            raise StoreError(
                f"Run {run_id!r} is being carried out by another process.",
                next="Watch it here, and pause or cancel it there.",
            )


async def _progress(job: RunJob) -> Progress:
    return job.progress()


@dataclass
class DuplicateStartGuard:
    """Lets one click begin one run: the second click of a double click begins none, which would be paid as well.

    Attributes:
        request: What was asked for last.
        run_id: The run that was begun for it.
        when: On the monotonic clock, in seconds.
        lock: To be held from `repeated` to `began`: the second click may come in a thread of its own.
    """

    request: tuple[object, ...] = ()
    run_id: str = ""
    when: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def repeated(self, request: tuple[object, ...], clicked: float) -> str | None:
        """Return the run that was begun a moment ago for the same, so that none is begun for it now.

        Args:
            request: What is asked for.
            clicked: When, on the monotonic clock; a slow page may take long from there to here.
        """
        same = bool(self.run_id) and self.request == request
        return self.run_id if same and clicked - self.when <= ONE_CLICK_SECONDS else None

    def began(self, request: tuple[object, ...], run_id: str) -> None:
        """Note a run that was begun; the moments after which another click is a wish of its own count from now."""
        self.request, self.run_id, self.when = request, run_id, time.monotonic()
