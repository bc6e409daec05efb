"""Drafts templates of stored benchmarks in the background: one batch for each benchmark at a time."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from karenina_core.authoring import draft_by_rule
from karenina_core.benchmark import BenchmarkQuestion
from karenina_core.errors import InputError, KareninaError
from karenina_core.models import KeySource, Rate, check_model
from karenina_core.pipeline import generate_template, to_draft
from karenina_core.runs.drafting.batch import (
    BatchStatus,
    DraftBatch,
    Proposal,
    save_drafts,
    store_batch,
    stored_batch,
)
from karenina_core.runs.engine.engine import Engine
from karenina_core.runs.engine.job import BackgroundJob, JobServices, failure_text
from karenina_core.runs.engine.spending import daily_budget
from karenina_core.schemas import ModelConfig
from karenina_core.templates import write_template

log = logging.getLogger(__name__)
_Name = tuple[str, str | None]
_SAVE_EVERY = 1.0  # seconds
_SHARE_OF_SAVING = 5  # a benchmark that takes long to save is saved less often


class DraftJob(BackgroundJob):
    """One batch under way.

    Args:
        shared: What the jobs of the engine share.
        batch: As it is at the start.
        questions: Those to draft for.
        max_cost: US dollars that may be spent; None without a bound.
        max_concurrent: Calls in flight at once.
        author: Who has them drafted.
        stored: Whether the batch is stored, as the last one of its benchmark.
    """

    def __init__(
        self,
        shared: JobServices,
        batch: DraftBatch,
        questions: list[BenchmarkQuestion],
        max_cost: float | None,
        max_concurrent: int,
        author: str,
        *,
        stored: bool,
    ) -> None:
        super().__init__(shared, max_concurrent=max_concurrent, max_cost=max_cost, of="drafting", ends_with_money=False)
        self._batch = batch
        self._questions = questions
        self._author = author
        self._stored = stored
        self._rate = Rate()
        self._lock = threading.Lock()  # a question that moves from one of the two to the other counts once
        self._waiting: list[Proposal] = []
        self._next_save = time.monotonic() + _SAVE_EVERY

    def batch(self) -> DraftBatch:
        """Return the batch as it stands; from any thread."""
        with self._lock:
            batch, waiting = self._batch, len(self._waiting)
        spent = self.spend.spent
        rate = self._rate.per_minute if batch.active else None
        calls = spent.calls - spent.cached_calls
        return replace(batch, waiting=waiting, calls=calls, cost=spent.cost, per_minute=rate)

    async def work(self) -> None:
        """Draft everything."""
        if self._stored:
            await asyncio.to_thread(store_batch, self.shared.store, self._batch)
        if (model := self._batch.model) is not None:
            await asyncio.gather(*(self._ask(model, question) for question in self._questions))
            return
        for question in self._questions:
            await self._note(await asyncio.to_thread(_proposed_by_rule, question))

    async def finish(self, error: BaseException | None) -> None:
        """Save what is left, and note how it ended."""
        status: BatchStatus = "completed"
        message = ""
        if isinstance(error, asyncio.CancelledError):
            status = "cancelled"
        elif error is not None:
            log.error("Drafting for benchmark %s failed", self._batch.benchmark_id, exc_info=error)
            status, message = "failed", failure_text(error)
        await asyncio.to_thread(self._end, status, message)

    def _end(self, status: BatchStatus, message: str) -> None:
        try:
            self._save()
            self.shared.store.spending.add(self.spend.take().cost)
        except KareninaError as error:
            status, message = "failed", str(error)
        self._batch = replace(self.batch(), status=status, message=message, per_minute=None)
        if self._stored:
            with suppress(KareninaError):
                store_batch(self.shared.store, self._batch)

    async def _ask(self, model: ModelConfig, question: BenchmarkQuestion) -> None:
        draft = await generate_template(self.caller, model, question.id, question)
        why = draft.plan or draft.error or ""
        await self._note(Proposal(question, draft.source, why, draft.review, draft.source is None))

    async def _note(self, proposal: Proposal) -> None:
        self._waiting.append(proposal)
        self._rate.add()
        if time.monotonic() >= self._next_save:
            self._next_save = float("inf")  # whoever comes first saves, and nobody else
            await asyncio.to_thread(self._save)

    def _save(self) -> None:
        begun = time.monotonic()
        proposals = list(self._waiting)
        outcomes = save_drafts(self.shared.store, self._batch.benchmark_id, proposals, author=self._author)
        with self._lock:
            self._batch = replace(self._batch, outcomes=self._batch.outcomes + tuple(outcomes))
            # Others may have added to the list meanwhile.
            del self._waiting[: len(proposals)]
        if self._stored:
            store_batch(self.shared.store, self.batch())
        now = time.monotonic()
        self._next_save = now + max(_SAVE_EVERY, _SHARE_OF_SAVING * (now - begun))


def _proposed_by_rule(question: BenchmarkQuestion) -> Proposal:
    try:
        draft = draft_by_rule(question.question, question.raw_answer, question.answer_notes)
        source = None if draft.spec is None else write_template(draft.spec)
    except KareninaError as error:
        return Proposal(question, None, str(error))
    return Proposal(question, source, draft.why, draft.review)


class Drafter:
    """Starts and cancels batches of drafts. Its methods may be called from any thread.

    Args:
        engine: Carries the batches out; stays open when the drafter is closed.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._store = engine.shared.store
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
        shared = self._engine.shared
        job = DraftJob(shared, batch, questions, max_cost, max_concurrent, author, stored=not alone)
        name = (benchmark_id, question_ids[0] if alone and question_ids else None)
        with self._lock:
            running = self._jobs.get(name)
            if running is not None and not running.ended.is_set():
                raise InputError("Templates are being drafted already.", next="Wait for them, or cancel it first.")
            self._jobs[name] = job
        self._engine.begin_job(job, keys)

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
            self._engine.cancel_job(job)

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
        for job in list(self._jobs.values()):
            self._engine.cancel_job(job)

    def __enter__(self) -> Drafter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
