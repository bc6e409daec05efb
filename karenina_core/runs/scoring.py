"""One more trait for the stored answers of a run, or for one response.

Scoring asks judges and no model under test. Nothing that a run has is changed: the verdict, the extraction and the
traits of a result stay as they are, and the new trait is added beside them. Its definition is kept with the run, for
its name says too little.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import TypeAdapter

from karenina_core.errors import ConfigError, InputError, StoreError
from karenina_core.models import KeySource, ModelCaller, RunLimiter, check_model
from karenina_core.pipeline import Sample, TraitScorer, needs_judge
from karenina_core.runs.calls import Jobs, call_now, why_not
from karenina_core.runs.engine.job import BackgroundJob, JobServices
from karenina_core.runs.engine.writer import ResultWrite
from karenina_core.runs.estimates import Estimate, dry_run, estimate_calls
from karenina_core.runs.plan import Plan
from karenina_core.runs.store import Store
from karenina_core.runs.store.database import clean
from karenina_core.runs.store.results import rows_of
from karenina_core.schemas import (
    AnyTrait,
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

Ending = Literal["completed", "cancelled", "stopped", "failed"]
_TRAIT: TypeAdapter[AnyTrait] = TypeAdapter(Trait)
_PAGE = 200  # results that are held at once
_VALUES = ("scores", "labels", "regex", "metrics", "confusion", "reasons")


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

    def judges(self, plan: Plan) -> dict[str, ModelConfig]:
        """Return who assesses the results of each of the run's judges; empty where nobody has to be asked."""
        own = plan.config.parsing_models if needs_judge(self.trait) else []
        return {model.id: self.judge or model for model in own}


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
    benchmark = (plan or store.runs.plan(scoring.run_id)).benchmark
    everywhere = benchmark.get_global_rubric()
    added = {trait.name: trait for trait in added_traits(store, scoring.run_id)}
    for question_id in dict.fromkeys(key.question_id for key in scored):
        defined = dict(added)
        if question_id in benchmark:
            traits, _ = merge_rubrics(everywhere, benchmark.get_question_rubric(question_id))
            defined.update({trait.name: trait for trait, _ in traits})
        if defined.get(name, scoring.trait) != scoring.trait:
            raise InputError(
                f"The run has values of another trait named {name!r}.",
                why="Two traits under one name could not be told apart in the results.",
                next="Give the trait another name, then score with that.",
            )


def _check(store: Store, scoring: Scoring, plan: Plan) -> None:
    trait = scoring.trait
    if store.runs.get(scoring.run_id).active:
        raise InputError("The run is under way.", next="Let it end, or cancel it; then score it.")
    if isinstance(trait, StoredTrait):
        raise InputError(f"The trait {trait.name!r} is kept but not evaluated.", why=f"{trait.reason}.".capitalize())
    for judge in scoring.judges(plan).values():
        if problem := why_not(judge):
            raise ConfigError(problem, next="Choose a judge that can be asked.")
        check_model(judge)
    check_definition(store, scoring, plan)


def rows_to_score(store: Store, scoring: Scoring) -> list[RowKey]:
    """Return the rows that the trait has no value in yet, in row order; some of them may have no answer."""
    filters = {} if scoring.question_ids is None else {"question_id": list(scoring.question_ids)}
    scored = store.results.with_trait(scoring.run_id, scoring.trait.name)
    keys = (RowKey(*(row[name] for name in RowKey._fields)) for row in store.results.rows(scoring.run_id, **filters))
    return [key for key in keys if key not in scored]


def note_definition(store: Store, scoring: Scoring) -> None:
    """Keep with the run what the trait is, and when it was scored."""
    trait, name = _TRAIT.dump_python(scoring.trait, mode="json"), scoring.trait.name
    judge = scoring.judge.id if scoring.judge is not None else None
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    definition = {"trait": trait, "questions": scoring.question_ids, "judge": judge, "at": now()}
    store.settings.set(f"scored/{scoring.run_id}/{digest}", clean(definition))


