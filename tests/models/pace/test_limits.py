from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.models.pace.limits import (
    FIRST,
    REFUSAL_PER_ATTEMPT,
    SHORTEST_ROUND,
    SUSPEND_AFTER,
    Bucket,
    Concurrency,
    Patience,
)
from tests.models.fakes import Clock


def longest(_: float, most: float) -> float:
    return most


@pytest.fixture
def clock() -> Clock:
    return Clock()


def full_round(concurrency: Concurrency, clock: Clock) -> None:
    """As many answers as the limit, with the limit in use all the time."""
    clock.now += SHORTEST_ROUND
    for _ in range(concurrency.limit):
        concurrency.began(concurrency.limit)
        concurrency.answered()


def test_it_grows_up_to_the_ceiling(clock: Clock) -> None:
    concurrency = Concurrency(80, clock=clock)
    limits = [concurrency.limit]
    full_round(concurrency, clock)
    assert [*limits, concurrency.limit] == [64, 80]


def test_at_first_every_answer_lets_one_more_call_through(clock: Clock) -> None:
    concurrency = Concurrency(100, clock=clock)
    concurrency.began(75)
    for _ in range(3):
        concurrency.answered()
    assert concurrency.limit == 78


@pytest.mark.parametrize(("ceiling", "first"), [(1, 1), (8, 8), (70, FIRST), (200, 150)])
def test_it_begins_with_most_of_a_large_ceiling(ceiling: int, first: int) -> None:
    assert Concurrency(ceiling).limit == first


def test_a_lone_refusal_keeps_four_fifths_and_growth_is_slow_from_then_on(clock: Clock) -> None:
    concurrency = Concurrency(100, clock=clock)
    assert concurrency.refused(concurrency.wave, 74)
    assert concurrency.limit == 60
    full_round(concurrency, clock)
    assert concurrency.limit == 60, "the round with the refusal is not clean"
    full_round(concurrency, clock)
    assert concurrency.limit == 63


def test_the_refusals_of_one_wave_cut_once_and_show_what_is_accepted(clock: Clock) -> None:
    concurrency = Concurrency(100, clock=clock)
    wave = concurrency.wave
    news = [concurrency.refused(wave, in_flight) for in_flight in range(74, 19, -1)]
    assert news.count(True) == 1
    assert concurrency.limit == 20


def test_one_wave_cuts_to_a_quarter_at_most(clock: Clock) -> None:
    concurrency = Concurrency(100, clock=clock)
    for in_flight in range(74, -1, -1):
        concurrency.refused(0, in_flight)
    assert concurrency.limit == 19


def test_no_growth_while_the_limit_is_not_used(clock: Clock) -> None:
    concurrency = Concurrency(100, clock=clock)
    concurrency.began(10)
    for _ in range(200):
        concurrency.answered()
    assert concurrency.limit == 75


def test_an_error_of_the_provider_only_pauses_growth(clock: Clock) -> None:
    concurrency = Concurrency(100, clock=clock)
    concurrency.troubled()
    full_round(concurrency, clock)
    assert concurrency.limit == 75
    full_round(concurrency, clock)
    assert concurrency.limit == 100


def test_quick_answers_after_a_refusal_are_no_reason_for_quick_growth(clock: Clock) -> None:
    concurrency = Concurrency(100, clock=clock)
    concurrency.refused(0, 74)
    concurrency.began(60)
    for _ in range(400):
        concurrency.answered()
    assert concurrency.limit == 60


def test_a_fixed_limit_stays(clock: Clock) -> None:
    concurrency = Concurrency(50, adaptive=False, clock=clock)
    concurrency.refused(0, 49)
    assert concurrency.limit == 50


events = st.lists(st.tuples(st.sampled_from(["answer", "refuse", "trouble", "move", "time"]), st.integers(0, 1000)))


@given(st.integers(1, 300), events)
def test_the_limit_stays_between_one_and_the_ceiling(ceiling: int, happened: list[tuple[str, int]]) -> None:
    clock = Clock()
    concurrency = Concurrency(ceiling, clock=clock)
    for what, number in happened:
        match what:
            case "answer":
                concurrency.began(concurrency.limit)
                concurrency.answered()
            case "refuse":
                concurrency.refused(max(0, concurrency.wave - number % 3), number % 50)
            case "trouble":
                concurrency.troubled()
            case "move":
                concurrency.move_ceiling(number)
            case "time":
                clock.now += number / 100
        assert 1 <= concurrency.limit <= concurrency.ceiling


