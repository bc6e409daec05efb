"""The second click of a double click asks for nothing of its own."""

from __future__ import annotations

import pytest

from karenina_core.runs.engine import clicks
from karenina_core.runs.engine.clicks import Latest


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Hands of a clock: set the one entry to move it."""
    hands = [100.0]
    monkeypatch.setattr(clicks.time, "monotonic", lambda: hands[0])
    return hands


def test_nothing_is_repeated_before_anything_was_begun() -> None:
    assert Latest().repeated(()) is None


def test_the_same_wish_a_moment_later_is_the_run_that_was_begun(clock: list[float]) -> None:
    latest = Latest()
    latest.began(("pilot", 3), "run-1")
    clock[0] += clicks.ONE_CLICK_SECONDS
    assert latest.repeated(("pilot", 3)) == "run-1"


def test_another_wish_or_a_later_one_begins_a_run(clock: list[float]) -> None:
    latest = Latest()
    latest.began(("pilot", 3), "run-1")
    assert latest.repeated(("pilot", 4)) is None
    clock[0] += clicks.ONE_CLICK_SECONDS + 0.1
    assert latest.repeated(("pilot", 3)) is None
