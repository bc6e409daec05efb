"""Scoring the stored answers of a run with one more trait: judges are asked, no model under test is.

Nothing that a run has is changed: the verdict, the extraction and the traits of a result stay as they are, and the
new trait is added beside them. Its definition is kept with the run, for its name says too little.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from karenina_core.errors import ConfigError, InputError
from karenina_core.models import check_model
from karenina_core.pipeline import Sample, needs_judge
from karenina_core.runs.plan import Plan
from karenina_core.runs.store import Store
from karenina_core.runs.store.database import clean
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

_TRAIT: TypeAdapter[AnyTrait] = TypeAdapter(Trait)


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


def ids_of(keys: Iterable[RowKey]) -> list[str]:
    """Return the ids of rows."""
    return [result_id(key) for key in keys]


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
    said = f"The trait {name!r} was scored after the run{by}."
    usage = total_usage([call.usage for call in part.calls])
    return result.model_copy(
        update={
            "rubric": added,
            "usage": result.usage + usage,
            "warnings": list(dict.fromkeys([*result.warnings, said])),
        }
    )


def note_definition(store: Store, scoring: Scoring) -> None:
    """Keep with the run what the trait is, and when it was scored."""
    judge = scoring.judge.id if scoring.judge is not None else None
    trait = _TRAIT.dump_python(scoring.trait, mode="json")
    kept = {"trait": trait, "questions": scoring.question_ids, "judge": judge, "at": now()}
    store.settings.set(_setting(scoring.run_id, scoring.trait.name), clean(kept))


def added_traits(store: Store, run_id: str) -> list[AnyTrait]:
    """Return the traits a run was scored with after it had ended, by name."""
    found = [_TRAIT.validate_python(item["trait"]) for item in store.settings.all(_prefix(run_id)).values()]
    return sorted(found, key=lambda trait: trait.name.casefold())


def scored_at(store: Store, run_id: str) -> str:
    """Return when a run was last scored, as ISO 8601 in UTC; empty when it never was. For caches of its results."""
    return max((str(item["at"]) for item in store.settings.all(_prefix(run_id)).values()), default="")


def traits_of_run(store: Store, run_id: str, plan: Plan | None = None) -> list[AnyTrait]:
    """Return every trait that results of a run may have a value for: its benchmark's, then those scored afterwards.

    Args:
        store: Holds the run.
        run_id: The run.
        plan: Of the run, if it is at hand.
    """
    own = (plan or store.runs.plan(run_id)).benchmark.all_traits()
    names = {trait.name for trait in own}
    return own + [trait for trait in added_traits(store, run_id) if trait.name not in names]


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


def _prefix(run_id: str) -> str:
    return f"scored/{run_id}/"


def _setting(run_id: str, name: str) -> str:
    return f"{_prefix(run_id)}{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def pages(items: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    """Yield the items in groups."""
    return (items[start : start + size] for start in range(0, len(items), size))
