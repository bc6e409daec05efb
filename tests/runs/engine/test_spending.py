"""Money: a run stops when its own, or the day's, is spent; calls in flight are finished and kept."""

from __future__ import annotations

import asyncio

import pytest

from karenina_core.errors import ConfigError, InputError, ModelError, StoreError
from karenina_core.models import ChatReply
from karenina_core.runs import Engine, Store, daily_budget, dollars, wanted
from karenina_core.runs.engine.ledger import RunLedger, StoreLedger
from karenina_core.runs.engine.spending import SpendMeter, about
from karenina_core.runs.engine.writer import BatchWriter, ResultWrite
from karenina_core.runs.store.results import rows_of
from karenina_core.schemas import Usage
from tests.runs.fakes import (
    PATIENCE,
    Laboratory,
    Turnstile,
    answer_request,
    on_a_loop,
    plain_result,
    small_benchmark,
    small_config,
)

# Every answer of the laboratory costs half a dollar.


def new_run(store: Store, questions: int = 6, **config: object) -> str:
    return store.runs.create(wanted(small_benchmark(questions), small_config(**config)), "Test")  # type: ignore[arg-type]


def test_a_run_stops_when_its_money_is_spent(store: Store, runner: Engine, lab: Laboratory) -> None:
    run_id = new_run(store, max_cost=1.0, max_concurrent_requests=1)
    runner.start(run_id)
    seen = runner.wait(run_id, PATIENCE)
    assert (seen.status, seen.done, seen.cost) == ("interrupted", 2, 1.0)
    assert seen.message == "Stopped: the run has spent $1.00 of at most $1.00. Raise the limit to go on."
    assert store.runs.get(run_id).note == seen.message
    assert len(lab.answered) == 2


def test_calls_in_flight_are_finished_and_kept(store: Store, runner: Engine, lab: Laboratory) -> None:
    gate = Turnstile()
    lab.before_answer = gate.enter
    run_id = new_run(store, max_cost=0.5, max_concurrent_requests=3)
    runner.start(run_id)
    gate.wait_for(3)
    gate.let()
    seen = runner.wait(run_id, PATIENCE)
    assert (seen.status, seen.done, seen.cost) == ("interrupted", 3, 1.5)
    assert len(lab.answered) == 3


def test_with_a_higher_limit_it_goes_on_and_pays_nothing_twice(store: Store, runner: Engine, lab: Laboratory) -> None:
    run_id = new_run(store, max_cost=1.0, max_concurrent_requests=1)
    runner.start(run_id)
    runner.wait(run_id, PATIENCE)
    runner.resume(run_id)
    assert runner.wait(run_id, PATIENCE).done == 2
    store.runs.limit_cost(run_id, 10.0)
    runner.resume(run_id)
    seen = runner.wait(run_id, PATIENCE)
    assert (seen.status, seen.done, seen.cost, seen.message) == ("completed", 6, 3.0, "")
    assert len(lab.answered) == len(set(lab.answered)) == 6


def test_the_limit_of_a_run_under_way_stays(store: Store, runner: Engine, lab: Laboratory) -> None:
    gate = Turnstile()
    lab.before_answer = gate.enter
    run_id = new_run(store)
    runner.start(run_id)
    with pytest.raises(InputError, match="under way"):
        store.runs.limit_cost(run_id, 1.0)
    runner.cancel(run_id)
    with pytest.raises(ValueError, match="greater than 0"):
        store.runs.limit_cost(run_id, 0.0)


# All runs of one day


