from __future__ import annotations

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.runs import estimate, wanted
from karenina_core.schemas.config import VerificationConfig
from tests.app.samples import TEMPLATE


def plan_of(*models: object, **settings: object) -> object:
    benchmark = Benchmark.create("Targets")
    for number in range(4):
        benchmark.add_question(f"What is target {number}?", "BCL2", TEMPLATE)
    judges = settings.pop("judges", [{"interface": "local"}])
    config = {"answering_models": list(models), "parsing_models": judges, **settings}
    return wanted(benchmark, VerificationConfig.model_validate(config))


def test_nothing_is_expected_of_providers_that_take_no_part() -> None:
    assert estimate(plan_of({"interface": "local"})) is None


def test_a_known_price_gives_a_range() -> None:
    expected = estimate(plan_of("openai/gpt-4.1-mini", replicate_count=5))
    assert expected is not None
    assert (expected.calls, expected.priced, expected.unknown) == (20, True, ())
    # 20 replies of 50 to 1000 tokens at $1.60 per million, and a little for the questions.
    assert expected.low == pytest.approx(20 * 50 * 1.6e-6, rel=0.1)
    assert expected.high == pytest.approx(20 * 1000 * 1.6e-6, rel=0.1)
    assert expected.cost == "$0.0016 to $0.03"


def test_judges_are_asked_once_for_every_answer() -> None:
    expected = estimate(plan_of("openai/gpt-4.1-mini", judges=["openai/gpt-4.1", "openai/gpt-4.1-mini"]))
    assert expected is not None
    assert expected.calls == 4 + 8
    assert expected.low < expected.high


def test_an_unknown_price_is_said() -> None:
    alone = estimate(plan_of("lab/unheard-of"))
    beside = estimate(plan_of("lab/unheard-of", "openai/gpt-4.1-mini"))
    assert alone is not None and beside is not None
    assert alone.cost == "unknown price"
    assert beside.cost.endswith("and an unknown price for lab/unheard-of")


def test_a_model_that_may_say_little_costs_little() -> None:
    short = estimate(plan_of({"model_name": "openai/gpt-4.1-mini", "max_tokens": 50}))
    assert short is not None
    assert short.low == short.high
