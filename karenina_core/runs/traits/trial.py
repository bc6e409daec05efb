"""Trying a trait on one response, through the ledger and within the day's budget."""

from __future__ import annotations

from karenina_core.errors import ConfigError
from karenina_core.models.caller import Caller
from karenina_core.models.keys import KeySource, using_keys
from karenina_core.models.readiness import check_model
from karenina_core.pipeline.generation import run_in_thread
from karenina_core.pipeline.trait_scoring import Sample, TraitScorer, needs_judge
from karenina_core.runs.engine.budget import Budget
from karenina_core.runs.engine.ledger import StoreLedger
from karenina_core.runs.engine.purse import Purse
from karenina_core.runs.engine.writer import Writer
from karenina_core.runs.plans.quotes import client_at
from karenina_core.runs.store import Store
from karenina_core.schemas.config import ModelConfig
from karenina_core.schemas.entities.rubric import AnyTrait
from karenina_core.schemas.results import RubricPart

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
    found: list[RubricPart] = []
    writer = Writer(store)
    ledger = StoreLedger(store, writer)
    purse = Purse(Budget(None, 0.0, store.spent_today, of="the trial"))

    async def once() -> None:
        with using_keys(keys):
            async with Caller(ledger, client_at(store.prices()), 1, _ATTEMPTS, meter=purse) as caller:
                found.append(await TraitScorer(trait, caller).score(sample, judge))

    try:
        run_in_thread(once)
    finally:
        ledger.close()
        writer.close()
        store.note_spending(purse.take())
    return found[0]


def _check(judge: ModelConfig | None) -> None:
    if judge is None:
        raise ConfigError("This trait needs a judge.", next="Choose a model that can be asked.")
    if judge.transport == "manual":
        raise ConfigError(f"{judge.id!r} cannot judge.", "Prepared answers only answer.", "Choose another judge.")
    check_model(judge)
