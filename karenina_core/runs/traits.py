"""Traits beside a run: kept in a library, tried, searched for in stored answers, and scored in a stored run.

Scoring asks judges and no model under test. Nothing that a run has is changed: the verdict, the extraction and the
traits of a result stay as they are, and the new trait is added beside them. Its definition is kept with the run, for
its name says too little.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from pydantic import TypeAdapter, ValidationError

from karenina_core import patterns
from karenina_core.errors import ConfigError, InputError, StoreError, validation_message
from karenina_core.files import json_bytes, read_json
from karenina_core.models import KeySource, ModelCaller, RunLimiter, check_model
from karenina_core.pipeline import Sample, TraitScorer, needs_judge
from karenina_core.runs.calls import call_now
from karenina_core.runs.engine.engine import Engine
from karenina_core.runs.engine.job import BackgroundJob, JobServices, failure_text
from karenina_core.runs.engine.writer import ResultWrite
from karenina_core.runs.estimates import CallCount, Estimate, dry_run, estimate_calls
from karenina_core.runs.plan import Plan
from karenina_core.runs.reverification import RunAnswer
from karenina_core.runs.store import Store
from karenina_core.runs.store.database import clean, clean_text, to_json
from karenina_core.runs.store.results import rows_of
from karenina_core.schemas import (
    AnyTrait,
    ManualRubricTrait,
    ModelConfig,
    RowKey,
    RubricPart,
    StoredTrait,
    Trait,
    VerificationResult,
    merge_rubrics,
    result_id,
    total_usage,
)
from karenina_core.schemas.entities.question import now

log = logging.getLogger(__name__)
_TRAIT: TypeAdapter[AnyTrait] = TypeAdapter(Trait)
_PAGE = 200  # results that are held at once
FORMAT = "karenina-traits"
VERSION = 1
MOST_TRAITS = 2_000
"""Traits of one file at most."""
MAX_SECONDS = 5.0
"""For which the traits of one file are checked at most."""
_LIBRARY = "library/trait/"


@dataclass(frozen=True)
class LibraryTrait:
    """A trait of the library.

    Attributes:
        id: By what the trait says; the same trait is kept once.
        trait: The trait.
        origin: Where it came from, in words; often empty.
        saved: ISO 8601 in UTC.
    """

    id: str
    trait: AnyTrait
    origin: str
    saved: str


def library(store: Store) -> list[LibraryTrait]:
    """Return the library by name, those of one name by age."""
    entries = [_library_trait(item) for item in store.settings.all(_LIBRARY).values()]
    return sorted(entries, key=lambda entry: (entry.trait.name.casefold(), entry.saved))


def add_to_library(store: Store, trait: AnyTrait, origin: str = "") -> LibraryTrait:
    """Keep a trait; one that is there already stays as it is.

    Two traits of one name can both be kept when they say different things.

    Args:
        store: Holds the library.
        trait: The trait.
        origin: Where it comes from, such as the name of a benchmark.

    Raises:
        InputError: It is not evaluated here, so that nobody could use it.
    """
    if isinstance(trait, StoredTrait):
        raise InputError(
            f"The trait {trait.name!r} cannot be kept in the library.", why=f"It is not evaluated: {trait.reason}."
        )
    trait = _TRAIT.validate_python(_dumped(trait))
    entry = LibraryTrait(_trait_id(trait), trait, clean_text(origin), now())
    known = store.settings.get(_LIBRARY + entry.id)
    if known is not None:
        return _library_trait(known)
    put_back(store, entry)
    return entry


def put_back(store: Store, entry: LibraryTrait) -> None:
    """Keep an entry as it was; undoes `remove_from_library`."""
    stored = {"trait": _dumped(entry.trait), "origin": entry.origin, "saved": entry.saved}
    store.settings.set(_LIBRARY + entry.id, stored)


def remove_from_library(store: Store, entry_id: str) -> LibraryTrait:
    """Forget a trait and return it.

    Raises:
        InputError: There is none of that id.
    """
    known = store.settings.get(_LIBRARY + entry_id)
    if known is None:
        raise InputError("This trait is no longer in the library.")
    store.settings.remove(_LIBRARY + entry_id)
    return _library_trait(known)


def library_file(traits: Iterable[AnyTrait]) -> bytes:
    """Return traits as a JSON file that `read_library` reads."""
    return json_bytes({"format": FORMAT, "version": VERSION, "traits": [_dumped(trait) for trait in traits]})


def read_library(data: bytes | str) -> list[AnyTrait]:
    """Return the traits of a file: what `library_file` writes, or a plain list of traits.

    Raises:
        InputError: It is none of the two, or one of its traits cannot be used; nothing of it is taken then.
    """
    content = read_json(data)
    if isinstance(content, dict) and content.get("format") == FORMAT:
        if content.get("version") != VERSION:
            raise InputError(
                "The file was written by a newer version of the workbench.", next="Update the workbench, then read it."
            )
        content = content.get("traits")
    if not isinstance(content, list):
        raise InputError("The file is no trait library.", next="Choose a file that was exported from a library.")
    if len(content) > MOST_TRAITS:
        raise InputError(
            f"The file holds {len(content):,} traits.", next=f"Split it into files of at most {MOST_TRAITS:,}."
        )
    until, traits = time.monotonic() + MAX_SECONDS, []
    for number, item in enumerate(content, start=1):
        if time.monotonic() > until:
            raise InputError(
                "The patterns of the file take too long to check.",
                f"After {MAX_SECONDS:.0f} seconds, {number - 1} of its {len(content):,} traits were checked.",
                "Split it into smaller files, or leave out traits with very large patterns.",
            )
        traits.append(_read_trait(item, number))
    return traits


def _read_trait(item: Any, number: int) -> AnyTrait:
    try:
        trait = _TRAIT.validate_python(item)
    except ValidationError as error:
        raise InputError(f"Trait {number} of the file cannot be used.", why=validation_message(error)) from error
    if isinstance(trait, StoredTrait):
        raise InputError(f"Trait {number} of the file cannot be used.", why=f"It is not evaluated: {trait.reason}.")
    return trait


def _library_trait(item: dict[str, Any]) -> LibraryTrait:
    trait = _parsed(to_json(item["trait"]))
    return LibraryTrait(_trait_id(trait), trait, item["origin"], item["saved"])


# A page draws the library again and again, and its patterns take long to check.
@lru_cache(maxsize=2 * MOST_TRAITS)
def _parsed(stored: str) -> AnyTrait:
    return _TRAIT.validate_json(stored)


def _dumped(trait: AnyTrait) -> dict[str, Any]:
    dumped: dict[str, Any] = clean(_TRAIT.dump_python(trait, mode="json"))
    return dumped


def _trait_id(trait: AnyTrait) -> str:
    return hashlib.sha256(to_json(_dumped(trait)).encode()).hexdigest()[:24]


SEARCH_SECONDS = 5.0
"""For all answers together; a person waits for it."""


class Searched(NamedTuple):
    """An answer that was searched.

    Attributes:
        spans: Start and end of every match.
        passes: Whether the trait holds.
    """

    answer: RunAnswer
    spans: tuple[tuple[int, int], ...]
    passes: bool


class PatternReport(NamedTuple):
    """What became of a search.

    Attributes:
        searched: The answers that were searched, in their order.
        total: How many there are.
        problem: Why the others were not; often empty.
    """

    searched: tuple[Searched, ...]
    total: int
    problem: str

    def by_model(self) -> dict[str, list[Searched]]:
        """Return the searched answers of every model."""
        grouped: dict[str, list[Searched]] = {}
        for item in self.searched:
            grouped.setdefault(item.answer.model, []).append(item)
        return grouped


def flags_of(trait: ManualRubricTrait) -> tuple[str, ...]:
    """Return the flags a trait's pattern is searched with."""
    return () if trait.case_sensitive else ("IGNORECASE",)