def test_a_bucket_lets_a_seconds_worth_through_at_once(clock: Clock) -> None:
    bucket, taken = Bucket(600, clock), 0
    while not bucket.wait():
        bucket.take(1)
        taken += 1
    assert taken in (10, 11)
    clock.now += 0.1
    assert bucket.wait() == pytest.approx(0.0, abs=1e-6)


def test_slow_buckets_are_even(clock: Clock) -> None:
    bucket = Bucket(30, clock)
    bucket.take(1)
    assert bucket.wait() == 2.0


def test_an_estimate_is_set_right_afterwards(clock: Clock) -> None:
    bucket = Bucket(60, clock)
    bucket.take(10)
    bucket.settle(-4)
    assert bucket.wait() == 6.0


@given(st.floats(1, 100_000), st.lists(st.floats(0.001, 5), max_size=20))
def test_no_minute_holds_more_than_the_rate_and_a_seconds_worth(rate: float, steps: list[float]) -> None:
    clock, moments = Clock(), []
    bucket = Bucket(rate, clock)
    for step in steps:
        clock.now += step
        for _ in range(10):
            if bucket.wait():
                break
            bucket.take(1)
            moments.append(clock.now)
    for begin in moments:
        assert sum(begin <= moment < begin + 60 for moment in moments) <= rate * 61 / 60 + 2


def test_the_first_refusal_holds_others_only_for_a_moment(clock: Clock) -> None:
    patience = Patience(clock, longest)
    patience.refused(30.0)
    assert 0 < patience.wait() < 1


def test_from_the_second_wave_on_the_provider_is_given_the_time_it_asks_for(clock: Clock) -> None:
    patience = Patience(clock, longest)
    patience.refused(30.0)
    patience.refused(30.0)
    assert patience.wait() == 30.0


def test_without_a_word_of_the_provider_the_wait_doubles(clock: Clock) -> None:
    patience, waits = Patience(clock, longest), []
    for _ in range(6):
        patience.refused(None)
        waits.append(patience.wait())
        clock.now += waits[-1]
    assert waits == pytest.approx([0.3, 0.6, 1.2, 2.4, 4.8, 5.0])


def test_any_answer_ends_the_wait(clock: Clock) -> None:
    patience = Patience(clock, longest)
    patience.refused(30.0)
    patience.refused(30.0)
    patience.answered()
    assert patience.wait() == 0 and patience.calm


def test_refusals_without_end_give_the_model_up(clock: Clock) -> None:
    patience = Patience(clock, longest)
    patience.attempts = 2
    assert not patience.refused(1.0)
    clock.now += 2 * REFUSAL_PER_ATTEMPT - 1
    assert not patience.refused(1.0)
    clock.now += 1
    assert patience.refused(1.0)


def test_failures_in_a_row_suspend_and_probes_that_fail_give_up(clock: Clock) -> None:
    patience = Patience(clock, longest)
    assert not any(patience.failed(False) for _ in range(SUSPEND_AFTER - 1))
    assert not patience.suspended
    patience.failed(False)
    waits, given_up = [], []
    patience.attempts = 4
    for _ in range(4):
        assert patience.suspended
        waits.append(patience.wait())
        clock.now += waits[-1]
        given_up.append(patience.failed(True))
    assert waits == [1, 2, 4, 8]
    assert given_up == [False, False, False, True]


def test_who_allows_more_attempts_waits_longer_for_a_model_to_come_back(clock: Clock) -> None:
    patience, waited = Patience(clock, longest), 0.0
    patience.attempts = 20
    for _ in range(SUSPEND_AFTER):
        patience.failed(False)
    for _ in range(19):
        waited += patience.wait()
        clock.now += patience.wait()
        assert not patience.failed(True)
    assert 600 < waited < 1200
    assert patience.wait() == 60


def test_calls_that_were_in_flight_before_are_no_probes(clock: Clock) -> None:
    patience = Patience(clock, longest)
    assert not any(patience.failed(False) for _ in range(SUSPEND_AFTER + 100))


def test_a_probe_that_is_answered_ends_the_suspension(clock: Clock) -> None:
    patience = Patience(clock, longest)
    for _ in range(SUSPEND_AFTER):
        patience.failed(False)
    patience.answered()
    assert not patience.suspended and not patience.wait() and not patience.failures


def test_a_refusal_never_raises_the_limit(clock: Clock) -> None:
    concurrency = Concurrency(5, clock=clock)
    concurrency.refused(0, 4)
    concurrency.move_ceiling(1)
    concurrency.refused(0, 3)
    assert concurrency.limit == 1
