from __future__ import annotations

import pytest

from karenina_core.models import Rate


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def at(*seconds: float) -> tuple[Rate, Clock]:
    clock = Clock()
    rate = Rate(clock)
    for clock.now in seconds:
        rate.add()
    return rate, clock


def test_nothing_is_said_before_enough_was_seen() -> None:
    assert at()[0].per_minute is None
    assert at(5)[0].per_minute is None
    assert at(0.01, 0.02, 0.03)[0].per_minute is None


def test_several_at_one_moment_are_no_enormous_rate() -> None:
    assert at(*[3.0] * 20)[0].per_minute == pytest.approx(400)


def test_the_last_minute_counts() -> None:
    rate, clock = at(*range(1, 301))
    assert rate.per_minute == pytest.approx(60)
    clock.now += 30
    assert rate.per_minute == pytest.approx(30)


def test_slow_things_are_measured_over_the_last_ten() -> None:
    rate, _ = at(*(300.0 * number for number in range(1, 21)))
    assert rate.per_minute == pytest.approx(0.2, rel=0.2)


def test_many_in_a_minute_are_measured_over_those_that_are_kept() -> None:
    rate, _ = at(*(number / 100 for number in range(1, 5001)))
    assert rate.per_minute == pytest.approx(6000, rel=0.01)


def test_it_begins_anew_after_a_pause() -> None:
    rate, clock = at(1, 2, 3)
    clock.now = 500
    rate.restart()
    assert rate.per_minute is None
    for clock.now in (501, 502):
        rate.add()
    assert rate.per_minute == pytest.approx(60)
