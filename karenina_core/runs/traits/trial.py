"""Trying a trait on one response, through the ledger and within the day's budget."""

from __future__ import annotations

from karenina_core.errors import ConfigError
from karenina_core.models import KeySource, ModelCaller, check_model
from karenina_core.pipeline import Sample, TraitScorer, needs_judge
from karenina_core.runs.at_once import ask_at_once
from karenina_core.runs.store import Store
from karenina_core.schemas import AnyTrait, ModelConfig, RubricPart

_ATTEMPTS = 2  # a person waits for it


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
        _check(judge)

    async def scored(caller: ModelCaller) -> RubricPart:
        return await TraitScorer(trait, caller).score(sample, judge)

    return ask_at_once(store, scored, of="the trial", keys=keys, max_attempts=_ATTEMPTS)


def _check(judge: ModelConfig | None) -> None:
    if judge is None:
        raise ConfigError("This trait needs a judge.", next="Choose a model that can be asked.")
    if judge.transport == "manual":
        raise ConfigError(f"{judge.id!r} cannot judge.", "Prepared answers only answer.", "Choose another judge.")
    check_model(judge)
