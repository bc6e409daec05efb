"""What scoring answers with a trait takes, before anybody is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from karenina_core.errors import ModelError
from karenina_core.models import CallServices, ChatRequest, ModelCaller, NullLedger, call_key
from karenina_core.pipeline import Sample, TraitScorer, needs_judge, run_in_thread
from karenina_core.runs.plans.estimate import Estimate, estimated
from karenina_core.runs.plans.experience import experience
from karenina_core.runs.plans.rehearsal import Ask, Calls, is_remote
from karenina_core.runs.store import Store
from karenina_core.runs.traits.score import Scoring, ids_of, rows_to_score, sample_of
from karenina_core.schemas import AnyTrait, CallRecord, ModelConfig, PromptConfig

T = TypeVar("T")
MOST = 400
"""At most this many rows are looked at; the rest is taken to be like them."""


class Outlook(NamedTuple):
    """What a scoring takes.

    Attributes:
        rows: Rows without a value of the trait.
        estimate: What it takes from providers; None where no provider is asked.
    """

    rows: int
    estimate: Estimate | None


def estimate_scoring(store: Store, scoring: Scoring) -> Outlook:
    """Return what a scoring takes. Calls that the ledger knows, and those that several rows share, count once.

    Raises:
        InputError: There is no such run.
    """
    keys = rows_to_score(store, scoring)
    plan = store.runs.plan(scoring.run_id)
    if not keys or not any(map(is_remote, scoring.judges(plan))):
        return Outlook(len(keys), None)
    some = keys[:: -(-len(keys) // MOST)]
    asked = []
    for result in store.results.all(scoring.run_id, result_id=ids_of(some)):
        sample, judge = sample_of(result), scoring.judge_of(result.key, plan)
        if sample is not None and judge is not None:
            asked.append((sample, judge))
    seen, models = _calls(store, scoring.trait, asked, plan.config.prompt_config)
    whole = Calls()
    whole.add(seen, len(keys) / len(some))
    whole.sampled = len(some) < len(keys)
    return Outlook(len(keys), _estimate(store, whole, models, scoring.max_concurrent))


def estimate_trial(store: Store, trait: AnyTrait, sample: Sample, judge: ModelConfig) -> Estimate | None:
    """Return what assessing one response takes; None where no provider is asked."""
    if not needs_judge(trait) or not is_remote(judge):
        return None
    seen, models = _calls(store, trait, [(sample, judge)], None)
    return _estimate(store, seen, models, 1)


def _estimate(store: Store, seen: Calls, models: dict[str, ModelConfig], at_once: int) -> Estimate:
    return estimated(models, seen, experience(store, models), store.settings.prices(), at_once)


def _calls(
    store: Store, trait: AnyTrait, asked: Sequence[tuple[Sample, ModelConfig]], prompts: PromptConfig | None
) -> tuple[Calls, dict[str, ModelConfig]]:
    heard = _heard(trait, asked, prompts)
    requests = {call_key(judge, request): (judge, request) for judge, request in heard if is_remote(judge)}
    known = store.calls.known(requests)
    calls = Calls()
    for key, (judge, request) in requests.items():
        ask = Ask(judge.id, request.purpose)
        (calls.cached if key in known else calls.needed)[ask] += 1
        calls.prompt(ask, request)
    return calls, {judge.id: judge for judge, _ in requests.values()}


def _heard(
    trait: AnyTrait, asked: Iterable[tuple[Sample, ModelConfig]], prompts: PromptConfig | None
) -> list[tuple[ModelConfig, ChatRequest]]:
    listener = _Listener()

    async def everything() -> None:
        scorer = TraitScorer(trait, listener, prompts)
        for sample, judge in asked:
            await scorer.score(sample, judge)

    run_in_thread(everything)
    return listener.heard


class _Listener(ModelCaller):
    """Hears what would be asked, and asks nobody."""

    def __init__(self) -> None:
        super().__init__(CallServices(NullLedger()))
        self.heard: list[tuple[ModelConfig, ChatRequest]] = []

    async def complete_json(
        self, config: ModelConfig, request: ChatRequest, validate: Callable[[Any], T]
    ) -> tuple[T, list[CallRecord]]:
        """Take the request down.

        Raises:
            ModelError: Always.
        """
        self.heard.append((config, request))
        raise ModelError("Nobody is asked.", category="missing_recording")
