from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.models.limits import (
    FIRST,
    REFUSAL_PER_ATTEMPT,
    SHORTEST_ROUND,
    SUSPEND_AFTER,
    USUAL_REPLY,
    Bucket,
    CircuitBreaker,
    ConcurrencyLimit,
    Rate,
    RateBudget,
)
from karenina_core.schemas import Usage
from tests.models.fakes import Clock


def longest(_: float, most: float) -> float:
    return most


@pytest.fixture
def clock() -> Clock:
    return Clock()


def full_round(concurrency: ConcurrencyLimit, clock: Clock) -> None:
    """As many answers as the limit, with the limit in use all the time."""
    clock.now += SHORTEST_ROUND
    for _ in range(concurrency.limit):
        concurrency.began(concurrency.limit)
        concurrency.answered()


def test_it_grows_up_to_the_ceiling(clock: Clock) -> None:
    concurrency = ConcurrencyLimit(80, clock=clock)
    limits = [concurrency.limit]
    full_round(concurrency, clock)
    assert [*limits, concurrency.limit] == [64, 80]


def test_at_first_every_answer_lets_one_more_call_through(clock: Clock) -> None:
    concurrency = ConcurrencyLimit(100, clock=clock)
    concurrency.began(75)
    for _ in range(3):
        concurrency.answered()
    assert concurrency.limit == 78


@pytest.mark.parametrize(("ceiling", "first"), [(1, 1), (8, 8), (70, FIRST), (200, 150)])
def test_it_begins_with_most_of_a_large_ceiling(ceiling: int, first: int) -> None:
    assert ConcurrencyLimit(ceiling).limit == first


def test_a_lone_refusal_keeps_four_fifths_and_growth_is_slow_from_then_on(clock: Clock) -> None:
    concurrency = ConcurrencyLimit(100, clock=clock)
    assert concurrency.refused(concurrency.wave, 74)
    assert concurrency.limit == 60
    full_round(concurrency, clock)
    assert concurrency.limit == 60, "the round with the refusal is not clean"
    full_round(concurrency, clock)
    assert concurrency.limit == 63


def test_the_refusals_of_one_wave_cut_once_and_show_what_is_accepted(clock: Clock) -> None:
    concurrency = ConcurrencyLimit(100, clock=clock)
    wave = concurrency.wave
    news = [concurrency.refused(wave, in_flight) for in_flight in range(74, 19, -1)]
    assert news.count(True) == 1
    assert concurrency.limit == 20


def test_one_wave_cuts_to_a_quarter_at_most(clock: Clock) -> None:
    concurrency = ConcurrencyLimit(100, clock=clock)
    for in_flight in range(74, -1, -1):
        concurrency.refused(0, in_flight)
    assert concurrency.limit == 19


def test_no_growth_while_the_limit_is_not_used(clock: Clock) -> None:
    concurrency = ConcurrencyLimit(100, clock=clock)
    concurrency.began(10)
    for _ in range(200):
        concurrency.answered()
    assert concurrency.limit == 75


def test_an_error_of_the_provider_only_pauses_growth(clock: Clock) -> None:
    concurrency = ConcurrencyLimit(100, clock=clock)
    concurrency.failed()
    full_round(concurrency, clock)
    assert concurrency.limit == 75
    full_round(concurrency, clock)
    assert concurrency.limit == 100


def test_quick_answers_after_a_refusal_are_no_reason_for_quick_growth(clock: Clock) -> None:
    concurrency = ConcurrencyLimit(100, clock=clock)
    concurrency.refused(0, 74)
    concurrency.began(60)
    for _ in range(400):
        concurrency.answered()
    assert concurrency.limit == 60


def test_a_fixed_limit_stays(clock: Clock) -> None:
    concurrency = ConcurrencyLimit(50, adaptive=False, clock=clock)
    concurrency.refused(0, 49)
    assert concurrency.limit == 50


events = st.lists(st.tuples(st.sampled_from(["answer", "refuse", "trouble", "move", "time"]), st.integers(0, 1000)))


@given(st.integers(1, 300), events)
def test_the_limit_stays_between_one_and_the_ceiling(ceiling: int, happened: list[tuple[str, int]]) -> None:
    clock = Clock()
    concurrency = ConcurrencyLimit(ceiling, clock=clock)
    for what, number in happened:
        match what:
            case "answer":
                concurrency.began(concurrency.limit)
                concurrency.answered()
            case "refuse":
                concurrency.refused(max(0, concurrency.wave - number % 3), number % 50)
            case "trouble":
                concurrency.failed()
            case "move":
                concurrency.set_ceiling(number)
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
    breaker = CircuitBreaker(clock, longest)
    breaker.refused(30.0)
    assert 0 < breaker.wait() < 1


def test_from_the_second_wave_on_the_provider_is_given_the_time_it_asks_for(clock: Clock) -> None:
    breaker = CircuitBreaker(clock, longest)
    breaker.refused(30.0)
    breaker.refused(30.0)
    assert breaker.wait() == 30.0


def test_without_a_word_of_the_provider_the_wait_doubles(clock: Clock) -> None:
    breaker, waits = CircuitBreaker(clock, longest), []
    for _ in range(6):
        breaker.refused(None)
        waits.append(breaker.wait())
        clock.now += waits[-1]
    assert waits == pytest.approx([0.3, 0.6, 1.2, 2.4, 4.8, 5.0])


def test_any_answer_ends_the_wait(clock: Clock) -> None:
    breaker = CircuitBreaker(clock, longest)
    breaker.refused(30.0)
    breaker.refused(30.0)
    breaker.answered()
    assert breaker.wait() == 0 and breaker.calm


