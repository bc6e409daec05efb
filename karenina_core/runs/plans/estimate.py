"""What a run will take, before anything is spent: calls, money and time, as a range with its assumption."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from karenina_core.models import Price
from karenina_core.runs.engine.spending import about
from karenina_core.runs.plan import Plan
from karenina_core.runs.plans.experience import Span, Taken, experience
from karenina_core.runs.plans.rehearsal import Ask, Calls, is_remote, rehearse
from karenina_core.runs.prices import Prices, Quote, quote
from karenina_core.runs.store import Store
from karenina_core.schemas import ModelConfig

CHARACTERS = 4  # of a prompt, for one token
REPLY_TOKENS = (50, 1_000)  # of an answer or a judgement, no more than the model may give
JUDGE_TOKENS = (500, 2_500)  # of a judge's prompt, beside the answer it judges
ASSUMPTION = (
    f"Assumes {REPLY_TOKENS[0]} to {REPLY_TOKENS[1]:,} tokens per reply and {JUDGE_TOKENS[0]} to {JUDGE_TOKENS[1]:,} "
    "per judge prompt, and no retries."
)
_UNITS = ((3600.0, "hour"), (60.0, "minute"), (1.0, "second"))


@dataclass(frozen=True)
class Estimate:
    """What a run takes from providers.

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
        return "" if self.seconds is None else _spoken_time(*self.seconds)


def estimate(plan: Plan, store: Store | None = None, run_id: str | None = None) -> Estimate | None:
    """Return what a plan takes from providers; None when no provider model takes part.

    Args:
        plan: What is wanted.
        store: Its ledger tells which calls are known and what calls of these models take; its prices count first.
        run_id: The stored run that the plan belongs to; what it has is not counted.
    """
    config = plan.config
    models = {model.id: model for model in (*config.answering_models, *config.parsing_models) if is_remote(model)}
    if not models:
        return None
    seen = rehearse(plan, store, run_id)
    taken = _with_likely(seen, experience(store, models, run_id)) if store is not None else {}
    return estimated(
        models, seen, taken, store.settings.prices() if store is not None else {}, config.max_concurrent_requests
    )


def estimated(
    models: Mapping[str, ModelConfig], seen: Calls, taken: Mapping[Ask, Taken], own: Prices, at_once: int
) -> Estimate:
    """Return what calls take.

    Args:
        models: The models that are asked, by label.
        seen: The calls.
        taken: What such calls have taken before.
        own: A person's own prices.
        at_once: Calls in flight at once.
    """
    quotes = {label: quote(model, own) for label, model in models.items()}
    needed = {ask: number for ask, number in seen.needed.items() if number}
    uses = {
        ask: _Use(number, *_tokens(ask, models[ask.model], seen, taken.get(ask)), quotes[ask.model].price)
        for ask, number in needed.items()
    }
    priced = [use for use in uses.values() if use.price is not None]
    asked = dict.fromkeys(ask.model for ask in needed)
    return Estimate(
        calls=sum(needed.values()),
        cached=sum(seen.cached.values()),
        low=sum(use.cost(0) for use in priced),
        high=sum(use.cost(1) for use in priced),
        priced=bool(priced),
        unknown=tuple(label for label in asked if quotes[label].price is None),
        quotes=quotes,
        seconds=_seconds(uses, taken, at_once, models),
        assumption=_words(needed, seen, taken),
    )


def _with_likely(seen: Calls, taken: Mapping[Ask, Taken]) -> dict[Ask, Taken]:
    """Take what a judge has done for one purpose for what it does for another that it was never asked for."""
    likely = dict(taken)
    for ask in seen.needed:
        others = [found for other, found in taken.items() if other.model == ask.model and other.purpose != "answer"]
        if ask not in taken and ask.purpose != "answer" and others:
            likely[ask] = max(others, key=lambda found: found.calls)
    return likely


