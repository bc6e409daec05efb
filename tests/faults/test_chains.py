"""Pause, resume, cancel and retry in any order, and a run that grows step by step: one run, and nothing asked twice."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from karenina_core.analysis import read_results, to_json
from karenina_core.errors import InputError
from karenina_core.runs import estimate, questions_of, top_up, wanted
from tests.faults.openai_server import Reply, failing, rate_limited
from tests.faults.road import Road, call_of, config, first, honest, islands, model, verdicts, wait_until
from tests.faults.test_account import stored_calls

CHAINS = [
    ("pause", "resume", "cancel", "resume"),
    ("pause", "cancel", "resume", "pause", "resume"),
    ("cancel", "resume", "pause", "pause", "resume", "resume"),
    ("pause", "pause", "cancel", "cancel", "resume"),
]


def act(road: Road, run_id: str, deeds: Sequence[str]) -> None:
    """Do one thing after the other, each when a little more has been asked or the run is at rest."""
    for deed in deeds:
        asked = len(road.calls)
        wait_until(
            lambda asked=asked: len(road.calls) > asked + 3 or road.runner.progress(run_id).status != "running"  # type: ignore[misc]
        )
        with suppress(InputError):  # what has ended meanwhile, on a busy machine, cannot be paused
            getattr(road.runner, deed)(run_id)


@pytest.mark.parametrize("chain", CHAINS, ids=" ".join)
def test_whatever_is_pressed_the_run_comes_out_whole(road: Road, chain: Sequence[str]) -> None:
    road.server.delay = 0.02
    run_id = road.begin(60, max_concurrent_requests=4)
    act(road, run_id, chain)
    assert verdicts(road.resume(run_id)) == ["pass"] * 60
    repeated = len(road.calls) - len(set(road.calls))
    assert repeated <= 4 * chain.count("cancel"), "only calls in flight at a cancel may be asked again"
    assert road.runner.progress(run_id).percent == 100.0


def test_a_pause_costs_nothing_however_often(road: Road) -> None:
    road.server.delay = 0.02
    run_id = road.begin(60, max_concurrent_requests=4)
    act(road, run_id, ("pause", "resume") * 5)
    assert road.finish(run_id).passed == 60
    assert len(road.calls) == len(set(road.calls)) == stored_calls(road) == 120


def test_errors_on_the_way_are_tried_again_whatever_else_is_pressed(road: Road) -> None:
    chance = random.Random(4)
    failures = Counter(dict.fromkeys(range(1, 31, 3), 3))

    def flaky(request: dict[str, Any]) -> Reply:
        name, number = call_of(request)
        if name == "answerer" and failures[number] > 0:
            failures[number] -= 1
            return failing(500)
        return honest(request)

    road.server.script = flaky
    run_id = road.begin(30, max_concurrent_requests=4, max_attempts=1)
    for _ in range(20):
        with suppress(InputError):  # what has ended cannot be paused
            getattr(road.runner, chance.choice(["pause", "resume", "cancel", "resume"]))(run_id)
        time.sleep(0.01)
    while road.runner.progress(run_id).passed < 30:
        road.resume(run_id)
    run = road.store.runs.get(run_id)
    assert (run.status, run.done, run.errors) == ("completed", 30, 0)
    assert run.calls - run.cached_calls == stored_calls(road) == 60


def test_a_pilot_of_three_becomes_the_whole_run_and_then_more(road: Road) -> None:
    """Every step asks what was said before, of the same run, and nothing that is known."""
    benchmark = islands(6)
    run_id = road.store.runs.create(wanted(benchmark, config(road.server), limit=3), "Pilot")
    steps: list[dict[str, Any]] = [
        {"question_ids": ["q4", "q5", "q6"]},
        {"replicates": 2},
        {"judges": [model(road.server, "judge-2")]},
        {"answering_models": [model(road.server, "answerer-2")]},
    ]
    road.runner.start(run_id)
    assert road.finish(run_id).total == 3
    road.server.script = wordy
    for growth, rows in zip(steps, (6, 12, 24, 48), strict=True):
        top_up(road.store, run_id, **growth)
        expected = estimate(road.store.runs.plan(run_id), road.store, run_id)
        asked = len(road.calls)
        assert verdicts(road.resume(run_id)) == ["pass"] * rows
        assert expected is not None and len(road.calls) - asked == expected.calls
    assert [tuple(result.key) for result in road.store.results.all(run_id)] == [
        (f"q{number}", f"answerer{which}", f"judge{judge}", replicate)
        for number in range(1, 7)
        for which in ("", "-2")
        for judge in ("", "-2")
        for replicate in (1, 2)
    ]
    assert len(road.store.runs.all()) == 1


def test_results_and_exports_keep_their_order_whatever_comes_last(road: Road) -> None:
    road.server.script = first(rate_limited(0.3), question=1)
    run_id = road.begin(4)
    road.finish(run_id)
    assert road.calls[-1] == ("judge", 1), "the first question did not come last"
    ordered = ["q1", "q2", "q3", "q4"]
    assert [result.question_id for result in road.store.results.all(run_id)] == ordered
    assert [row["question_id"] for row in road.store.results.rows(run_id)] == ordered
    assert [result.question_id for result in read_results(to_json(road.store.results.all(run_id)))] == ordered


def wordy(request: dict[str, Any]) -> Reply:
    """Answer in other words every time, so that no judge has seen an answer before."""
    reply = honest(request)
    return reply if request["model"].startswith("judge") else Reply(f"{reply.text} {time.perf_counter_ns()}")


def test_a_run_over_what_failed_in_another_asks_about_nothing_else(road: Road) -> None:
    road.server.script = lambda request: failing(500) if call_of(request) == ("answerer", 2) else honest(request)
    before = road.begin(4, max_attempts=1)
    road.finish(before)
    road.server.script = honest
    road.server.requests.clear()
    chosen = questions_of(road.store, before)
    after = road.store.runs.create(wanted(islands(4), config(road.server), chosen), "Again")
    assert verdicts(road.resume(after)) == ["pass"]
    assert road.calls == [("answerer", 2), ("judge", 2)]