def test_all_runs_together_stop_at_the_daily_bound(
    store: Store, runner: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARENINA_DAILY_BUDGET", "1.5")
    first, second = new_run(store, 2), new_run(store, 6, max_concurrent_requests=1)
    runner.start(first)
    assert runner.wait(first, PATIENCE).status == "completed"
    runner.start(second)
    seen = runner.wait(second, PATIENCE)
    # Two questions of the second run are known from the first one.
    assert (seen.status, seen.done, seen.cost) == ("interrupted", 3, 0.5)
    assert "all runs together have spent $1.50 today" in seen.message
    assert store.spending.today() == 1.5


def meter(max_cost: float | None = None, spent: float = 0.0, today: float = 0.0) -> SpendMeter:
    async def spent_today() -> float:
        return today

    return SpendMeter(spent_today, max_cost, spent)


def refusal(spend: SpendMeter) -> str:
    """Return why no further call is admitted."""
    with pytest.raises(ModelError) as caught:
        asyncio.run(spend.admit())
    assert (caught.value.category, str(caught.value)) == ("cancelled", spend.over)
    return spend.over


def test_once_the_money_is_spent_no_call_is_admitted() -> None:
    spend = meter(1.0)
    asyncio.run(spend.admit())
    spend.add(Usage(cost=1.5))
    assert "has spent $1.50 of at most $1.00" in refusal(spend)


def test_what_ends_with_its_money_hears_of_it_and_is_cancelled() -> None:
    heard: list[str] = []
    spend = SpendMeter(meter()._spent_today, 1.0, 2.0, on_limit=heard.append)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(spend.admit())
    assert heard == [spend.over] != [""]


def test_what_was_taken_is_not_taken_again_unless_it_could_not_be_stored() -> None:
    spend = meter()
    spend.add(Usage(cost=0.25))
    taken = spend.take()
    assert (taken, spend.take()) == (Usage(calls=1, cost=0.25), Usage())
    spend.settle(taken, StoreError("Refused."))
    assert (spend.take(), spend.spent) == (taken, taken)


def test_known_replies_and_calls_without_a_price_cost_nothing_known() -> None:
    spend = meter()
    spend.add(Usage(cost=0.0, calls=1, cached_calls=1))
    spend.add(Usage())
    assert spend.spent == Usage(calls=2, cached_calls=1, cost=None)


def test_what_is_on_its_way_into_the_account_counts_for_the_day(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARENINA_DAILY_BUDGET", "1.0")
    writer, run_id = BatchWriter(store), new_run(store)
    model = small_config().answering_models[0]

    async def scene() -> list[str]:
        spend = SpendMeter(lambda: asyncio.to_thread(store.spending.today))
        ledger = RunLedger(StoreLedger(store, writer), spend, run_id)
        spend.add(Usage(cost=0.75))
        spend.add(Usage(cost=0.5))
        problems = [await spend._problem()]
        await ledger.put("k", answer_request("q1", model), model, ChatReply("42"))
        return [*problems, await spend._problem()]

    problems = asyncio.run(scene())
    writer.close()
    run = store.runs.get(run_id)
    assert ["spent $1.25 today" in problem for problem in problems] == [True, True]
    assert (run.calls, run.cost, store.spending.today()) == (2, 1.25, 1.25)


def test_what_was_spent_is_added_up_by_day(any_store: Store) -> None:
    run_id = new_run(any_store)
    any_store.runs.add_work(run_id, Usage(calls=1, cost=0.25), 1.0)
    writer = BatchWriter(any_store)
    for number, cost in ((1, 0.5), (2, None)):
        rows = rows_of(run_id, plain_result(f"q{number}"))
        on_a_loop(lambda rows=rows, cost=cost: writer.enqueue(ResultWrite(rows, Usage(calls=1, cost=cost))))  # type: ignore[misc]
    writer.close()
    assert any_store.spending.today() == any_store.runs.get(run_id).cost == 0.75


def test_no_cent_is_lost_in_adding_up(any_store: Store) -> None:
    for cost in (1.0, 0.1, 0.2, 3.0):
        any_store.spending.add(cost)
    assert any_store.spending.today() == 1.0 + 0.1 + 0.2 + 3.0


def test_yesterday_does_not_count(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karenina_core.runs.store.settings.now", lambda: "2026-01-01T23:59:59+00:00")
    store.runs.add_work(new_run(store), Usage(calls=1, cost=9.0), 1.0)
    assert store.spending.today() == 9.0
    monkeypatch.setattr("karenina_core.runs.store.settings.now", lambda: "2026-01-02T00:00:00+00:00")
    assert store.spending.today() == 0.0


@pytest.mark.parametrize("text", ["lots", "-1", "nan", "inf", "1,5"])
def test_a_daily_bound_that_is_none_stops_every_run(
    text: str, store: Store, runner: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARENINA_DAILY_BUDGET", text)
    with pytest.raises(ConfigError, match="KARENINA_DAILY_BUDGET"):
        runner.start(new_run(store))


def test_a_daily_bound_of_nothing_allows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARENINA_DAILY_BUDGET", "0")
    assert daily_budget() == 0.0
    assert "today" in refusal(meter())


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "$0.00"),
        (1e-6, "less than $0.0001"),
        (0.00123, "$0.0012"),
        (0.01, "$0.01"),
        (0.0102, "$0.0102"),
        (0.5, "$0.50"),
        (5.004, "$5.004"),
        (9.99999, "$10.00"),
        (1234.5, "$1,234.50"),
    ],
)
def test_amounts_are_readable(amount: float, text: str) -> None:
    assert dollars(amount) == text


def test_what_is_over_a_limit_by_less_than_a_cent_is_shown_to_be_over_it() -> None:
    assert "has spent $0.0102 of at most $0.01." in refusal(meter(0.01, 0.0102))


@pytest.mark.parametrize(
    ("amount", "text"), [(0.0, "$0.00"), (0.00123, "$0.0012"), (1.23456, "$1.23"), (0.996, "$1.00")]
)
def test_a_guessed_amount_is_told_in_cents(amount: float, text: str) -> None:
    assert about(amount) == text
