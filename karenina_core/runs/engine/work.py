"""What is left to do in a run: which rows stay as they are, and the answers that the others need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

from karenina_core.runs.plan import Generation, Plan, traits_of
from karenina_core.runs.store import Outcome, Store
from karenina_core.runs.store.runs import Order
from karenina_core.schemas import (
    Failure,
    MetricRubricTrait,
    ModelConfig,
    RowKey,
    RubricTrait,
    VerificationResult,
    result_id,
)

# Asking again changes nothing: the benchmark of a run stays as it was.
_FINAL_FAILURES = frozenset({"template", "autofail", "abstained"})


class AnswerTask(NamedTuple):
    """An answer that is wanted, and the judges that are to judge it."""

    generation: Generation
    judges: tuple[ModelConfig, ...]


class WorkQueue:
    """Hands out answers.

    Among several models the one with the fewest answers under way comes next, and among equals the one that has waited
    longest: all providers are busy at once, and a slow one cannot take the workers of the others. The answers of one
    model come question by question with replicates side by side, so that what its provider has cached of a prompt is
    still there. Answers are taken from their streams one by one, so a run of any size needs little memory.

    Args:
        streams: The answers that each model is to give.
    """

    def __init__(self, streams: Sequence[Iterator[AnswerTask]]) -> None:
        self._streams = dict(enumerate(streams))
        self._under_way: Counter[int] = Counter()
        self._latest_turn: Counter[int] = Counter()
        self._turns = count(1)

    def next(self) -> tuple[int, AnswerTask] | None:
        """Return the next answer and the number of its stream, for `done`; None when nothing is left."""
        while self._streams:
            number = min(self._streams, key=lambda number: (self._under_way[number], self._latest_turn[number]))
            task = next(self._streams[number], None)
            if task is not None:
                self._latest_turn[number] = next(self._turns)
                self._under_way[number] += 1
                return number, task
            del self._streams[number]
        return None

    def done(self, number: int) -> None:
        """Note that an answer of a stream is there and judged."""
        self._under_way[number] -= 1


def remaining(plan: Plan, order: Order, finished: Collection[int]) -> list[Iterator[AnswerTask]]:
    """Return what a run still wants: one stream of answers for every answering model, question by question.

    Args:
        plan: All that it wants.
        order: Gives every row its position.
        finished: Positions of the rows that need no work.
    """
    return [_left(plan, answering, order, finished) for answering in plan.config.answering_models]


def _left(plan: Plan, answering: ModelConfig, order: Order, finished: Collection[int]) -> Iterator[AnswerTask]:
    for generation in plan.answers_of(answering):
        question_id, _, replicate = generation
        judges = tuple(
            judge
            for judge in plan.config.parsing_models
            if order.position(RowKey(question_id, answering.id, judge.id, replicate)) not in finished
        )
        if judges:
            yield AnswerTask(generation, judges)


def finished_rows(store: Store, run_id: str, plan: Plan, order: Order, outcomes: Iterable[Outcome]) -> set[int]:
    """Return the positions of those of a run's rows that need no work when it is started or resumed."""
    failed = {*failed_traits(store, run_id, plan), *failed_guards(store, run_id, plan)}
    retried = {order.position(key) for key in failed}
    return {outcome.position for outcome in outcomes if is_final(outcome)} - retried


def is_final(outcome: Outcome) -> bool:
    """Say whether a stored row stays as it is when its run is resumed.

    Failures of providers and judges are tried again, and so are rows that wait for the judge.
    """
    if outcome.status == "completed" or outcome.failure_category is None:
        return True
    failure = Failure.model_validate({"category": outcome.failure_category, "stage": "", "reason": ""})
    return failure.group in _FINAL_FAILURES


def failed_guards(store: Store, run_id: str, plan: Plan | None = None) -> list[RowKey]:
    """Return the rows whose abstention or sufficiency check no judge could be asked for.

    Their verdict stands as if the check had found nothing. Asking again takes answer and extraction from the ledger.

    Args:
        store: Holds the run.
        run_id: The run.
        plan: Of the run, if it is at hand.
    """
    rows, plan = _wanted(store, run_id, plan, store.results.unguarded(run_id))
    if plan is None or not (plan.config.abstention_enabled or plan.config.sufficiency_enabled):
        return []
    return rows


def failed_traits(store: Store, run_id: str, plan: Plan | None = None) -> dict[RowKey, list[str]]:
    """Return the rows with traits that no judge was able to assess, and the names of those traits.

    Left out are traits whose error would come again without a call: their judge's reply is remembered, or no judge
    is asked. Asking for the others again takes answer and extraction from the ledger.

    Args:
        store: Holds the run.
        run_id: The run.
        plan: Of the run, if it is at hand.
    """
    errors = store.results.trait_errors(run_id)
    rows, plan = _wanted(store, run_id, plan, errors)
    if plan is None:
        return {}
    judged = {key: errors[key] & _judged(plan, key) for key in rows}
    ids = [result_id(key) for key, names in judged.items() if names]
    results = store.results.all(run_id, result_id=ids) if ids else []
    remembered = store.calls.known({call.key for result in results for call in result.rubric.calls})
    open_ones = {result.key: _open(result, plan, sorted(judged[result.key]), remembered) for result in results}
    return {key: names for key, names in open_ones.items() if names}


def _wanted(store: Store, run_id: str, plan: Plan | None, rows: Iterable[RowKey]) -> tuple[list[RowKey], Plan | None]:
    """Return those of some rows whose question is still part of the run, and its plan; no plan where it takes none."""
    rows = list(rows)
    if not rows:
        return [], None
    plan = plan or store.runs.plan(run_id)
    asked = set(plan.question_ids)
    return [key for key in rows if key.question_id in asked], plan


def _judged(plan: Plan, key: RowKey) -> set[str]:
    traits = traits_of(plan.benchmark, plan.config, key.question_id)
    return {trait.name for trait in traits if isinstance(trait, RubricTrait | MetricRubricTrait)}


def _open(result: VerificationResult, plan: Plan, names: Iterable[str], remembered: Collection[str]) -> list[str]:
    replied = {(call.purpose, call.part) for call in result.rubric.calls if call.key in remembered}
    traits = traits_of(plan.benchmark, plan.config, result.question_id)
    together = {trait.name for trait in traits if isinstance(trait, RubricTrait)}
    # A reply about all traits that gives none of them is taken as it is; what it gives in part is completed one by one.
    nothing = ("rubric", "") in replied and together <= set(result.rubric.errors)
    return [
        name
        for name in names
        if not (nothing and name in together) and ("rubric", name) not in replied and ("metric", name) not in replied
    ]