def search_answers(
    trait: ManualRubricTrait, answers: Iterable[RunAnswer], clock: Callable[[], float] = time.monotonic
) -> PatternReport:
    """Search answers for a trait's pattern, as a run would, and stop when that takes too long.

    Args:
        trait: The trait.
        answers: The answers.
        clock: Seconds.
    """
    waiting, begun = list(answers), clock()
    searched: list[Searched] = []
    for answer in waiting:
        if clock() - begun > SEARCH_SECONDS:
            why = f"The search was stopped after {SEARCH_SECONDS:g} s."
            return PatternReport(tuple(searched), len(waiting), why)
        try:
            spans = patterns.spans(trait.pattern, answer.text, flags_of(trait))
        except InputError as error:
            return PatternReport(tuple(searched), len(waiting), str(error))
        searched.append(Searched(answer, tuple(spans), bool(spans) != trait.invert))
    return PatternReport(tuple(searched), len(waiting), "")


@dataclass(frozen=True)
class Scoring:
    """What is to be scored.

    Attributes:
        run_id: The run whose answers are assessed.
        trait: What is assessed.
        question_ids: Only answers to these questions; all of them when not given.
        judge: Who assesses every answer; each result's own judge when not given.
        max_cost: US dollars that may be spent; models without a known price do not count.
        max_concurrent: Calls in flight at once.
    """

    run_id: str
    trait: AnyTrait
    question_ids: tuple[str, ...] | None = None
    judge: ModelConfig | None = None
    max_cost: float | None = None
    max_concurrent: int = 8

    def judge_of(self, key: RowKey, plan: Plan) -> ModelConfig | None:
        """Return who assesses a row; None where nobody has to be asked."""
        if not needs_judge(self.trait):
            return None
        if self.judge is not None:
            return self.judge
        return next((model for model in plan.config.parsing_models if model.id == key.parsing_model), None)

    def judges(self, plan: Plan) -> list[ModelConfig]:
        """Return all who are asked."""
        if not needs_judge(self.trait):
            return []
        return [self.judge] if self.judge is not None else list(plan.config.parsing_models)