@dataclass(frozen=True)
class _Use:
    """Calls of one model for one purpose; tokens as usual and when there are many."""

    calls: int
    sent: tuple[float, float]
    received: tuple[float, float]
    price: Price | None

    def tokens(self, case: int) -> float:
        return self.calls * (self.sent[case] + self.received[case])

    def cost(self, case: int) -> float:
        return self.calls * self.price.of(self.sent[case], self.received[case]) if self.price else 0.0


def _tokens(
    ask: Ask, model: ModelConfig, seen: Calls, taken: Taken | None
) -> tuple[tuple[float, float], tuple[float, float]]:
    if taken is not None:
        return (taken.sent.usual, taken.sent.high), (taken.received.usual, taken.received.high)
    low, high = (min(tokens, model.max_tokens) for tokens in REPLY_TOKENS)
    length, number = seen.characters.get(ask, (0, 0))
    if number:
        sent = length / number / CHARACTERS
        return (sent, sent), (low, high)
    return (JUDGE_TOKENS[0] + REPLY_TOKENS[0], JUDGE_TOKENS[1] + REPLY_TOKENS[1]), (low, high)


def _seconds(
    uses: Mapping[Ask, _Use], taken: Mapping[Ask, Taken], at_once: int, models: Mapping[str, ModelConfig]
) -> tuple[float, float] | None:
    spans = {ask: found.seconds for ask in uses if (found := taken.get(ask)) and found.seconds}
    if not uses or len(spans) < len(uses):
        return None
    lanes = min(at_once, sum(use.calls for use in uses.values()))
    low, high = (sum(use.calls * spans[ask][case] for ask, use in uses.items()) / lanes for case in (0, 1))
    answers = [span.usual for ask, span in spans.items() if ask.purpose == "answer"]
    judgements = [span.usual for ask, span in spans.items() if ask.purpose != "answer"]
    # However many calls are made at once, a judgement waits for its answer.
    chain = max(answers, default=0.0) + max(judgements, default=0.0)
    # Nor does it help a model that may be asked so much and no more.
    least, most = (
        max(
            _within_limits(model, {ask: use for ask, use in uses.items() if ask.model == label}, spans, case)
            for label, model in models.items()
        )
        for case in (0, 1)
    )
    return max(low, chain, least), max(high, chain, most)


def _within_limits(model: ModelConfig, uses: Mapping[Ask, _Use], spans: Mapping[Ask, Span], case: int) -> float:
    """Return the seconds that the calls of one model take by its own limits."""
    amounts = (
        (sum(use.calls * spans[ask][case] for ask, use in uses.items()), model.max_concurrent_requests),
        (60.0 * sum(use.calls for use in uses.values()), model.requests_per_minute),
        (60.0 * sum(use.tokens(case) for use in uses.values()), model.tokens_per_minute),
    )
    return max(amount / limit if limit else 0.0 for amount, limit in amounts)


def _words(needed: Mapping[Ask, int], seen: Calls, taken: Mapping[Ask, Taken]) -> str:
    parts = []
    measured = list({id(taken[ask]): taken[ask] for ask in needed if ask in taken}.values())
    guessed = list(dict.fromkeys(ask.model for ask in needed if ask not in taken))
    if measured:
        where = "this run" if all(item.here for item in measured) else "earlier runs here"
        number = sum(item.calls for item in measured)
        parts.append(f"From {number} calls of {where}: their median, and what nine of ten stayed below.")
    if guessed:
        parts.append(f"For {', '.join(guessed)}: {ASSUMPTION[0].lower()}{ASSUMPTION[1:]}" if measured else ASSUMPTION)
    if seen.supposed:
        parts.append("Judge calls are counted for every answer that is not known yet.")
    if seen.sampled:
        parts.append("Judge calls of known answers are counted from a sample.")
    return " ".join(parts)


def _spoken_time(low: float, high: float) -> str:
    size, unit = next((pair for pair in _UNITS if high >= 1.5 * pair[0]), _UNITS[-1])
    first, last = (max(1, round(seconds / size)) for seconds in (low, high))
    span = f"{last}" if first == last else f"{first} to {last}"
    return f"{span} {unit}{'' if last == 1 else 's'}"
