"""Carries out runs in the background: one thread, one event loop, any number of runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from karenina_core.errors import InputError, StoreError
from karenina_core.models import KeySource
from karenina_core.runs.engine.evaluation import EvaluatorFactory, evaluator_at
from karenina_core.runs.engine.job import Job
from karenina_core.runs.engine.launch import Launcher
from karenina_core.runs.engine.ledger import StoreLedger
from karenina_core.runs.engine.progress import HIGHEST_PACE, Progress, stored_progress
from karenina_core.runs.engine.writer import Writer
from karenina_core.runs.store import Store
from karenina_core.runs.store.runs import forget_owner, new_owner
from karenina_core.schemas import VerificationConfig

T = TypeVar("T")
BEAT_SECONDS = 5.0
_LAST_CALLS_SECONDS = 10.0  # of a run that was given up here and comes back


class Engine:
    """Starts, pauses, resumes and cancels runs of a store. Its methods may be called from any thread.

    Runs that a process left behind when it died are marked `interrupted` first.

    Args:
        store: Holds the runs; stays open when the runner is closed.
        pipeline_factory: Makes what answers and judges, from benchmark, configuration and ledger; the pipeline, at
            the prices set in the store, when not given.
    """

    def __init__(self, store: Store, pipeline_factory: EvaluatorFactory | None = None) -> None:
        self._store = store
        self._owner = new_owner()
        store.runs.interrupt_abandoned()
        self._writer = Writer(store)
        self._ledger = StoreLedger(store, self._writer)
        make_evaluator = pipeline_factory or evaluator_at(store.settings.prices)
        self._launcher = Launcher(store, self._writer, self._ledger, self._owner, make_evaluator)
        self._jobs: dict[str, Job] = {}
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._closing = asyncio.Event()
        started: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._live(started)), name="karenina-runner", daemon=True
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

    def pace(self, run_id: str, ceiling: int) -> None:
        """Let a run have so many calls in flight from now on, also after it was resumed; nothing is interrupted.

        Args:
            run_id: A run under way here.
            ceiling: Over all models; brought into 1 to 1000.

        Raises:
            InputError: The run is not under way here.
        """
        self._on_loop(self._pace(run_id, max(1, min(ceiling, HIGHEST_PACE))))

    def needs_answers(self, run_id: str) -> tuple[str, ...]:
        """Return the models whose prepared answers must be given to `start` again, by their ids.

        Raises:
            InputError: There is no such run.
        """
        return self._launcher.needs_answers(run_id)

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
        job = self._jobs.get(run_id)
        if job is not None and job.here:
            with suppress(InputError):
                return self._on_loop(_now(job))
        seen = stored_progress(self._store, run_id, job.tally.recent if job else ())
        if job is None:
            return seen
        seen = replace(seen, traffic=tuple(model for model in job.ledger.traffic.models() if model.reason))
        return seen if job.trouble is None else replace(seen, status="failed", message=str(job.trouble))

    def wait(self, run_id: str, timeout: float | None = None) -> Progress:
        """Return where a run stands when it has ended, or after `timeout` seconds."""
        job = self._jobs.get(run_id)
        if job is not None:
            job.ended.wait(timeout)
        return self.progress(run_id)

    def close(self) -> None:
        """Interrupt all runs and end the thread."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()
        self._ledger.close()
        self._writer.close()
        forget_owner(self._owner)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            work.close()
            raise InputError("The runner is closed.")
        outcome = asyncio.run_coroutine_threadsafe(work, self._loop)
        # Work handed in while the loop is being closed is never looked at.
        while not outcome.done() and self._thread.is_alive():
            wait([outcome], timeout=1.0)
        if not outcome.done():
            raise InputError("The runner was closed.")
        return outcome.result()

    async def _pace(self, run_id: str, ceiling: int) -> None:
        self._job(run_id).pace(ceiling)
        # The pace holds now; a store in trouble is met, and told, where results are written.
        with suppress(StoreError):
            await asyncio.to_thread(self._store.runs.set_concurrency, run_id, ceiling)

    def _job(self, run_id: str) -> Job:
        job = self._jobs.get(run_id)
        if job is None or not job.here:
            raise InputError(f"Run {run_id!r} is not under way here.", next="Start or resume it first.")
        return job

    async def _live(self, started: Future[asyncio.AbstractEventLoop]) -> None:
        heart = asyncio.create_task(self._beat())
        started.set_result(asyncio.get_running_loop())
        await self._closing.wait()
        heart.cancel()
        if self._starting:
            await asyncio.wait(list(self._starting.values()))
        await asyncio.gather(*(job.end("interrupted") for job in self._jobs.values()))

    async def _start(self, run_id: str, config: VerificationConfig | None, keys: KeySource | None) -> None:
        job = self._jobs.get(run_id)
        if job is not None and job.here:
            if job.progress().status == "paused":
                await job.resume()
            return
        if run_id not in self._starting:
            self._starting[run_id] = asyncio.create_task(self._launch(run_id, config, keys))
        # A second click joins the first.
        await asyncio.shield(self._starting[run_id])

    async def _launch(self, run_id: str, config: VerificationConfig | None, keys: KeySource | None) -> None:
        try:
            if (before := self._jobs.get(run_id)) is not None and not await before.gone(_LAST_CALLS_SECONDS):
                raise StoreError(
                    f"The last calls that run {run_id!r} made here are still under way.",
                    next="Resume it in a moment; their replies are kept.",
                )
            job, evaluator, queue = await asyncio.to_thread(self._launcher.make_ready, run_id, config)
            self._jobs[run_id] = job
            job.begin(evaluator, queue, keys)
        finally:
            del self._starting[run_id]

    async def _cancel(self, run_id: str) -> None:
        if run_id in self._starting:
            await asyncio.wait([self._starting[run_id]])
        job = self._jobs.get(run_id)
        if job is not None and job.here:
            await job.end("cancelled")
        else:
            await asyncio.to_thread(self._cancel_stored, run_id)

    def _cancel_stored(self, run_id: str) -> None:
        if self._store.runs.get(run_id).active:
            self._launcher.take(run_id)
            self._store.runs.end(run_id, self._owner, "cancelled")

    async def _beat(self) -> None:
        """Keep the leases of the runs under way, and give up runs that were taken over."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            jobs = {run_id: job for run_id, job in self._jobs.items() if job.here}
            # A store in trouble is met, and told, where results are written.
            with suppress(StoreError):
                held = await asyncio.to_thread(self._store.runs.heartbeat, list(jobs), self._owner)
                for run_id, job in jobs.items():
                    if run_id in held:
                        await job.save_account()
                    else:
                        job.leave()


async def _now(job: Job) -> Progress:
    return job.progress()
