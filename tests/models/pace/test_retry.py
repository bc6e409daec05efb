from __future__ import annotations

import asyncio
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.errors import ModelError, ModelErrorCategory
from karenina_core.models import ModelCaller, NullLedger
from karenina_core.models.pace.retry import LONGEST_RETRY_AFTER, LONGEST_WAIT, seconds_to_wait
from tests.models.fakes import MODEL, FakeClient, ask, serve


def attempts_made(error: ModelError, max_attempts: int = 3) -> int:
    async def no_sleep(_: float) -> None:
        return None

    client = FakeClient([error])
    caller = ModelCaller(NullLedger(), serve(client), max_attempts=max_attempts, sleep=no_sleep)
    with pytest.raises(ModelError):
        asyncio.run(caller.complete(MODEL, ask()))
    return len(client.requests)


@pytest.mark.parametrize("category", get_args(ModelErrorCategory))
def test_only_failures_that_may_pass_are_tried_again(
    category: ModelErrorCategory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karenina_core.models.pace.limits.FIRST_HOLD", 0.001)
    passing = category in ("connection", "timeout", "rate_limit", "server_error")
    assert attempts_made(ModelError("no", category=category)) == (3 if passing else 1)


def test_a_provider_that_asks_for_hours_is_not_waited_for() -> None:
    error = ModelError("busy", category="rate_limit", retry_after=LONGEST_RETRY_AFTER + 1)
    assert attempts_made(error) == 1


@given(st.integers(1, 50))
def test_waits_are_random_and_bounded(number: int) -> None:
    assert 0 <= seconds_to_wait(ModelError("down", category="server_error"), number) <= min(LONGEST_WAIT, 2**number)


@given(st.floats(0, 600))
def test_the_providers_word_is_a_lower_bound(asked: float) -> None:
    error = ModelError("busy", category="rate_limit", retry_after=asked)
    assert asked <= seconds_to_wait(error, 1) <= asked + 1