def added_traits(store: Store, run_id: str) -> list[AnyTrait]:
    """Return the traits a run was scored with after it had ended, by name."""
    added = [_TRAIT.validate_python(item["trait"]) for item in store.settings.all(f"scored/{run_id}/").values()]
    return sorted(added, key=lambda trait: trait.name.casefold())


def scored_at(store: Store, run_id: str) -> str:
    """Return when a run was last scored, as ISO 8601 in UTC; empty when it never was. For caches of its results."""
    return max((str(item["at"]) for item in store.settings.all(f"scored/{run_id}/").values()), default="")


def _assessed(
    result: VerificationResult, scoring: Scoring, part: RubricPart, judge: ModelConfig | None
) -> VerificationResult:
    """Return a result with the outcome of the trait beside what it has; what it has stays."""
    name, rubric = scoring.trait.name, result.rubric
    update = {
        **{values: {**getattr(part, values), **getattr(rubric, values)} for values in _VALUES},
        "performed": True,
        "errors": {**{trait: error for trait, error in rubric.errors.items() if trait != name}, **part.errors},
        "provenance": {**rubric.provenance, name: "global" if scoring.question_ids is None else "question_specific"},
        "calls": [*rubric.calls, *part.calls],
    }
    by = f" by {judge.id}" if judge is not None and judge.id != result.parsing_model else ""
    note = f"The trait {name!r} was scored after the run{by}."
    return result.model_copy(
        update={
            "rubric": rubric.model_copy(update=update),
            "usage": result.usage + total_usage([call.usage for call in part.calls]),
            "warnings": list(dict.fromkeys([*result.warnings, note])),
        }
    )


def _sample_of(result: VerificationResult) -> Sample | None:
    if result.answer is None:
        return None
    question = result.question
    return Sample(question.question, result.answer.text, question.id, result.answering_model, result.replicate)


def estimate_scoring(store: Store, scoring: Scoring) -> Estimate | None:
    """Return what a scoring takes from providers; None where none is asked.

    Calls that the ledger knows cost nothing; rows that share a call need it once.

    Raises:
        InputError: There is no such run.
    """
    keys, plan = rows_to_score(store, scoring), store.runs.plan(scoring.run_id)
    judges = scoring.judges(plan)
    providers = {judge.id: judge for judge in judges.values() if judge.is_provider}
    if not keys or not providers:
        return None

    async def score(caller: ModelCaller, key: RowKey) -> None:
        sample = _sample_of(store.results.get(scoring.run_id, result_id(key)))
        if sample is not None:
            await TraitScorer(scoring.trait, caller, plan.config.prompt_config).score(sample, judges[key.parsing_model])

    judged = (key for key in keys if key.parsing_model in judges)
    distinct = {key._replace(parsing_model=judges[key.parsing_model].id): key for key in judged}
    count = dry_run(store, list(distinct.values()), score)
    return estimate_calls(providers.values(), count, store, scoring.max_concurrent)


def estimate_trial(store: Store, trait: AnyTrait, sample: Sample, judge: ModelConfig) -> Estimate | None:
    """Return what assessing one response takes; None where no provider is asked."""
    if not needs_judge(trait) or not judge.is_provider:
        return None
    count = dry_run(store, [sample], lambda caller, item: TraitScorer(trait, caller).score(item, judge))
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
    # A person waits for it, so that it is tried again only once.
    return call_now(
        store,
        lambda caller: TraitScorer(trait, caller).score(sample, judge),
        of="the trial",
        keys=keys,
        max_attempts=2,
    )


