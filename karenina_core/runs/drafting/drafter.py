"""Drafts templates of stored benchmarks in the background: one batch for each benchmark at a time."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from karenina_core.errors import InputError
from karenina_core.models import KeySource, check_model
from karenina_core.pipeline import to_draft
from karenina_core.runs.drafting.batch import DraftBatch, stored_batch
from karenina_core.runs.drafting.job import DraftJob
from karenina_core.runs.engine.spending import daily_budget
from karenina_core.runs.store import Store
from karenina_core.schemas import ModelConfig

_Name = tuple[str, str | None]


class Drafter:
    """Starts and cancels batches of drafts. Its methods may be called from any thread.

    Args:
        store: Holds the benchmarks; stays open when the drafter is closed.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._jobs: dict[_Name, DraftJob] = {}

    def start(
        self,
        benchmark_id: str,
        model: ModelConfig | None = None,
        *,
        question_ids: Sequence[str] | None = None,
        replace_existing: bool = False,
        continues: bool = False,
        alone: bool = False,
        max_cost: float | None = None,
        keys: KeySource | None = None,
        max_concurrent: int = 4,
        author: str = "",
    ) -> None:
        """Begin to draft templates, and return at once. Drafts are saved as they come.

        Args:
            benchmark_id: The stored benchmark.
            model: Who drafts; the rules when not given.
            question_ids: Only these questions.
            replace_existing: Draft for questions that have a template too.
            continues: The outcomes join those of the batch before, and are taken back with them.
            alone: A draft of one question, which leaves the batch of the benchmark as it is.
            max_cost: US dollars that may be spent; models without a known price do not count.
            keys: Asked for keys before the environment, for this batch only.
            max_concurrent: Calls in flight at once.
            author: Who has them drafted, for the history of the questions.

        Raises:
            InputError: There is no such benchmark, or a batch of it is under way.
            ConfigError: The model cannot be used.
            MissingDependencyError: What a local model needs is not installed.
        """
        if model is not None:
            check_model(model)
            daily_budget()
        benchmark = self._store.benchmarks.load(benchmark_id)
        question_ids = None if question_ids is None else list(dict.fromkeys(question_ids))
        ids = to_draft(benchmark, question_ids, force_regenerate=replace_existing)
        before = stored_batch(self._store, benchmark_id) if continues and not alone else None
        kept = tuple(outcome for outcome in before.outcomes if outcome.question_id not in set(ids)) if before else ()
        batch = DraftBatch(benchmark_id, model, "running", len(ids) + len(kept), kept)
        questions = [benchmark.get_question(name) for name in ids]
        job = DraftJob(self._store, batch, questions, max_cost, keys, max_concurrent, author, keep=not alone)
        name = (benchmark_id, question_ids[0] if alone and question_ids else None)
        with self._lock:
            running = self._jobs.get(name)
            if running is not None and not running.ended.is_set():
                raise InputError("Templates are being drafted already.", next="Wait for them, or cancel it first.")
            self._jobs[name] = job
        job.begin()

    def batch(self, benchmark_id: str, question_id: str | None = None) -> DraftBatch | None:
        """Return the batch of a benchmark, or the draft of one question made alone; None where there is none."""
        job = self._jobs.get((benchmark_id, question_id))
        if job is not None and (question_id is not None or not job.ended.is_set()):
            return job.batch()
        return stored_batch(self._store, benchmark_id) if question_id is None else None

    def active(self) -> list[DraftBatch]:
        """Return the batches under way."""
        return [job.batch() for job in list(self._jobs.values()) if not job.ended.is_set()]

    def cancel(self, benchmark_id: str, question_id: str | None = None) -> None:
        """Ask for nothing more; returns when nothing is under way. What is drafted stays."""
        job = self._jobs.get((benchmark_id, question_id))
        if job is not None:
            job.cancel()
            job.ended.wait()

    def wait(
        self, benchmark_id: str, question_id: str | None = None, timeout: float | None = None
    ) -> DraftBatch | None:
        """Return the batch when it has ended, or after `timeout` seconds."""
        job = self._jobs.get((benchmark_id, question_id))
        if job is not None:
            job.ended.wait(timeout)
        return self.batch(benchmark_id, question_id)

    def forget(self, benchmark_id: str, question_id: str) -> None:
        """Forget the draft of one question made alone."""
        self._jobs.pop((benchmark_id, question_id), None)

    def close(self) -> None:
        """Cancel everything."""
        jobs = list(self._jobs.values())
        for job in jobs:
            job.cancel()
        for job in jobs:
            job.ended.wait()

    def __enter__(self) -> Drafter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
