"""One batch of drafts under way, in a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from contextlib import suppress
from dataclasses import replace

from karenina_core.authoring import draft_by_rule
from karenina_core.benchmark import BenchmarkQuestion
from karenina_core.errors import KareninaError
from karenina_core.models import CallServices, KeySource, ModelCaller, Rate, RunLimiter, using_keys
from karenina_core.pipeline import generate_template
from karenina_core.runs.cancellation import Cancellation
from karenina_core.runs.drafting.batch import (
    BatchStatus,
    DraftBatch,
    Proposal,
    save_drafts,
    store_batch,
)
from karenina_core.runs.engine.ledger import RunLedger, StoreLedger
from karenina_core.runs.engine.spending import SpendMeter
from karenina_core.runs.engine.writer import BatchWriter
from karenina_core.runs.prices import client_at
from karenina_core.runs.store import Store
from karenina_core.schemas import ModelConfig
from karenina_core.templates import write_template

log = logging.getLogger(__name__)
_SAVE_EVERY = 1.0  # seconds
_SHARE_OF_SAVING = 5  # a benchmark that takes long to save is saved less often


class DraftJob:
    """One batch under way, in a thread of its own.

    Args:
        store: Holds the benchmark.
        batch: As it is at the start.
        questions: Those to draft for.
        max_cost: US dollars that may be spent; None without a bound.
        keys: Asked for keys before the environment.
        max_concurrent: Calls in flight at once.
        author: Who has them drafted.
        keep: Whether the batch is stored, as the last one of its benchmark.
    """

    def __init__(
        self,
        store: Store,
        batch: DraftBatch,
        questions: list[BenchmarkQuestion],
        max_cost: float | None,
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
        self._spend = SpendMeter(lambda: asyncio.to_thread(store.spending.today), max_cost, of="drafting")
        self._keys = keys
        self._max_concurrent = max_concurrent
        self._author = author
        self._keep = keep
        self._cancellation = Cancellation()
        self._rate = Rate()
        self._lock = threading.Lock()  # a question that moves from one of the two to the other counts once
        self._waiting: list[Proposal] = []
        self._next_save = time.monotonic() + _SAVE_EVERY

    def begin(self) -> None:
        """Start the thread."""
        if self._keep:
            store_batch(self._store, self._batch)
        threading.Thread(target=self._run, name="karenina-drafter", daemon=True).start()

    def batch(self) -> DraftBatch:
        """Return the batch as it stands."""
        with self._lock:
            batch, waiting = self._batch, len(self._waiting)
        spent = self._spend.spent
        rate = self._rate.per_minute if batch.active else None
        return replace(batch, waiting=waiting, calls=spent.calls - spent.cached_calls, cost=spent.cost, per_minute=rate)

    def cancel(self) -> None:
        """Ask for nothing more."""
        self._cancellation.ask()

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
        return ("cancelled", "") if self._cancellation.wanted else ("completed", "")

    def _by_rule(self) -> None:
        for question in self._questions:
            if self._cancellation.wanted:
                return
            self._note(_proposed_by_rule(question))
            self._save_if_due()

    async def _ask(self, model: ModelConfig) -> None:
        self._cancellation.watch()
        writer = BatchWriter(self._store)
        ledger = StoreLedger(self._store, writer)
        services = CallServices(RunLedger(ledger, self._spend), RunLimiter(self._max_concurrent), self._spend)
        try:
            with using_keys(self._keys):
                async with ModelCaller(services, client_at(self._store.settings.prices())) as caller:
                    await asyncio.gather(*(self._ask_about(caller, model, question) for question in self._questions))
        finally:
            await asyncio.to_thread(ledger.close)
            await asyncio.to_thread(writer.close)
            self._store.spending.add(self._spend.take().cost)

    async def _ask_about(self, caller: ModelCaller, model: ModelConfig, question: BenchmarkQuestion) -> None:
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
