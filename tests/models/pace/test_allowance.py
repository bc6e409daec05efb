from __future__ import annotations

import pytest

from karenina_core.models.pace.allowance import USUAL_REPLY, Allowance
from karenina_core.models.pace.limits import ModelLimits
from karenina_core.schemas import Usage
from tests.models.fakes import Clock


def allowance(*settings: ModelLimits) -> Allowance:
    made = Allowance(Clock())
    made.follow(settings)
    return made


def test_without_a_limit_nothing_is_counted() -> None:
    free = allowance(ModelLimits(), ModelLimits())
    free.take(1_000_000)
    assert (free.buckets, free.counts_tokens, free.wait()) == ((), False, 0.0)


def test_the_narrowest_setting_holds() -> None:
    shared = allowance(ModelLimits(requests_per_minute=60), ModelLimits(requests_per_minute=30), ModelLimits())
    shared.take(0)
    assert shared.wait() == 2.0


def test_the_limit_that_is_used_up_is_waited_for() -> None:
    both = allowance(ModelLimits(requests_per_minute=60, tokens_per_minute=600))
    both.take(110)
    assert both.wait() == 10.0  # 11 seconds' worth of tokens, of which one second's worth may come at once


def test_a_limit_that_stays_forgets_nothing() -> None:
    limits = ModelLimits(requests_per_minute=30)
    kept = allowance(limits)
    kept.take(0)
    kept.follow([limits, ModelLimits(requests_per_minute=90)])
    assert kept.wait() == 2.0


def test_a_limit_that_is_lifted_holds_nobody_up() -> None:
    lifted = allowance(ModelLimits(requests_per_minute=1, tokens_per_minute=1))
    lifted.take(100)
    lifted.follow([])
    assert (lifted.wait(), lifted.counts_tokens) == (0.0, False)


@pytest.mark.parametrize(("usage", "left"), [(Usage(input_tokens=20, output_tokens=40), 5.0), (Usage(), 9.0)])
def test_what_a_call_took_replaces_its_estimate(usage: Usage, left: float) -> None:
    tokens = allowance(ModelLimits(tokens_per_minute=600))
    tokens.take(100)
    tokens.settle(100, usage)
    assert tokens.wait() == left


def test_a_call_that_failed_took_no_tokens() -> None:
    tokens = allowance(ModelLimits(tokens_per_minute=600))
    tokens.take(100)
    tokens.give_back(100)
    assert tokens.wait() == 0.0


def test_estimates_learn_from_replies() -> None:
    tokens = allowance(ModelLimits(tokens_per_minute=600))
    assert tokens.estimate(400) == 100 + USUAL_REPLY
    for _ in range(50):
        tokens.settle(0, Usage(output_tokens=1000))
    assert tokens.estimate(400) == pytest.approx(1100, abs=2)
