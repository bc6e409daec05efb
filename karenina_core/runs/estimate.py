"""What a run will cost, before anything is spent: a range, and what it assumes."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean

from karenina_core.models.prices import Price, price_of
from karenina_core.runs.budget import dollars
from karenina_core.runs.plan import Plan
from karenina_core.schemas.config import ModelConfig

CHARACTERS = 4  # of a question, for one token
REPLY_TOKENS = (50, 1_000)  # of an answer or a judgement, no more than the model may give
JUDGE_TOKENS = (500, 2_500)  # of a judge's prompt, beside the answer it judges
ASSUMPTION = (
    f"Assumes {REPLY_TOKENS[0]} to {REPLY_TOKENS[1]:,} tokens per reply and {JUDGE_TOKENS[0]} to {JUDGE_TOKENS[1]:,} "
    "per judge prompt, no retries, and nothing answered from the ledger."
)


@dataclass(frozen=True)
class Estimate:
    """What a run takes from providers.

    Attributes:
        calls: Calls of provider models, when the ledger holds none of them.
        low: US dollars, of the models whose price is known.
        high: The same, when replies are long.
        priced: Whether any provider model has a known price.
        unknown: Labels of provider models without a known price.
    """

    calls: int
    low: float
    high: float
    priced: bool
    unknown: tuple[str, ...]

    @property
    def cost(self) -> str:
        """The cost in words."""
        if not self.priced:
            return "unknown price"
        rest = f" and an unknown price for {', '.join(self.unknown)}" if self.unknown else ""
        return f"{dollars(self.low)} to {dollars(self.high)}{rest}"


def estimate(plan: Plan) -> Estimate | None:
    """Return what a plan takes from providers; None when no provider model takes part."""
    config, calls = plan.config, plan.calls()
    answers = calls.get("answer", 0)
    uses = [
        *_uses(config.answering_models, answers, _answer_tokens(plan)),
        *_uses(config.parsing_models, sum(calls.values()) - answers, _judge_tokens()),
    ]
    if not uses:
        return None
    priced = [(use, price) for use in uses if (price := price_of(use.model)) is not None]
    return Estimate(
        calls=sum(use.calls for use in uses),
        low=sum(use.cost(price, 0) for use, price in priced),
        high=sum(use.cost(price, 1) for use, price in priced),
        priced=bool(priced),
        unknown=tuple(dict.fromkeys(use.model.id for use in uses if price_of(use.model) is None)),
    )


@dataclass(frozen=True)
class _Use:
    """Calls of one model; `tokens` are those of a short and of a long prompt."""

    model: ModelConfig
    calls: int
    tokens: tuple[float, float]

    def cost(self, price: Price, case: int) -> float:
        return self.calls * price.of(self.tokens[case], min(REPLY_TOKENS[case], self.model.max_tokens))


def _uses(models: list[ModelConfig], calls: int, tokens: tuple[float, float]) -> list[_Use]:
    share = calls // len(models)  # every model of a role is asked the same number of times
    return [_Use(model, share, tokens) for model in models if model.transport == "litellm"]


def _answer_tokens(plan: Plan) -> tuple[float, float]:
    questions = [plan.benchmark.get_question_as_object(name).question for name in plan.question_ids]
    tokens = mean(len(text) for text in questions) / CHARACTERS if questions else 0.0
    return tokens, tokens


def _judge_tokens() -> tuple[float, float]:
    return JUDGE_TOKENS[0] + REPLY_TOKENS[0], JUDGE_TOKENS[1] + REPLY_TOKENS[1]
