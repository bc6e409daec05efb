from __future__ import annotations

import pytest

from karenina_core.errors import InputError
from karenina_core.runs.store.runs import Order
from karenina_core.schemas import RowKey

ORDER = Order(["q1", "q2"], ["a", "b"], ["j", "k"])


def test_rows_sort_by_question_then_model_then_judge_then_replicate() -> None:
    keys = [RowKey(q, a, j, r) for q in ("q1", "q2") for a in "ab" for j in "jk" for r in (1, 2, 1000)]
    positions = [ORDER.position(key) for key in keys]
    assert positions == sorted(set(positions))


def test_positions_stay_when_a_run_gains_models_and_questions() -> None:
    wider = Order(["q1", "q2", "q3"], ["a", "b", "c"], ["j", "k", "l"])
    key = RowKey("q2", "b", "k", 3)
    assert wider.position(key) == ORDER.position(key)


def test_positions_fit_into_a_big_integer() -> None:
    order = Order([f"q{number}" for number in range(200_000)], ["a"], ["j"])
    assert order.position(RowKey("q199999", "a", "j", 1000)) < 2**63


def test_a_stranger_is_refused() -> None:
    with pytest.raises(InputError, match="does not belong"):
        ORDER.position(RowKey("q9", "a", "j", 1))