def check_scoring(store: Store, scoring: Scoring, plan: Plan | None = None) -> None:
    """Make sure that a scoring can be carried out.

    Args:
        store: Holds the run.
        scoring: What is to be scored.
        plan: Of the run, if it is at hand.

    Raises:
        InputError: There is no such run, it is under way, or it has another trait of that name.
        ConfigError: A judge cannot be asked.
    """
    run, trait = store.runs.get(scoring.run_id), scoring.trait
    if run.active:
        raise InputError("The run is under way.", next="Let it end, or cancel it; then score it.")
    if isinstance(trait, StoredTrait):
        raise InputError(f"The trait {trait.name!r} is kept but not evaluated.", why=f"{trait.reason}.".capitalize())
    plan = plan or store.runs.plan(scoring.run_id)
    for judge in scoring.judges(plan):
        if judge.transport in ("manual", "recorded"):
            raise ConfigError(
                f"{judge.id!r} cannot assess a new trait.",
                why="It only repeats what was prepared or recorded.",
                next="Choose a judge that can be asked.",
            )
        check_model(judge)
    check_definition(store, scoring, plan)


def rows_to_score(store: Store, scoring: Scoring) -> list[RowKey]:
    """Return the rows that the trait has no value in yet, in row order; some of them may have no answer."""
    filters = {} if scoring.question_ids is None else {"question_id": list(scoring.question_ids)}
    scored = store.results.with_trait(scoring.run_id, scoring.trait.name)
    keys = (RowKey(*(row[name] for name in RowKey._fields)) for row in store.results.rows(scoring.run_id, **filters))
    return [key for key in keys if key not in scored]


def sample_of(result: VerificationResult) -> Sample | None:
    """Return the answer of a result, as it is assessed; None when there is none."""
    if result.answer is None:
        return None
    question = result.question
    return Sample(question.question, result.answer.text, question.id, result.answering_model, result.replicate)


