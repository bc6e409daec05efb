"""Starts and cancels scorings of stored runs, one of each run at a time."""

from __future__ import annotations

from collections.abc import Callable

from karenina_core.errors import InputError
from karenina_core.models import KeySource
from karenina_core.runs.store import Store
from karenina_core.runs.traits.job import ScoringJob, ScoringProgress
from karenina_core.runs.traits.score import Scoring, check_scoring

_LOOK_SECONDS = 0.1


class Scorer:
    """Starts and cancels scorings. Its methods may be called from any thread.

    Args:
        store: Holds the runs; stays open.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
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
        before = self._jobs.get(scoring.run_id)
        if before is not None and not before.progress.active:
            before.ended.wait()
        plan = self._store.runs.plan(scoring.run_id)
        check_scoring(self._store, scoring, plan)
        job = ScoringJob(self._store, scoring, plan, keys)
        job.begin()
        self._jobs[scoring.run_id] = job

    def progress(self, run_id: str) -> ScoringProgress | None:
        """Return where the last scoring of a run stands; None when there was none in this process."""
        job = self._jobs.get(run_id)
        return None if job is None else job.progress

    def cancel(self, run_id: str) -> None:
        """Stop a scoring; returns when nothing is under way any more. What is scored stays."""
        job = self._jobs.get(run_id)
        if job is not None:
            job.cancel()
            job.ended.wait()

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
    scorer, report = Scorer(store), progress_callback or _nobody
    scorer.start(scoring, keys)
    try:
        while True:
            seen = scorer.wait(scoring.run_id, _LOOK_SECONDS)
            report(100.0 * seen.done / seen.total if seen.total else 100.0, f"{seen.done} of {seen.total} answers")
            if not seen.active:
                return seen
    finally:
        scorer.close()


def _nobody(percent: float, message: str) -> None:
    """Report to nobody."""
