"""Drafting templates within the budgets, with every paid call remembered; and what that will take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

from karenina_core.benchmark import Benchmark
from karenina_core.models import KeySource, call_key, check_model, using_keys
from karenina_core.pipeline import GeneratedTemplate, draft_request, generation, to_draft
from karenina_core.runs.at_once import store_services
from karenina_core.runs.plans.estimate import Estimate, estimated
from karenina_core.runs.plans.experience import experience
from karenina_core.runs.plans.rehearsal import Ask, Calls, is_remote
from karenina_core.runs.prices import client_at
from karenina_core.runs.store import Store
from karenina_core.schemas import ModelConfig

_PURPOSE = "generate_template"


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
        store_services(opened, of="drafting", max_cost=max_cost, max_concurrent=max_concurrent) as services,
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
    if not is_remote(model_config):
        return None
    ids = to_draft(benchmark, question_ids, force_regenerate=force_regenerate)
    asks = [draft_request(model_config, name, benchmark.get_question_as_object(name)) for name in ids]
    made = [call_key(model_config, request) for request in asks]
    stored = store.calls.known(made) if store is not None else set[str]()
    calls, ask = Calls(), Ask(model_config.id, _PURPOSE)
    for request, key in zip(asks, made, strict=True):
        (calls.cached if key in stored else calls.needed)[ask] += 1
        calls.prompt(ask, request)
    models = {model_config.id: model_config}
    taken = experience(store, models) if store is not None else {}
    return estimated(models, calls, taken, store.settings.prices() if store is not None else {}, max_concurrent)