def with_trait(
    result: VerificationResult, scoring: Scoring, part: RubricPart, judge: ModelConfig | None
) -> VerificationResult:
    """Return a result with the outcome of the trait beside what it has; what it has stays."""
    name, rubric = scoring.trait.name, result.rubric
    errors = {trait: error for trait, error in rubric.errors.items() if trait != name}
    added = rubric.model_copy(
        update={
            "performed": True,
            "scores": {**part.scores, **rubric.scores},
            "labels": {**part.labels, **rubric.labels},
            "regex": {**part.regex, **rubric.regex},
            "metrics": {**part.metrics, **rubric.metrics},
            "confusion": {**part.confusion, **rubric.confusion},
            "reasons": {**part.reasons, **rubric.reasons},
            "errors": {**errors, **part.errors},
            "provenance": {
                **rubric.provenance,
                name: "global" if scoring.question_ids is None else "question_specific",
            },
            "calls": [*rubric.calls, *part.calls],
        }
    )
    by = f" by {judge.id}" if judge is not None and judge.id != result.parsing_model else ""
    note = f"The trait {name!r} was scored after the run{by}."
    usage = total_usage([call.usage for call in part.calls])
    return result.model_copy(
        update={
            "rubric": added,
            "usage": result.usage + usage,
            "warnings": list(dict.fromkeys([*result.warnings, note])),
        }
    )


def note_definition(store: Store, scoring: Scoring) -> None:
    """Keep with the run what the trait is, and when it was scored."""
    judge = scoring.judge.id if scoring.judge is not None else None
    trait = _TRAIT.dump_python(scoring.trait, mode="json")
    definition = {"trait": trait, "questions": scoring.question_ids, "judge": judge, "at": now()}
    store.settings.set(_scored_key(scoring.run_id, scoring.trait.name), clean(definition))


def added_traits(store: Store, run_id: str) -> list[AnyTrait]:
    """Return the traits a run was scored with after it had ended, by name."""
    added = [_TRAIT.validate_python(item["trait"]) for item in store.settings.all(_scored_prefix(run_id)).values()]
    return sorted(added, key=lambda trait: trait.name.casefold())


def scored_at(store: Store, run_id: str) -> str:
    """Return when a run was last scored, as ISO 8601 in UTC; empty when it never was. For caches of its results."""
    return max((str(item["at"]) for item in store.settings.all(_scored_prefix(run_id)).values()), default="")


def check_definition(store: Store, scoring: Scoring, plan: Plan | None = None) -> None:
    """Refuse to mix values of two different traits under one name.

    Args:
        store: Holds the run.
        scoring: What is to be scored.
        plan: Of the run, if it is at hand.

    Raises:
        InputError: The run has values of another trait of that name.
    """
    name = scoring.trait.name
    scored = store.results.with_trait(scoring.run_id, name)
    if not scored:
        return
    plan = plan or store.runs.plan(scoring.run_id)
    added = next((trait for trait in added_traits(store, scoring.run_id) if trait.name == name), None)
    defined = [
        _defined(plan, question_id, name) or added for question_id in dict.fromkeys(key.question_id for key in scored)
    ]
    if any(trait is not None and trait != scoring.trait for trait in defined):
        raise InputError(
            f"The run has values of another trait named {name!r}.",
            why="Two traits under one name could not be told apart in the results.",
            next="Give the trait another name, then score with that.",
        )


def _defined(plan: Plan, question_id: str, name: str) -> AnyTrait | None:
    if question_id not in plan.benchmark:
        return None
    traits, _ = merge_rubrics(plan.benchmark.get_global_rubric(), plan.benchmark.get_question_rubric(question_id))
    return next((trait for trait, _ in traits if trait.name == name), None)


def _scored_prefix(run_id: str) -> str:
    return f"scored/{run_id}/"


def _scored_key(run_id: str, name: str) -> str:
    return f"{_scored_prefix(run_id)}{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


class ScoringEstimate(NamedTuple):
    """What a scoring takes.

    Attributes:
        rows: Rows without a value of the trait.
        estimate: What it takes from providers; None where no provider is asked.
    """

    rows: int
    estimate: Estimate | None