def test_refusals_without_end_give_the_model_up(clock: Clock) -> None:
    breaker = CircuitBreaker(clock, longest)
    breaker.attempts = 2
    assert not breaker.refused(1.0)
    clock.now += 2 * REFUSAL_PER_ATTEMPT - 1
    assert not breaker.refused(1.0)
    clock.now += 1
    assert breaker.refused(1.0)


def test_failures_in_a_row_suspend_and_probes_that_fail_give_up(clock: Clock) -> None:
    breaker = CircuitBreaker(clock, longest)
    assert not any(breaker.failed(False) for _ in range(SUSPEND_AFTER - 1))
    assert not breaker.suspended
    breaker.failed(False)
    waits, given_up = [], []
    breaker.attempts = 4
    for _ in range(4):
        assert breaker.suspended
        waits.append(breaker.wait())
        clock.now += waits[-1]
        given_up.append(breaker.failed(True))
    assert waits == [1, 2, 4, 8]
    assert given_up == [False, False, False, True]


def test_who_allows_more_attempts_waits_longer_for_a_model_to_come_back(clock: Clock) -> None:
    breaker, waited = CircuitBreaker(clock, longest), 0.0
    breaker.attempts = 20
    for _ in range(SUSPEND_AFTER):
        breaker.failed(False)
    for _ in range(19):
        waited += breaker.wait()
        clock.now += breaker.wait()
        assert not breaker.failed(True)
    assert 600 < waited < 1200
    assert breaker.wait() == 60


def test_calls_that_were_in_flight_before_are_no_probes(clock: Clock) -> None:
    breaker = CircuitBreaker(clock, longest)
    assert not any(breaker.failed(False) for _ in range(SUSPEND_AFTER + 100))


def test_a_probe_that_is_answered_ends_the_suspension(clock: Clock) -> None:
    breaker = CircuitBreaker(clock, longest)
    for _ in range(SUSPEND_AFTER):
        breaker.failed(False)
    breaker.answered()
    assert not breaker.suspended and not breaker.wait() and not breaker.failures


def test_a_refusal_never_raises_the_limit(clock: Clock) -> None:
    concurrency = ConcurrencyLimit(5, clock=clock)
    concurrency.refused(0, 4)
    concurrency.set_ceiling(1)
    concurrency.refused(0, 3)
    assert concurrency.limit == 1


def rates(requests: float | None = None, tokens: float | None = None) -> RateBudget:
    budget = RateBudget(Clock())
    budget.set_limits([requests], [tokens])
    return budget


def test_without_a_limit_nothing_is_counted() -> None:
    free = rates()
    free.take(1_000_000)
    assert (free.limited, free.wait()) == (False, 0.0)


def test_the_narrowest_setting_holds_and_one_that_stays_forgets_nothing() -> None:
    shared = rates(30)
    shared.take(0)
    shared.set_limits([60, 30, None], [])
    assert shared.wait() == 2.0


def test_the_limit_that_is_used_up_is_waited_for() -> None:
    both = rates(60, 600)
    both.take(110)
    assert both.wait() == 10.0  # 11 seconds' worth of tokens, of which one second's worth may come at once


def test_a_limit_that_is_lifted_holds_nobody_up() -> None:
    lifted = rates(1, 1)
    lifted.take(100)
    lifted.set_limits([], [])
    assert (lifted.wait(), lifted.limited) == (0.0, False)


@pytest.mark.parametrize(
    ("usage", "left"),
    [(Usage(input_tokens=20, output_tokens=40), 5.0), (Usage(), 9.0), (None, 0.0)],
    ids=["what it took", "provider says nothing", "failed"],
)
def test_what_a_call_took_replaces_its_estimate(usage: Usage | None, left: float) -> None:
    tokens = rates(tokens=600)
    tokens.take(100)
    tokens.settle(100, usage)
    assert tokens.wait() == left


def test_estimates_learn_from_replies() -> None:
    tokens = rates(tokens=600)
    assert tokens.estimate(400) == 100 + USUAL_REPLY
    for _ in range(50):
        tokens.settle(0, Usage(output_tokens=1000))
    assert tokens.estimate(400) == pytest.approx(1100, abs=2)


def events_at(*seconds: float) -> tuple[Rate, Clock]:
    clock = Clock()
    clock.now = 0.0
    rate = Rate(clock)
    for clock.now in seconds:
        rate.add()
    return rate, clock


@pytest.mark.parametrize(
    ("moments", "per_minute"),
    [
        ((), None),
        ((5,), None),
        ((0.01, 0.02, 0.03), None),
        ([3.0] * 20, 400),
        (range(1, 301), 60),
        ([number / 100 for number in range(1, 5001)], 6000),
    ],
    ids=["nothing", "once", "at once", "at one moment", "last minute", "many"],
)
def test_events_per_minute(moments: Any, per_minute: float | None) -> None:
    assert events_at(*moments)[0].per_minute == (per_minute and pytest.approx(per_minute, rel=0.01))


def test_slow_events_are_measured_over_the_last_ten() -> None:
    rate, _ = events_at(*(300.0 * number for number in range(1, 21)))
    assert rate.per_minute == pytest.approx(0.2, rel=0.2)


def test_a_rate_falls_while_nothing_happens_and_begins_anew_after_a_pause() -> None:
    rate, clock = events_at(*range(1, 301))
    clock.now += 30
    assert rate.per_minute == pytest.approx(30)
    clock.now = 500
    rate.restart()
    assert rate.per_minute is None
    for clock.now in (501, 502):
        rate.add()
    assert rate.per_minute == pytest.approx(60)
