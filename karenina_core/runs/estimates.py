"""What calls will take before anything is spent: those the ledger does not know, by what such calls took before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean, quantiles
from typing import NamedTuple, TypeVar

from karenina_core.errors import ModelError
from karenina_core.models import CallServices, ChatReply, ChatRequest, ModelCaller, ModelClient, NullLedger, make_client
from karenina_core.pipeline import SHARED, STAGES, Pipeline, run_in_thread, run_stages
from karenina_core.runs.engine.ledger import read_reply
from karenina_core.runs.engine.spending import about
from karenina_core.runs.engine.work import AnswerTask, finished_rows, remaining
from karenina_core.runs.plan import Plan, judge_calls
from karenina_core.runs.prices import Quote, quote
from karenina_core.runs.store import Store
from karenina_core.runs.store.runs import Order
from karenina_core.schemas import ModelConfig, Usage
from karenina_core.text import counted

T = TypeVar("T")
CHARACTERS = 4  # of a prompt, for one token
REPLY_TOKENS = (50, 1_000)  # of an answer or a judgement, no more than the model may give
JUDGE_TOKENS = (500, 2_500)  # of a judge's prompt, beside the answer it judges
MOST = 400
"""At most this many items are gone through; the rest is taken to be like them."""
ENOUGH = 3  # stored calls before they say anything
ASSUMPTION = (
    f"Assumes {REPLY_TOKENS[0]} to {REPLY_TOKENS[1]:,} tokens per reply and {JUDGE_TOKENS[0]} to {JUDGE_TOKENS[1]:,} "
    "per judge prompt, and no retries."
)
_UNITS = ((3600.0, "hour"), (60.0, "minute"), (1.0, "second"))
_ASKING = [stage for stage in STAGES[SHARED:] if stage.asks_judge]


@dataclass(frozen=True)
class Estimate:
    """What calls take from providers.

    Attributes:
        calls: Calls to be made.
        cached: Calls that the ledger answers, for nothing.
        low: US dollars, of the models whose price is known.
        high: The same, when prompts and replies are long.
        priced: Whether any provider model has a known price.
        unknown: Labels of provider models without a known price.
        quotes: The price of every provider model by its label, and whose word it is.
        seconds: How long the calls take, from and to; None where nothing is known about it.
        assumption: What the range rests on, in words.
    """

    calls: int
    cached: int
    low: float
    high: float
    priced: bool
    unknown: tuple[str, ...]
    quotes: Mapping[str, Quote]
    seconds: tuple[float, float] | None
    assumption: str

    @property
    def cost(self) -> str:
        """The cost in words."""
        if not self.calls:
            return "nothing"
        if not self.priced:
            return "unknown price"
        rest = f" and an unknown price for {', '.join(self.unknown)}" if self.unknown else ""
        low, high = about(self.low), about(self.high)
        return f"{low}{rest}" if low == high else f"{low} to {high}{rest}"

    @property
    def time(self) -> str:
        """The time in words, such as `2 to 5 minutes`; empty where it is not known."""
        if self.seconds is None:
            return ""
        size, unit = next((pair for pair in _UNITS if self.seconds[1] >= 1.5 * pair[0]), _UNITS[-1])
        first, last = (max(1, round(seconds / size)) for seconds in self.seconds)
        return f"{'' if first == last else f'{first} to '}{counted(last, unit)}"


class CallKind(NamedTuple):
    """What a model is asked for: its label and the purpose of the calls."""

    model: str
    purpose: str


@dataclass
class CallCount:
    """Calls of provider models, as a dry run counts them.

    Attributes:
        needed: Calls to be made.
        cached: Calls that the ledger answers.
        characters: Characters of the prompts of the former that are known, and the number of those prompts.
        supposed: Whether judge calls are among them whose answer is not known yet.
        sampled: Whether some counts stand for more calls than were looked at.
    """

    needed: Counter[CallKind] = field(default_factory=Counter)
    cached: int = 0
    characters: dict[CallKind, tuple[int, int]] = field(default_factory=dict)
    supposed: bool = False
    sampled: bool = False

    async def admit(self) -> None:
        """Let every call through; the client refuses it."""

    def add(self, usage: Usage) -> None:
        """Count a reply of the ledger."""
        self.cached += usage.cached_calls


class _Refusing:
    """A client that counts calls and makes none."""

    def __init__(self, config: ModelConfig, count: CallCount) -> None:
        self.config = config
        self._count = count

    async def complete(self, request: ChatRequest) -> ChatReply:
        if self.config.is_provider:
            kind = CallKind(self.config.id, request.purpose)
            self._count.needed[kind] += 1
            length, number = self._count.characters.get(kind, (0, 0))
            self._count.characters[kind] = length + sum(len(item.content) for item in request.messages), number + 1
        raise ModelError("This call has not been made yet.", category="missing_recording")

    async def aclose(self) -> None:
        """Release nothing."""


class _ReadOnlyLedger(NullLedger):
    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, key: str) -> ChatReply | None:
        text = self._store.calls.replies([key]).get(key)
        return None if text is None else read_reply(text)


def dry_run(
    store: Store | None,
    items: Sequence[T],
    work: Callable[[ModelCaller, T], Awaitable[object]],
    count: CallCount | None = None,
) -> CallCount:
    """Go through items without asking anybody, and return the calls that would be made.

    Args:
        store: Its ledger answers calls; nothing is known when not given.
        items: At most `MOST` of them are gone through, spread over all.
        work: Makes the calls of one item; a `ModelError` of one that is not known ends it.
        count: What else is counted while the items are gone through.
    """
    count = CallCount() if count is None else count
    some = items[:: max(1, -(-len(items) // MOST))]

    def client(config: ModelConfig) -> ModelClient:
        return make_client(config) if config.transport in ("manual", "recorded") else _Refusing(config, count)

    async def go_through() -> None:
        services = CallServices(_ReadOnlyLedger(store) if store else NullLedger(), budget=count)
        async with ModelCaller(services, client) as caller:
            for item in some:
                with suppress(ModelError):
                    await work(caller, item)

    run_in_thread(go_through)
    if len(some) < len(items):
        times, count.sampled = len(items) / len(some), True
        count.needed = Counter({kind: round(number * times) for kind, number in count.needed.items()})
        count.cached = round(count.cached * times)
    return count


def estimate(plan: Plan, store: Store | None = None, run_id: str | None = None) -> Estimate | None:
    """Return what a plan takes from providers; None when no provider model takes part.

    Args:
        plan: What is wanted.
        store: Its ledger tells which calls are known and what calls of these models take; its prices count first.
        run_id: The stored run that the plan belongs to; what it has is not counted.
    """
    config, benchmark, count = plan.config, plan.benchmark, CallCount()
    models = (*config.answering_models, *config.parsing_models)
    if not any(model.is_provider for model in models):
        return None
    ids = [[model.id for model in role] for role in (config.answering_models, config.parsing_models)]
    order = Order(benchmark.get_question_ids(), *ids)
    finished = set[int]()
    if store is not None and run_id is not None:
        finished = finished_rows(store, run_id, plan, order, store.results.outcomes(run_id))
    judged = {name: judge_calls(benchmark, config, name) for name in plan.question_ids}
    # Where nothing could be decided, nothing is asked.
    tasks = [
        task for task in chain(*remaining(plan, order, finished)) if judged[task.generation.question_id] is not None
    ]
    # Similarities are no calls, and computing them takes a while.
    quick = config.model_copy(update={"embedding_check_enabled": False})

    async def evaluate(caller: ModelCaller, task: AnswerTask) -> None:
        context = await Pipeline(benchmark, quick, caller).generate(*task.generation)
        for judge in task.judges:
            if context.answer is not None:
                await run_stages(_ASKING, context.fork(judge))
            elif judge.is_provider and task.generation.answering.transport not in ("manual", "recorded"):
                calls = judged[task.generation.question_id] or Counter()
                count.needed.update({CallKind(judge.id, name): number for name, number in calls.items() if number})
                count.supposed = True

    return estimate_calls(models, dry_run(store, tasks, evaluate, count), store, config.max_concurrent_requests)


class _Experience(NamedTuple):
    """What calls of a kind take: their mean, and what nine of ten stay below."""

    calls: int
    sent: tuple[float, float]
    received: tuple[float, float]
    seconds: tuple[float, float] | None


def estimate_calls(
    models: Iterable[ModelConfig], count: CallCount, store: Store | None, max_concurrent: int
) -> Estimate:
    """Return what counted calls take.

    Args:
        models: All that may be asked.
        count: The calls.
        store: Tells what such calls have taken before, and knows a person's own prices.
        max_concurrent: Calls in flight at once.
    """
    asked = {model.id: model for model in models if model.is_provider}
    own = store.settings.prices() if store else {}
    quotes = {label: quote(model, own) for label, model in asked.items()}
    needed = {kind: number for kind, number in count.needed.items() if number}
    stored = _stored_calls(store, list(asked)) if store else {}
    experience = {kind: stored.get(kind) or _guess(kind, asked[kind.model], count) for kind in needed}
    low, high = (
        sum(
            number * price.of(experience[kind].sent[case], experience[kind].received[case])
            for kind, number in needed.items()
            if (price := quotes[kind.model].price) is not None
        )
        for case in (0, 1)
    )
    labels = dict.fromkeys(kind.model for kind in needed)
    return Estimate(
        calls=sum(needed.values()),
        cached=count.cached,
        low=low,
        high=high,
        priced=any(quotes[label].price is not None for label in labels),
        unknown=tuple(label for label in labels if quotes[label].price is None),
        quotes=quotes,
        seconds=_seconds(needed, experience, asked, max_concurrent),
        assumption=_assumption(experience, count),
    )


def _stored_calls(store: Store, models: Sequence[str]) -> dict[CallKind, _Experience]:
    calls: dict[CallKind, list[tuple[int, int, float]]] = {}
    for row in store.calls.sample(models):
        if row["input_tokens"] is not None and row["output_tokens"] is not None:
            numbers = (row["input_tokens"], row["output_tokens"], read_reply(row["reply"]).seconds)
            calls.setdefault(CallKind(row["model"], row["purpose"]), []).append(numbers)
    return {
        kind: _Experience(len(sample), *(_mean_and_high([call[place] for call in sample]) for place in range(3)))
        for kind, sample in calls.items()
        if len(sample) >= ENOUGH
    }


def _mean_and_high(values: Sequence[float]) -> tuple[float, float]:
    mean = fmean(values)
    return mean, max(mean, quantiles(values, n=10, method="inclusive")[-1])


def _guess(kind: CallKind, model: ModelConfig, count: CallCount) -> _Experience:
    low, high = (min(tokens, model.max_tokens) for tokens in REPLY_TOKENS)
    length, number = count.characters.get(kind, (0, 0))
    known = length / number / CHARACTERS if number else None
    sent = (known, known) if known else (JUDGE_TOKENS[0] + REPLY_TOKENS[0], JUDGE_TOKENS[1] + REPLY_TOKENS[1])
    return _Experience(0, sent, (low, high), None)


def _seconds(
    needed: Mapping[CallKind, int],
    experience: Mapping[CallKind, _Experience],
    models: Mapping[str, ModelConfig],
    max_concurrent: int,
) -> tuple[float, float] | None:
    if not needed or any(item.seconds is None for item in experience.values()):
        return None

    def least(case: int) -> float:
        seconds = {kind: (item.seconds or (0.0, 0.0))[case] for kind, item in experience.items()}
        work = {kind: number * seconds[kind] for kind, number in needed.items()}
        # However many calls are made at once, a judgement waits for its answer.
        answers = [usual for kind, usual in seconds.items() if kind.purpose == "answer"]
        others = [usual for kind, usual in seconds.items() if kind.purpose != "answer"]
        bounds = [sum(work.values()) / min(max_concurrent, sum(needed.values()))]
        bounds.append(max(answers, default=0.0) + max(others, default=0.0))
        for label, model in models.items():
            own = [kind for kind in needed if kind.model == label]
            tokens = sum(needed[kind] * (experience[kind].sent[case] + experience[kind].received[case]) for kind in own)
            calls = sum(needed[kind] for kind in own)
            for amount, limit in (
                (sum(work[kind] for kind in own), model.max_concurrent_requests),
                (60.0 * calls, model.requests_per_minute),
                (60.0 * tokens, model.tokens_per_minute),
            ):
                bounds.append(amount / limit if limit else 0.0)
        return max(bounds)

    return least(0), least(1)


def _assumption(experience: Mapping[CallKind, _Experience], count: CallCount) -> str:
    parts = []
    measured = sum(item.calls for item in {id(item): item for item in experience.values()}.values())
    guessed = list(dict.fromkeys(kind.model for kind, item in experience.items() if not item.calls))
    if measured:
        parts.append(f"From {counted(measured, 'stored call')}: their mean, and what nine of ten stayed below.")
    if guessed:
        parts.append(f"For {', '.join(guessed)}: {ASSUMPTION[0].lower()}{ASSUMPTION[1:]}" if measured else ASSUMPTION)
    if count.supposed:
        parts.append("Judge calls are counted for every answer that is not known yet.")
    if count.sampled:
        parts.append("Calls are counted from a sample.")
    return " ".join(parts)
