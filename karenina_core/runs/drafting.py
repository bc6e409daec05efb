"""Drafting templates of a benchmark: in one call, or in the background for a stored one, and taking them back.

A batch is kept beside its benchmark. Whatever was changed in the benchmark since a template was drafted stays as it is.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, NamedTuple

from pydantic import AliasChoices, BeforeValidator, Field, TypeAdapter, ValidationError

from karenina_core.authoring import REVIEW_PROPERTY, add_draft, draft_by_rule
from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.errors import InputError, KareninaError, StoreError
from karenina_core.models import KeySource, Rate, RunLimiter, check_model, using_keys
from karenina_core.pipeline import GeneratedTemplate, draft_request, generate_template, generation, to_draft
from karenina_core.runs.calls import Jobs, store_calls
from karenina_core.runs.engine.job import BackgroundJob, JobServices
from karenina_core.runs.engine.spending import daily_budget
from karenina_core.runs.estimates import Estimate, dry_run, estimate_calls
from karenina_core.runs.prices import client_at
from karenina_core.runs.store import Store
from karenina_core.schemas import ModelConfig
from karenina_core.schemas.entities.question import now
from karenina_core.templates import write_template

_SAVE_EVERY = 1.0  # seconds
_SHARE_OF_SAVING = 5  # a benchmark that takes long to save is saved less often
# Batches stored by earlier versions say `ready`, which is the word for questions that take part in runs.
DraftState = Annotated[
    Literal["checked", "needs_review", "none"],
    BeforeValidator(lambda state: "checked" if state == "ready" else state),
]
"""`checked`: nothing was found against the draft. `needs_review`: a person has to look. `none`: there is no draft."""
BatchStatus = Literal["running", "completed", "cancelled", "interrupted", "failed"]

CHANGED = "The question was changed or deleted while its template was drafted."
OVERTAKEN = "The question got another template meanwhile, which was left as it is."
_SETTING = "drafting/"
_ATTEMPTS = 20  # to save beside somebody else who saves
_PAUSE = 0.02  # seconds to step aside for them, times the number of attempts


@dataclass(frozen=True)
class Before:
    """What a question had before it got a draft."""

    template: str | None
    finished: bool
    review: str | None


@dataclass(frozen=True)
class Outcome:
    """What became of one question.

    Attributes:
        question_id: The question.
        state: Whether there is a draft, and whether a person has to look at it.
        why: How the draft came about, or why there is none.
        reasons: Why a person has to look at it, one sentence each.
        digest: Identity of the source that was added; None where nothing was.
        before: What the question had before; None where nothing was added.
        retryable: Whether another attempt may succeed.
    """

    question_id: str
    state: DraftState
    why: str = ""
    reasons: tuple[str, ...] = ()
    digest: str | None = None
    before: Before | None = None
    retryable: Annotated[bool, Field(validation_alias=AliasChoices("retryable", "again"))] = False


Proposal = tuple[BenchmarkQuestion, GeneratedTemplate]
"""A question as it was when its template was drafted, and what became of that."""


@dataclass(frozen=True)
class DraftBatch:
    """A batch as it stands.

    Attributes:
        benchmark_id: The stored benchmark.
        model: Who drafts; None for the rules.
        status: `interrupted` when the process ended before the batch did.
        total: Questions wanted.
        outcomes: Those that are done and saved, in the order in which they were.
        waiting: Those that are done and will be saved in a moment.
        started: ISO 8601 in UTC.
        message: Why it ended early, if it did.
        calls: Calls made; those that the ledger answers do not count.
        cost: US dollars; None when no price is known.
        per_minute: Questions per minute, None while it is unknown or nothing is under way.
    """

    benchmark_id: str
    model: ModelConfig | None
    status: BatchStatus
    total: int
    outcomes: tuple[Outcome, ...] = ()
    waiting: int = 0
    started: str = field(default_factory=now)
    message: str = ""
    calls: int = 0
    cost: float | None = None
    per_minute: float | None = None

    @property
    def active(self) -> bool:
        """Whether it is under way."""
        return self.status == "running"

    @property
    def done(self) -> int:
        """Questions that are done."""
        return len(self.outcomes) + self.waiting

    @property
    def seconds_left(self) -> float | None:
        """Seconds that are left at this rate, None while it is unknown."""
        return 60 * (self.total - self.done) / self.per_minute if self.per_minute else None

    def of(self, state: DraftState) -> list[Outcome]:
        """Return the outcomes of a state."""
        return [outcome for outcome in self.outcomes if outcome.state == state]

    @property
    def failed(self) -> list[str]:
        """The questions for which another attempt may succeed."""
        return [outcome.question_id for outcome in self.outcomes if outcome.retryable]


class Undone(NamedTuple):
    """How many questions have what they had before, and how many were left because they were changed since."""

    restored: int
    left: int


_BATCH = TypeAdapter(DraftBatch)


def digest_of(source: str | None) -> str | None:
    """Return the identity of a template's text."""
    return None if source is None else hashlib.sha256(source.encode()).hexdigest()[:16]


