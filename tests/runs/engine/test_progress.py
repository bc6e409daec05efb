from __future__ import annotations

import pytest

from karenina_core.runs import ModelCount, Progress, RunStatus, Store, wanted
from karenina_core.runs.engine.progress import RECENT, Stopwatch, Tally, stored_progress
from karenina_core.schemas import Usage
from tests.runs.fakes import failure_of, plain_result, small_benchmark, small_config


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_stopwatch_leaves_pauses_out() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    watch.start()
    clock.now = 5
    watch.stop()
    clock.now = 100
    watch.start()
    clock.now = 102
    assert watch.seconds == 7


def test_the_rate_is_that_of_the_last_minute() -> None:
    clock = Clock()
    tally = Tally(clock=clock)
    assert tally.rate is None
    for second in range(0, 200, 5):
        clock.now = second
        tally.add(plain_result())
    assert tally.rate == pytest.approx(12)
    tally.restart_rate()
    assert tally.rate is None


def test_known_replies_promise_nothing_about_those_that_are_not() -> None:
    clock = Clock()
    tally = Tally(clock=clock)
    for _ in range(500):
        tally.add(plain_result(usage=Usage(calls=2, cached_calls=2)))
    clock.now = 2
    assert tally.rate is None
    for second in range(3, 33, 3):
        clock.now = second
        tally.add(plain_result(usage=Usage(calls=2, cached_calls=1)))
    assert tally.rate == pytest.approx(20)


def shown(store: Store, tally: Tally, total: int = 4, status: RunStatus = "running") -> Progress:
    run = store.runs.get(store.runs.create(wanted(small_benchmark(total), small_config()), "Mine"))
    return tally.progress(run, status, Usage(calls=3, cached_calls=1, cost=0.5), 2.0, "")


def test_errors_are_counted_apart_from_wrong_answers(store: Store) -> None:
    tally = Tally()
    for result in (
        plain_result("q1"),
        plain_result("q2", verdict="fail"),
        plain_result("q3", answering="lab/model-2", failure=failure_of("timeout")),
    ):
        tally.add(result)
    seen = shown(store, tally)
    assert (seen.done, seen.passed, seen.failed, seen.not_evaluated) == (3, 1, 1, 1)
    assert seen.errors == {"timeout": 1}
    assert seen.models == {"lab/model-1": ModelCount(1, 1, 0), "lab/model-2": ModelCount(0, 0, 1)}
    assert (seen.calls, seen.cached_calls, seen.cost, seen.percent) == (3, 1, 0.5, 75.0)


def test_the_causes_add_up_to_what_has_no_verdict(store: Store) -> None:
    tally = Tally()
    declined = plain_result("q1", verdict="not_evaluated").model_copy(update={"failure": failure_of("abstention")})
    for result in (
        declined,
        plain_result("q2", failure=failure_of("timeout")),
        plain_result("q3", verdict="not_evaluated"),
        plain_result("q4"),
    ):
        tally.add(result)
    seen = shown(store, tally)
    assert seen.causes == {"abstention": 1, "timeout": 1, "no_verdict": 1}
    assert sum(seen.causes.values()) == seen.not_evaluated
    assert seen.errors == {"timeout": 1}


def test_at_the_start_the_time_left_is_unknown_rather_than_nothing(store: Store) -> None:
    clock = Clock()
    tally = Tally(clock=clock)
    clock.now = 0.5
    for _ in range(3):
        tally.add(plain_result())
    assert shown(store, tally, 100).eta is None
    clock.now = 3
    assert shown(store, tally, 103).eta == pytest.approx(100)


def test_a_pause_has_no_time_left_and_does_not_slow_what_follows(store: Store) -> None:
    clock = Clock()
    tally = Tally(clock=clock)
    for clock.now in (1, 2):
        tally.add(plain_result())
    paused = shown(store, tally, 10, "paused")
    assert (paused.rate, paused.eta) == (None, None)
    clock.now = 3600
    tally.restart_rate()
    assert shown(store, tally, 10).eta is None
    for clock.now in (3601, 3602):
        tally.add(plain_result())
    assert shown(store, tally, 10).eta == pytest.approx(6)


def test_rows_of_a_model_that_was_given_up_do_not_shorten_the_time_left(store: Store) -> None:
    clock = Clock()
    tally = Tally(clock=clock)
    clock.now = 1
    for number in range(100):
        tally.add(plain_result(f"x{number}", failure=failure_of("authentication")))
    for clock.now in (5, 10):
        tally.add(plain_result())
    assert shown(store, tally, 112).eta == pytest.approx(50)


def test_the_time_left_grows_while_nothing_comes(store: Store) -> None:
    clock = Clock()
    tally = Tally(clock=clock)
    for clock.now in range(1, 31):
        tally.add(plain_result())
    before = shown(store, tally, 60).eta
    clock.now += 60
    after = shown(store, tally, 60).eta
    assert before is not None and after is not None and after > 2 * before


def test_recent_lines_say_what_happened() -> None:
    tally = Tally()
    for number in range(RECENT + 5):
        tally.add(plain_result(f"q{number}", failure=failure_of("rate_limit")))
    assert len(tally.recent) == RECENT
    assert tally.recent[-1] == (
        "not evaluated (the provider's rate limit was reached): Question q24? · lab/model-1 · judge lab/judge-1"
    )


def test_a_repeat_is_told_from_the_first_answer() -> None:
    tally = Tally()
    tally.add(plain_result("q1").model_copy(update={"replicate": 2}))
    assert tally.recent[-1].endswith("judge lab/judge-1 · repeat 2")


def test_a_run_that_only_fails_goes_on_in_vain(store: Store) -> None:
    tally = Tally()
    seen = []
    for number in range(1, 6):
        tally.add(plain_result(f"q{number}", failure=failure_of("bad_request")))
        seen.append(shown(store, tally, total=6).in_vain)
    assert seen == [False, False, False, False, True]
    tally.add(plain_result("q6"))
    assert not shown(store, tally, total=6).in_vain


def test_a_stored_run_shows_the_same_counts(store: Store) -> None:
    run_id = store.runs.create(wanted(small_benchmark(3), small_config()))
    store.results.save(run_id, [plain_result("q1"), plain_result("q2", failure=failure_of("timeout"))])
    seen = stored_progress(store, run_id)
    assert (seen.status, seen.done, seen.passed, seen.errors) == ("queued", 2, 1, {"timeout": 1})
    assert seen.models == {"lab/model-1": ModelCount(1, 0, 1)}
    assert seen.active