def estimate_scoring(store: Store, scoring: Scoring) -> ScoringEstimate:
    """Return what a scoring takes. Calls that the ledger knows cost nothing; rows that share a call need it once.

    Raises:
        InputError: There is no such run.
    """
    keys, plan = rows_to_score(store, scoring), store.runs.plan(scoring.run_id)
    judges = [judge for judge in scoring.judges(plan) if judge.is_provider]
    if not keys or not judges:
        return ScoringEstimate(len(keys), None)
    prompts, count, counted = plan.config.prompt_config, CallCount(), set[tuple[object, ...]]()

    async def score(caller: ModelCaller, key: RowKey) -> None:
        result, judge = store.results.get(scoring.run_id, result_id(key)), scoring.judge_of(key, plan)
        sample = sample_of(result)
        if sample is not None and judge is not None and (sample, judge.id) not in counted:
            counted.add((sample, judge.id))
            await TraitScorer(scoring.trait, caller, prompts).score(sample, judge)

    dry_run(count, store, keys, score)
    return ScoringEstimate(len(keys), estimate_calls(judges, count, store, scoring.max_concurrent))


def estimate_trial(store: Store, trait: AnyTrait, sample: Sample, judge: ModelConfig) -> Estimate | None:
    """Return what assessing one response takes; None where no provider is asked."""
    if not needs_judge(trait) or not judge.is_provider:
        return None
    count = CallCount()
    dry_run(count, store, [sample], lambda caller, item: TraitScorer(trait, caller).score(item, judge))
    return estimate_calls([judge], count, store, 1)


def try_trait(
    store: Store, trait: AnyTrait, sample: Sample, judge: ModelConfig | None = None, keys: KeySource | None = None
) -> RubricPart:
    """Return the outcome of a trait for one response, with what was sent and what came back.

    Args:
        store: Its ledger remembers the call, and its account counts it towards the daily budget.
        trait: What is assessed.
        sample: The response.
        judge: Who assesses it; patterns need none.
        keys: Asked for keys before the environment.

    Raises:
        ConfigError: The judge cannot be asked.
        StoreError: The database refuses.
    """
    if needs_judge(trait):
        if judge is None:
            raise ConfigError("This trait needs a judge.", next="Choose a model that can be asked.")
        if judge.transport == "manual":
            raise ConfigError(f"{judge.id!r} cannot judge.", "Prepared answers only answer.", "Choose another judge.")
        check_model(judge)

    async def score(caller: ModelCaller) -> RubricPart:
        return await TraitScorer(trait, caller).score(sample, judge)

    return call_now(store, score, of="the trial", keys=keys, max_attempts=2)  # a person waits for it


@dataclass(frozen=True)
class ScoringProgress:
    """Where a scoring stands at one moment.

    Attributes:
        run_id: The run.
        trait: Name of the trait.
        status: `running`; then `completed`, `cancelled`, `stopped` (the money is spent) or `failed`.
        total: Rows without a value at the start.
        done: Rows that were looked at.
        scored: Rows that have a value now.
        failed: Rows whose judge gave no value.
        left_out: Rows without an answer to assess.
        calls: Calls the ledger or a judge answered; the ledger answered `cached` of them.
        cost: US dollars, None when no price is known.
        message: Why it stopped; often empty.
    """

    run_id: str
    trait: str
    status: Literal["running", "completed", "cancelled", "stopped", "failed"] = "running"
    total: int = 0
    done: int = 0
    scored: int = 0
    failed: int = 0
    left_out: int = 0
    calls: int = 0
    cached: int = 0
    cost: float | None = None
    message: str = ""

    @property
    def active(self) -> bool:
        """Whether it is under way."""
        return self.status == "running"