def stored_batch(store: Store, benchmark_id: str) -> DraftBatch | None:
    """Return the last batch of a benchmark, None where there is none that can be read.

    One that says it is running was left behind by a process that ended.
    """
    stored = store.settings.get(_SETTING + benchmark_id)
    if stored is None:
        return None
    try:
        batch = _BATCH.validate_python(stored, strict=False)
    except ValidationError:  # of a later version; the templates themselves are in the benchmark
        return None
    return replace(batch, status="interrupted") if batch.active else batch


def _store_batch(store: Store, batch: DraftBatch) -> None:
    """Keep a batch beside its benchmark, in place of an earlier one."""
    store.settings.set(_SETTING + batch.benchmark_id, _BATCH.dump_python(batch, mode="json"))


def forget_batch(store: Store, benchmark_id: str) -> None:
    """Forget what was drafted last; the templates stay."""
    store.settings.remove(_SETTING + benchmark_id)


def save_drafts(store: Store, benchmark_id: str, proposals: Sequence[Proposal], *, author: str = "") -> list[Outcome]:
    """Add drafts to a stored benchmark, and return what became of them.

    Whatever was changed in the benchmark since they were drafted stays as it is.

    Args:
        store: Holds the benchmark.
        benchmark_id: The benchmark.
        proposals: The drafts.
        author: Who had them drafted, for the history.

    Raises:
        InputError: There is no such benchmark.
        StoreError: It cannot be saved.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        revision = store.benchmarks.row(benchmark_id).revision
        benchmark = store.benchmarks.load(benchmark_id)
        outcomes = [_add(benchmark, proposal) for proposal in proposals]
        if all(outcome.digest is None for outcome in outcomes):
            break
        try:
            store.benchmarks.save(benchmark, benchmark_id, expected_revision=revision, author=author)
            break
        except StoreError:
            # Somebody else has saved in this very moment: their version is the one to add to.
            if attempt == _ATTEMPTS or store.benchmarks.row(benchmark_id).revision == revision:
                raise
            time.sleep(random.uniform(0, _PAUSE * attempt))
    return outcomes


def undo_drafts(store: Store, benchmark_id: str, outcomes: Iterable[Outcome], *, author: str = "") -> Undone:
    """Give the questions of a batch what they had before; templates that were changed since stay.

    Args:
        store: Holds the benchmark.
        benchmark_id: The benchmark.
        outcomes: What became of the questions.
        author: Who takes them back, for the history.

    Raises:
        InputError: There is no such benchmark.
        StoreError: It cannot be saved.
    """
    added = {outcome.question_id: outcome for outcome in outcomes if outcome.digest is not None}
    revision = store.benchmarks.row(benchmark_id).revision
    benchmark = store.benchmarks.load(benchmark_id)
    mine = [
        outcome
        for name, outcome in added.items()
        if name in benchmark and digest_of(benchmark.get_template(name)) == outcome.digest
    ]
    for outcome in mine:
        _restore(benchmark, outcome)
    if mine:
        store.benchmarks.save(benchmark, benchmark_id, expected_revision=revision, author=author)
    return Undone(len(mine), len(added) - len(mine))


def clean_drafts(benchmark: Benchmark, outcomes: Iterable[Outcome]) -> list[str]:
    """Return the unfinished questions whose draft has nothing against it and is still as it was drafted."""
    return [
        outcome.question_id
        for outcome in outcomes
        if outcome.state == "checked"
        and outcome.question_id in benchmark
        and not benchmark.get_question(outcome.question_id).finished
        and digest_of(benchmark.get_template(outcome.question_id)) == outcome.digest
    ]


def _add(benchmark: Benchmark, proposal: Proposal) -> Outcome:
    question, draft = proposal
    why = draft.plan or draft.error or ""
    if draft.source is None:
        return Outcome(question.id, "none", why, retryable=draft.error is not None)
    if question.id not in benchmark:
        return Outcome(question.id, "none", CHANGED)
    current = benchmark.get_question(question.id)
    if (current.question, current.raw_answer) != (question.question, question.raw_answer):
        return Outcome(question.id, "none", CHANGED, retryable=True)
    if current.answer_template != question.answer_template:
        return Outcome(question.id, "none", OVERTAKEN)
    earlier = (current.custom_metadata or {}).get(REVIEW_PROPERTY)
    before = Before(current.answer_template, current.finished, earlier if isinstance(earlier, str) else None)
    try:
        add_draft(benchmark, question.id, draft.source, draft.review)
    except InputError as error:
        return Outcome(question.id, "none", str(error))
    reasons = tuple(draft.review.reasons) if draft.review else ()
    digest = digest_of(benchmark.get_template(question.id))
    return Outcome(question.id, "needs_review" if reasons else "checked", why, reasons, digest, before)


def _restore(benchmark: Benchmark, outcome: Outcome) -> None:
    assert outcome.before is not None
    name, before = outcome.question_id, outcome.before
    benchmark.update_question(name, answer_template=before.template, finished=before.finished)
    if before.review is None:
        benchmark.remove_question_custom_property(name, REVIEW_PROPERTY)
    else:
        benchmark.set_question_custom_property(name, REVIEW_PROPERTY, before.review)


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
        limiter = RunLimiter(max_concurrent)
        super().__init__(shared, limiter, max_cost=max_cost, of="drafting", ends_with_money=False)
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
            await asyncio.to_thread(_store_batch, self.shared.store, self._batch)
        if (model := self._batch.model) is not None:
            await asyncio.gather(*(self._ask(model, question) for question in self._questions))
            return
        for question in self._questions:
            await self._note(question, await asyncio.to_thread(_by_rule, question))

    async def finish(self, error: BaseException | None) -> None:
        """Save what is left, and note how it ended."""
        with suppress(StoreError):  # what the calls cost is entered with their replies
            await self.shared.writer.flush()
        await asyncio.to_thread(self._end, *self.ending(error))

    def _end(self, status: BatchStatus, message: str) -> None:
        try:
            self._save()
            self.shared.store.spending.add(self.spend.take().cost)
        except KareninaError as error:
            status, message = "failed", str(error)
        self._batch = replace(self.batch(), status=status, message=message, per_minute=None)
        if self._stored:
            with suppress(KareninaError):
                _store_batch(self.shared.store, self._batch)

    async def _ask(self, model: ModelConfig, question: BenchmarkQuestion) -> None:
        await self._note(question, await generate_template(self.caller, model, question.id, question))

    async def _note(self, question: BenchmarkQuestion, draft: GeneratedTemplate) -> None:
        self._waiting.append((question, draft))
        self._rate.add()
        if time.monotonic() >= self._next_save:
            self._next_save = float("inf")  # whoever comes first saves, and nobody else
            await asyncio.to_thread(self._save)

    def _save(self) -> None:
        began = time.monotonic()
        proposals = list(self._waiting)
        outcomes = save_drafts(self.shared.store, self._batch.benchmark_id, proposals, author=self._author)
        with self._lock:
            self._batch = replace(self._batch, outcomes=self._batch.outcomes + tuple(outcomes))
            # Others may have added to the list meanwhile.
            del self._waiting[: len(proposals)]
        if self._stored:
            _store_batch(self.shared.store, self.batch())
        ended = time.monotonic()
        self._next_save = ended + max(_SAVE_EVERY, _SHARE_OF_SAVING * (ended - began))


def _by_rule(question: BenchmarkQuestion) -> GeneratedTemplate:
    try:
        draft = draft_by_rule(question.question, question.raw_answer, question.answer_notes)
        source = None if draft.spec is None else write_template(draft.spec)
    except KareninaError as error:
        return GeneratedTemplate(question.id, plan=str(error))
    return GeneratedTemplate(question.id, source, review=draft.review, plan=draft.why)


class Drafter(Jobs[DraftJob]):
    """Starts and cancels batches of drafts, by the benchmark; or by benchmark and question where one is made alone."""

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
        shared = self._engine.shared
        benchmark = shared.store.benchmarks.load(benchmark_id)
        question_ids = None if question_ids is None else list(dict.fromkeys(question_ids))
        ids = to_draft(benchmark, question_ids, force_regenerate=replace_existing)
        before = stored_batch(shared.store, benchmark_id) if continues and not alone else None
        earlier = tuple(outcome for outcome in before.outcomes if outcome.question_id not in set(ids)) if before else ()
        batch = DraftBatch(benchmark_id, model, "running", len(ids) + len(earlier), earlier)
        questions = [benchmark.get_question(name) for name in ids]
        job = DraftJob(shared, batch, questions, max_cost, max_concurrent, author, stored=not alone)
        name = (benchmark_id, question_ids[0]) if alone and question_ids else (benchmark_id,)
        with self._lock:
            if self._running(*name):
                raise InputError("Templates are being drafted already.", next="Wait for them, or cancel it first.")
            self._begin(name, job, keys)

    def batch(self, benchmark_id: str, question_id: str | None = None) -> DraftBatch | None:
        """Return the batch of a benchmark, or the draft of one question made alone; None where there is none."""
        job = self._job(benchmark_id, question_id)
        if job is not None and (question_id is not None or not job.ended.is_set()):
            return job.batch()
        return stored_batch(self._engine.shared.store, benchmark_id) if question_id is None else None

    def active(self) -> list[DraftBatch]:
        """Return the batches under way."""
        return [job.batch() for job in list(self._jobs.values()) if not job.ended.is_set()]

    def wait(
        self, benchmark_id: str, question_id: str | None = None, timeout: float | None = None
    ) -> DraftBatch | None:
        """Return the batch when it has ended, or after `timeout` seconds."""
        self.join(benchmark_id, question_id, timeout=timeout)
        return self.batch(benchmark_id, question_id)


def generate_all_templates(
    benchmark: Benchmark,
    model_config: ModelConfig,
    *,
    question_ids: Sequence[str] | None = None,
    force_regenerate: bool = False,
    store: Store | None = None,
    max_cost: float | None = None,
    keys: KeySource | None = None,
    max_concurrent: int = 4,
    progress_callback: Callable[[float, str], None] | None = None,
) -> Mapping[str, GeneratedTemplate]:
    """Draft templates for questions that have none, and add them to the benchmark.

    What was drafted before is taken from the store's ledger. When the money is spent, the questions that are left say
    so in their `error`, and what is drafted stays.

    Args:
        benchmark: Gets the new templates.
        model_config: The drafting model.
        question_ids: Only these questions.
        force_regenerate: Replace existing templates too.
        store: Its ledger remembers the calls, and its account counts them towards the daily budget; the user's own
            store when not given.
        max_cost: US dollars that may be spent; models without a known price do not count.
        keys: Asked for keys before the environment.
        max_concurrent: Calls in flight at once.
        progress_callback: Called with percent (0 to 100) and a line of text after every question.

    Returns:
        What became of every question, by id.

    Raises:
        ConfigError: The model cannot be used.
        StoreError: The database refuses.
    """
    check_model(model_config)
    with (
        Store.open() if store is None else nullcontext(store) as opened,
        store_calls(opened, of="drafting", max_cost=max_cost, max_concurrent=max_concurrent) as services,
        using_keys(keys),
    ):
        return generation.generate_all_templates(
            benchmark,
            model_config,
            question_ids=question_ids,
            force_regenerate=force_regenerate,
            services=services,
            progress_callback=progress_callback,
            clients=client_at(opened.settings.prices()),
        )


def estimate_templates(
    benchmark: Benchmark,
    model_config: ModelConfig,
    *,
    question_ids: Sequence[str] | None = None,
    force_regenerate: bool = False,
    store: Store | None = None,
    max_concurrent: int = 4,
) -> Estimate | None:
    """Return what drafting takes from its provider; None when the model is not at a provider.

    Args:
        benchmark: Whose questions are looked at.
        model_config: The drafting model.
        question_ids: Only these questions.
        force_regenerate: Count questions that have a template too.
        store: Its ledger tells which drafts are known and what drafts take; its prices count first.
        max_concurrent: Calls in flight at once.
    """
    if not model_config.is_provider:
        return None
    ids = to_draft(benchmark, question_ids, force_regenerate=force_regenerate)
    requests = [draft_request(model_config, name, benchmark.get_question_as_object(name)) for name in ids]
    count = dry_run(store, requests, lambda caller, request: caller.complete(model_config, request))
    return estimate_calls([model_config], count, store, max_concurrent)
