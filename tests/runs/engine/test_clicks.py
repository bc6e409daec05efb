"""The second click of a double click asks for nothing of its own."""

from __future__ import annotations

import pytest

from karenina_core.runs import DuplicateStartGuard
from karenina_core.runs.engine import clicks
from karenina_core.runs.engine.clicks import ONE_CLICK_SECONDS

BEGUN = 100.0


@pytest.fixture
def latest(monkeypatch: pytest.MonkeyPatch) -> DuplicateStartGuard:
    """A pilot of three questions was begun at second 100 of the clock."""
    monkeypatch.setattr(clicks.time, "monotonic", lambda: BEGUN)
    begun = DuplicateStartGuard()
    begun.began(("pilot", 3), "run-1")
    return begun


def test_nothing_is_repeated_before_anything_was_begun() -> None:
    assert DuplicateStartGuard().repeated((), clicked=0.0) is None


@pytest.mark.parametrize("late", [-1.0, 0.0, ONE_CLICK_SECONDS])
def test_the_same_wish_at_the_same_moment_is_the_run_that_was_begun(latest: DuplicateStartGuard, late: float) -> None:
    assert latest.repeated(("pilot", 3), clicked=BEGUN + late) == "run-1"


def test_another_wish_or_a_later_one_begins_a_run(latest: DuplicateStartGuard) -> None:
    assert latest.repeated(("pilot", 4), clicked=BEGUN) is None
    assert latest.repeated(("pilot", 3), clicked=BEGUN + ONE_CLICK_SECONDS + 0.1) is None