@dataclass(frozen=True)
class ScoringProgress:
    """Where a scoring stands at one moment.

    Attributes:
        run_id: The run.
        trait: Name of the trait.
        status: `running`; then `completed`, `cancelled`, `stopped` (the money is spent) or `failed`.
        total: Rows without a value at the start.
        scored: Rows that have a value now.
        failed: Rows whose judge gave no value.
        left_out: Rows without an answer to assess.
        calls: Calls the ledger or a judge answered; the ledger answered `cached` of them.
        cost: US dollars, None when no price is known.
        message: Why it stopped; often empty.
    """

    run_id: str
    trait: str
    status: Ending | Literal["running"] = "running"
    total: int = 0
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

    @property
    def done(self) -> int:
        """Rows that were looked at."""
        return self.scored + self.failed + self.left_out


class ScoringJob(BackgroundJob):
    """One scoring under way; its progress is replaced as a whole, so that any thread may look at it."""

    def __init__(self, shared: JobServices, scoring: Scoring, plan: Plan) -> None:
        config = plan.config
        limiter = RunLimiter(scoring.max_concurrent, attempts=config.max_attempts)
        super().__init__(shared, limiter, max_cost=scoring.max_cost, of="scoring", run_id=scoring.run_id)
        self.progress = ScoringProgress(scoring.run_id, scoring.trait.name)
        self._scoring = scoring
        self._judges = scoring.judges(plan)
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
        ending, why = self.ending(error)
        status: Ending = "stopped" if self.spend.over else ending
        message = self.spend.over or why or self.progress.message
        shared, run_id = self.shared, self._scoring.run_id
        with suppress(StoreError):
            await shared.writer.flush()
            await asyncio.to_thread(note_definition, shared.store, self._scoring)
        with suppress(StoreError):
            await asyncio.to_thread(shared.store.runs.end, run_id, shared.owner, spent=self.spend.take())
        self.progress = replace(self.progress, status=status, message=message)

    async def _score_all(self, results: Iterator[VerificationResult]) -> None:
        for result in results:
            if self.spend.over:
                return
            sample = _sample_of(result)
            if sample is None:
                self.progress = replace(self.progress, left_out=self.progress.left_out + 1)
            else:
                await self._score(result, sample)

    async def _score(self, result: VerificationResult, sample: Sample) -> None:
        scoring, judge = self._scoring, self._judges.get(result.parsing_model)
        part = await self._scorer.score(sample, judge)
        spent = self.spend.take()
        rows = rows_of(scoring.run_id, _assessed(result, scoring, part, judge))
        write = ResultWrite(rows, spent, self.shared.owner)
        await self.shared.writer.enqueue(write, lambda failure: self.spend.settle(spent, failure))
        seen, error = self.progress, part.errors.get(scoring.trait.name, "")
        self.progress = replace(
            seen,
            scored=seen.scored + (not error),
            failed=seen.failed + bool(error),
            calls=seen.calls + len(part.calls),
            cached=seen.cached + sum(call.usage.cached_calls for call in part.calls),
            cost=self.spend.spent.cost,
            message=seen.message or error,
        )


class Scorer(Jobs[ScoringJob]):
    """Starts and cancels scorings, by the run."""

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
        _check(shared.store, scoring, plan)
        with self._lock:
            if self._running(run_id) or not shared.store.runs.claim(run_id, shared.owner):
                raise StoreError(
                    f"Run {run_id!r} is being worked on.",
                    why="It is carried out or scored at this moment.",
                    next="Wait for its end.",
                )
            self._begin((run_id,), ScoringJob(shared, scoring, plan), keys)

    def progress(self, run_id: str) -> ScoringProgress | None:
        """Return where the last scoring of a run stands; None when there was none in this process."""
        job = self._job(run_id)
        return None if job is None else job.progress

    def wait(self, run_id: str, timeout: float | None = None) -> ScoringProgress:
        """Return where a scoring stands when it has ended, or after `timeout` seconds.

        Raises:
            InputError: There was none in this process.
        """
        self.join(run_id, timeout=timeout)
        progress = self.progress(run_id)
        if progress is None:
            raise InputError(f"Run {run_id!r} is not being scored here.")
        return progress
