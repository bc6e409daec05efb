"""What became of a batch of drafted templates: kept beside the benchmark, and taken back as a whole."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from karenina_core.authoring import REVIEW_PROPERTY, Review, add_draft
from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.errors import InputError, StoreError
from karenina_core.runs.store import Store
from karenina_core.schemas import ModelConfig
from karenina_core.schemas.entities.question import now

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
        again: Whether another attempt may succeed.
    """

    question_id: str
    state: DraftState
    why: str = ""
    reasons: tuple[str, ...] = ()
    digest: str | None = None
    before: Before | None = None
    again: bool = False


@dataclass(frozen=True)
class Proposal:
    """A draft on its way into a benchmark, or why there is none.

    Attributes:
        question: The question as it was when the template was drafted.
        source: The template; None where there is none.
        why: How it came about, or why there is none.
        review: What linter and self-test say of it.
        again: Whether another attempt may succeed.
    """

    question: BenchmarkQuestion
    source: str | None
    why: str
    review: Review | None = None
    again: bool = False


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
        return [outcome.question_id for outcome in self.outcomes if outcome.again]


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
    kept = store.settings.get(_SETTING + benchmark_id)
    if kept is None:
        return None
    try:
        batch = _BATCH.validate_python(kept, strict=False)
    except ValidationError:  # of a later version; the templates themselves are in the benchmark
        return None
    return replace(batch, status="interrupted") if batch.active else batch


def store_batch(store: Store, batch: DraftBatch) -> None:
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
    question = proposal.question
    if proposal.source is None:
        return Outcome(question.id, "none", proposal.why, again=proposal.again)
    if question.id not in benchmark:
        return Outcome(question.id, "none", CHANGED)
    current = benchmark.get_question(question.id)
    if (current.question, current.raw_answer) != (question.question, question.raw_answer):
        return Outcome(question.id, "none", CHANGED, again=True)
    if current.answer_template != question.answer_template:
        return Outcome(question.id, "none", OVERTAKEN)
    review = proposal.review
    before = Before(current.answer_template, current.finished, _review_of(current.custom_metadata))
    try:
        add_draft(benchmark, question.id, proposal.source, review)
    except InputError as error:
        return Outcome(question.id, "none", str(error), again=proposal.again)
    reasons = tuple(review.reasons) if review else ()
    digest = digest_of(benchmark.get_template(question.id))
    state: DraftState = "needs_review" if reasons else "checked"
    return Outcome(question.id, state, proposal.why, reasons, digest, before)


def _review_of(metadata: Mapping[str, object] | None) -> str | None:
    said = (metadata or {}).get(REVIEW_PROPERTY)
    return said if isinstance(said, str) else None


def _restore(benchmark: Benchmark, outcome: Outcome) -> None:
    assert outcome.before is not None
    name, before = outcome.question_id, outcome.before
    if before.template is None:
        benchmark.remove_template(name)
    else:
        benchmark.add_answer_template(name, before.template)
    if before.review is None:
        benchmark.remove_question_custom_property(name, REVIEW_PROPERTY)
    else:
        benchmark.set_question_custom_property(name, REVIEW_PROPERTY, before.review)
    if before.finished:
        benchmark.mark_finished(name)
    else:
        benchmark.mark_unfinished(name)
