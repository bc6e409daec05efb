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
from karenina_core.models.caller import Caller
from karenina_core.models.keys import KeySource, using_keys
from karenina_core.models.pace.rate import Rate
from karenina_core.models.readiness import check_model
from karenina_core.pipeline.generation import generate_template, to_draft
from karenina_core.runs.drafting.batch import (
    BatchStatus,
    DraftBatch,
    Proposal,
    save_drafts,
    store_batch,
    stored_batch,
)
from karenina_core.runs.drafting.calls import drafting_purse
from karenina_core.runs.engine.budget import daily_budget
from karenina_core.runs.engine.ledger import StoreLedger
from karenina_core.runs.engine.purse import Purse
from karenina_core.runs.engine.writer import Writer
from karenina_core.runs.plans.quotes import client_at
from karenina_core.runs.store import Store
from karenina_core.schemas.config import ModelConfig
from karenina_core.templates import write_template

log = logging.getLogger(__name__)
_SAVE_EVERY = 1.0  # seconds
_SHARE_OF_SAVING = 5  # a benchmark that takes long to save is saved less often

_Name = tuple[str, str | None]


class Drafter:
    """Starts and cancels batches of drafts. Its methods may be called from any thread.

    Args:
        store: Holds the benchmarks; stays open when the drafter is closed.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._jobs: dict[_Name, _Job] = {}

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
        benchmark = self._store.load_benchmark(benchmark_id)
        question_ids = None if question_ids is None else list(dict.fromkeys(question_ids))
        ids = to_draft(benchmark, question_ids, force_regenerate=replace_existing)
        before = stored_batch(self._store, benchmark_id) if continues and not alone else None
        kept = tuple(outcome for outcome in before.outcomes if outcome.question_id not in set(ids)) if before else ()
        batch = DraftBatch(benchmark_id, model, "running", len(ids) + len(kept), kept)
        questions = [benchmark.get_question(name) for name in ids]
        purse = drafting_purse(self._store, max_cost)
        job = _Job(self._store, batch, questions, purse, keys, max_concurrent, author, keep=not alone)
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


class _Job:
    """One batch under way, in a thread of its own."""

    def __init__(
        self,
        store: Store,
        batch: DraftBatch,
        questions: list[BenchmarkQuestion],
        purse: Purse,
        keys: KeySource | None,
        max_concurrent: int,
        author: str,
        *,
        keep: bool,
    ) -> None:
        self.ended = threading.Event()
        self._store = store
        self._batch = batch
        self._questions = questions
        self._purse = purse
        self._keys = keys
        self._max_concurrent = max_concurrent
        self._author = author
        self._keep = keep
        self._cancelled = threading.Event()
        self._rate = Rate()
        self._lock = threading.Lock()  # a question that moves from one of the two to the other counts once
        self._waiting: list[Proposal] = []
        self._next_save = time.monotonic() + _SAVE_EVERY
        self._asking: tuple[asyncio.AbstractEventLoop, asyncio.Task[None]] | None = None

    def begin(self) -> None:
        """Start the thread."""
        if self._keep:
            store_batch(self._store, self._batch)
        threading.Thread(target=self._run, name="karenina-drafter", daemon=True).start()

    def batch(self) -> DraftBatch:
        """Return the batch as it stands."""
        with self._lock:
            batch, waiting = self._batch, len(self._waiting)
        spent = self._purse.spent
        rate = self._rate.per_minute if batch.active else None
        return replace(batch, waiting=waiting, calls=spent.calls, cost=spent.cost, per_minute=rate)

    def cancel(self) -> None:
        """Ask for nothing more."""
        self._cancelled.set()
        if self._asking is not None:
            loop, task = self._asking
            with suppress(RuntimeError):  # it has just ended by itself
                loop.call_soon_threadsafe(task.cancel)

    def _run(self) -> None:
        status, message = self._carried_out()
        try:
            self._save()
            self._batch = replace(self.batch(), status=status, message=message, per_minute=None)
            if self._keep:
                store_batch(self._store, self._batch)
        except KareninaError as error:
            self._batch = replace(self.batch(), status="failed", message=str(error), per_minute=None)
            with suppress(KareninaError):
                if self._keep:
                    store_batch(self._store, self._batch)
        finally:
            self.ended.set()

    def _carried_out(self) -> tuple[BatchStatus, str]:
        """Draft everything; return how it ended, and why if it ended early."""
        model = self._batch.model
        try:
            if model is None:
                self._by_rule()
            else:
                asyncio.run(self._ask(model))
        except asyncio.CancelledError:
            pass
        except KareninaError as error:
            return "failed", str(error)
        except Exception as error:
            log.exception("Drafting for benchmark %s failed", self._batch.benchmark_id)
            return "failed", f"Drafting stopped because of an internal error: {type(error).__name__}: {error}"
        return ("cancelled", "") if self._cancelled.is_set() else ("completed", "")

    def _by_rule(self) -> None:
        for question in self._questions:
            if self._cancelled.is_set():
                return
            self._note(_proposed_by_rule(question))
            self._save_if_due()

    async def _ask(self, model: ModelConfig) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._asking = asyncio.get_running_loop(), task
        if self._cancelled.is_set():
            return
        writer = Writer(self._store)
        ledger = StoreLedger(self._store, writer)
        clients = client_at(self._store.prices())
        try:
            with using_keys(self._keys):
                async with Caller(ledger, clients, max_concurrent=self._max_concurrent, meter=self._purse) as caller:
                    await asyncio.gather(*(self._ask_about(caller, model, question) for question in self._questions))
        finally:
            await asyncio.to_thread(ledger.close)
            await asyncio.to_thread(writer.close)

    async def _ask_about(self, caller: Caller, model: ModelConfig, question: BenchmarkQuestion) -> None:
        made = await generate_template(caller, model, question.id, question)
        self._note(Proposal(question, made.source, made.plan or made.error or "", made.review, made.source is None))
        if self._is_due():
            await asyncio.to_thread(self._save)

    def _note(self, proposal: Proposal) -> None:
        self._waiting.append(proposal)
        self._rate.add()

    def _is_due(self) -> bool:
        """Say whether to save now; whoever is told so does it, and nobody else."""
        if time.monotonic() < self._next_save:
            return False
        self._next_save = float("inf")
        return True

    def _save_if_due(self) -> None:
        if self._is_due():
            self._save()

    def _save(self) -> None:
        begun = time.monotonic()
        proposals = list(self._waiting)
        outcomes = save_drafts(self._store, self._batch.benchmark_id, proposals, author=self._author)
        with self._lock:
            self._batch = replace(self._batch, outcomes=self._batch.outcomes + tuple(outcomes))
            # Others may have added to the list meanwhile.
            del self._waiting[: len(proposals)]
        if self._keep:
            store_batch(self._store, self.batch())
        now = time.monotonic()
        self._next_save = now + max(_SAVE_EVERY, _SHARE_OF_SAVING * (now - begun))


def _proposed_by_rule(question: BenchmarkQuestion) -> Proposal:
    try:
        draft = draft_by_rule(question.question, question.raw_answer, question.answer_notes)
        source = None if draft.spec is None else write_template(draft.spec)
    except KareninaError as error:
        return Proposal(question, None, str(error))
    return Proposal(question, source, draft.why, draft.review)
