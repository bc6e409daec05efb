"""One purse for all work beside runs: what it lets through, and who hears of the cost."""

from __future__ import annotations

import asyncio

import pytest

from karenina_core.errors import ModelError
from karenina_core.runs.engine.budget import Budget
from karenina_core.runs.engine.purse import Purse
from karenina_core.schemas import Usage


def budget(max_cost: float | None) -> Budget:
    return Budget(max_cost, 0.0, lambda: 0.0)


def test_an_empty_purse_admits_no_call_and_says_so() -> None:
    purse = Purse(budget(1.0))
    asyncio.run(purse.admit())
    purse.paid(Usage(cost=1.5))
    with pytest.raises(ModelError) as caught:
        asyncio.run(purse.admit())
    assert caught.value.category == "cancelled"
    assert purse.over


def test_the_account_hears_of_every_cost_at_once() -> None:
    heard: list[float] = []
    purse = Purse(budget(None), heard.append)
    purse.paid(Usage(cost=0.25))
    purse.paid(Usage(cost=0.5))
    assert heard == [0.25, 0.5]


def test_a_call_without_a_price_counts_and_costs_nothing_known() -> None:
    heard: list[float] = []
    purse = Purse(budget(None), heard.append)
    purse.paid(Usage())
    assert (purse.spent.calls, purse.take(), heard) == (1, None, [])


def test_what_was_taken_out_is_not_taken_again() -> None:
    purse = Purse(budget(None))
    purse.paid(Usage(cost=0.25))
    assert (purse.take(), purse.take(), purse.spent.cost) == (0.25, None, 0.25)