class ScoringJob(BackgroundJob):
    """One scoring under way; its progress is replaced as a whole, so that any thread may look at it."""

    def __init__(self, shared: JobServices, scoring: Scoring, plan: Plan) -> None:
        config = plan.config
        limiter = RunLimiter(scoring.max_concurrent, attempts=config.max_attempts)
        super().__init__(shared, limiter, max_cost=scoring.max_cost, of="scoring", run_id=scoring.run_id)
        self.progress = ScoringProgress(scoring.run_id, scoring.trait.name)
        self._scoring = scoring
        self._plan = plan
        self._scorer = TraitScorer(scoring.trait, self.caller, config.prompt_config, config.request_timeout)

    async def work(self) -> None:
        """Score everything that has no value yet."""
        store, scoring = self.shared.store, self._scoring
        keys = await asyncio.to_thread(rows_to_score, store, scoring)
        self.progress = replace(self.progress, total=len(keys))
        await asyncio.to_thread(note_definition, store, scoring)
        for start in range(0, len(keys), _PAGE):
            ids = [result_id(key) for key in keys[start : start + _PAGE]]
            # Each result once: an iterator whose items are taken by whoever is free.
            results = iter(await asyncio.to_thread(store.results.all, scoring.run_id, result_id=ids))
            async with asyncio.TaskGroup() as group:
                for _ in range(min(scoring.max_concurrent, len(ids))):
                    group.create_task(self._score_all(results))

    async def finish(self, error: BaseException | None) -> None:
        """Note how it ended, and give the run back."""
        status: Literal["completed", "cancelled", "stopped", "failed"] = "completed"
        message = self.progress.message
        if self.spend.over:
            status, message = "stopped", self.spend.over
        elif isinstance(error, asyncio.CancelledError):
            status = "cancelled"
        elif error is not None:
            log.error("Scoring run %s failed", self.run_id, exc_info=error)
            status, message = "failed", failure_text(error)
        shared, run_id = self.shared, self._scoring.run_id
        with suppress(StoreError):
            await shared.writer.flush()
            await asyncio.to_thread(shared.store.runs.add_work, run_id, self.spend.take(), 0.0)
            await asyncio.to_thread(note_definition, shared.store, self._scoring)
        with suppress(StoreError):
            await asyncio.to_thread(shared.store.runs.release, run_id, shared.owner)
        self.progress = replace(self.progress, status=status, message=message)

    async def _score_all(self, results: Iterator[VerificationResult]) -> None:
        for result in results:
            if self.spend.over:
                return
            await self._score(result)

    async def _score(self, result: VerificationResult) -> None:
        scoring, sample = self._scoring, sample_of(result)
        if sample is None:
            self._count(done=1, left_out=1)
            return
        judge = scoring.judge_of(result.key, self._plan)
        part = await self._scorer.score(sample, judge)
        added = with_trait(result, scoring, part, judge)
        spent = self.spend.take()
        write = ResultWrite(rows_of(scoring.run_id, added), spent, self.shared.owner)
        await self.shared.writer.enqueue(write, lambda error: self.spend.settle(spent, error))
        error = part.errors.get(scoring.trait.name, "")
        cached = sum(call.usage.cached_calls for call in part.calls)
        self._count(done=1, scored=int(not error), failed=int(bool(error)), calls=len(part.calls), cached=cached)
        message = self.progress.message or error
        self.progress = replace(self.progress, cost=self.spend.spent.cost, message=message)

    def _count(self, **more: int) -> None:
        counts = {name: getattr(self.progress, name) + number for name, number in more.items()}
        self.progress = replace(self.progress, **counts)


class Scorer:
    """Starts and cancels scorings. Its methods may be called from any thread.

    Args:
        engine: Carries them out; stays open.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
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
        shared, run_id = self._engine.shared, scoring.run_id
        plan = shared.store.runs.plan(run_id)
        check_scoring(shared.store, scoring, plan)
        before = self._jobs.get(run_id)
        if (before is not None and not before.ended.is_set()) or not shared.store.runs.claim(run_id, shared.owner):
            raise StoreError(
                f"Run {run_id!r} is being worked on.",
                why="It is carried out or scored at this moment.",
                next="Wait for its end.",
            )
        job = self._jobs[run_id] = ScoringJob(shared, scoring, plan)
        self._engine.begin_job(job, keys)

    def progress(self, run_id: str) -> ScoringProgress | None:
        """Return where the last scoring of a run stands; None when there was none in this process."""
        job = self._jobs.get(run_id)
        return None if job is None else job.progress

    def cancel(self, run_id: str) -> None:
        """Stop a scoring; returns when nothing is under way any more. What is scored stays."""
        job = self._jobs.get(run_id)
        if job is not None:
            self._engine.cancel_job(job)

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
