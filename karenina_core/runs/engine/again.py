"""Stored rows whose judge is worth asking once more: traits and guards that failed although the row is completed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from karenina_core.runs.engine.work import settled
from karenina_core.runs.plans.expected import traits_of
from karenina_core.runs.plans.plan import Plan
from karenina_core.runs.store import Outcome, Store
from karenina_core.runs.store.runs import Order
from karenina_core.schemas import MetricRubricTrait, RowKey, RubricTrait, VerificationResult, result_id


def kept(store: Store, run_id: str, plan: Plan, order: Order, outcomes: Iterable[Outcome]) -> set[int]:
    """Return the positions of those of a run's rows that need no work when it is started or resumed."""
    failed = {*failed_traits(store, run_id, plan), *failed_guards(store, run_id, plan)}
    again = {order.position(key) for key in failed}
    return {outcome.position for outcome in outcomes if settled(outcome)} - again


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
