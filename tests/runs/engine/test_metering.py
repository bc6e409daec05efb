from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest

from karenina_core.errors import StoreError
from karenina_core.models import ChatReply, ChatRequest, Message, NullLedger, Subject
from karenina_core.runs import Store, wanted
from karenina_core.runs.engine.gate import Gate
from karenina_core.runs.engine.ledger import StoreLedger
from karenina_core.runs.engine.metering import MeteredLedger
from karenina_core.runs.engine.writer import ResultWrite, Writer
from karenina_core.runs.store.results import rows_of
from karenina_core.schemas import ModelConfig, Usage
from tests.runs.fakes import plain_result, small_benchmark, small_config

JUDGE = ModelConfig(id="lab/judge", model_name="judge", model_provider="lab")
REQUEST = ChatRequest("parse", (Message("user", "What does it say?"),), Subject("q1", "Question q1?", "lab/model-1"))
REPLY = ChatReply('{"value": 42}')
KEY = "ab" * 32
OTHER_KEY = "cd" * 32

Act = Callable[[MeteredLedger, Writer], Awaitable[None]]


@pytest.fixture
def during(store: Store) -> Iterator[Callable[[Act], None]]:
    """Carry out a coroutine with the ledger of a run."""
    writer = Writer(store)
    ledger = StoreLedger(store, writer)

    async def pause(error: StoreError) -> None:
        raise error

    run_id = store.runs.create(wanted(small_benchmark(1), small_config()))

    async def live(act: Act) -> None:
        gate = Gate(pause)
        gate.open()
        await act(MeteredLedger(ledger, gate, run_id=run_id), writer)
        await writer.flush()

    yield lambda act: asyncio.run(live(act))
    ledger.close()
    writer.close()


def test_a_call_outside_of_a_judgement_is_stored_at_once(store: Store, during: Callable[[Act], None]) -> None:
    async def act(ledger: MeteredLedger, writer: Writer) -> None:
        await ledger.put(KEY, REQUEST, JUDGE, REPLY)
        assert store.calls.get(KEY) is not None

    during(act)


def test_what_a_call_took_is_in_the_account_once_its_reply_is_stored(
    store: Store, during: Callable[[Act], None]
) -> None:
    async def act(ledger: MeteredLedger, writer: Writer) -> None:
        ledger.paid(Usage(cost=0.25))
        await ledger.put(KEY, REQUEST, JUDGE, REPLY)
        (run,) = store.runs.all()
        assert (run.calls, run.cost, store.spending.today()) == (1, 0.25, 0.25)
        assert (ledger.unsaved, ledger.spent) == (Usage(), Usage(calls=1, cost=0.25))

    during(act)


def test_the_call_of_a_judge_waits_for_its_row_and_is_stored_with_it(
    store: Store, during: Callable[[Act], None]
) -> None:
    async def act(ledger: MeteredLedger, writer: Writer) -> None:
        run_id = store.runs.all()[0].id
        ledger.hold()
        await ledger.put(KEY, REQUEST, JUDGE, REPLY)
        assert store.calls.get(KEY) is None
        calls = ledger.held()
        await writer.put(ResultWrite(rows_of(run_id, plain_result("q1")), Usage(), calls=calls))
        ledger.settle(calls)

    during(act)
    assert store.calls.get(KEY) is not None
    assert len(store.results.all(store.runs.all()[0].id)) == 1


def test_a_held_call_is_known_and_counts_as_remembered(store: Store, during: Callable[[Act], None]) -> None:
    async def act(ledger: MeteredLedger, writer: Writer) -> None:
        ledger.hold()
        await ledger.put(KEY, REQUEST, JUDGE, REPLY)
        assert await ledger.get(KEY) == REPLY
        assert ledger.unsaved == Usage(calls=1, cached_calls=1)

    during(act)


def test_no_further_call_is_paid_before_a_held_one_is_stored(store: Store, during: Callable[[Act], None]) -> None:
    async def act(ledger: MeteredLedger, writer: Writer) -> None:
        ledger.hold()
        await ledger.put(KEY, REQUEST, JUDGE, REPLY)
        await ledger.admit()
        assert store.calls.get(KEY) is not None
        assert ledger.held() == []

    during(act)


def test_calls_of_tasks_begun_by_a_judgement_are_held_with_it(store: Store, during: Callable[[Act], None]) -> None:
    async def act(ledger: MeteredLedger, writer: Writer) -> None:
        ledger.hold()
        await asyncio.gather(*(ledger.put(key, REQUEST, JUDGE, REPLY) for key in (KEY, OTHER_KEY)))
        assert {call.row["key"] for call in ledger.held()} == {KEY, OTHER_KEY}

    during(act)


def test_judgements_side_by_side_hold_their_own_calls(store: Store, during: Callable[[Act], None]) -> None:
    async def act(ledger: MeteredLedger, writer: Writer) -> None:
        async def judge(key: str) -> list[str]:
            ledger.hold()
            await ledger.put(key, REQUEST, JUDGE, REPLY)
            await asyncio.sleep(0)
            return [call.row["key"] for call in ledger.held()]

        assert await asyncio.gather(judge(KEY), judge(OTHER_KEY)) == [[KEY], [OTHER_KEY]]

    during(act)


def test_a_call_whose_row_never_comes_is_stored_without_it(store: Store, during: Callable[[Act], None]) -> None:
    async def act(ledger: MeteredLedger, writer: Writer) -> None:
        ledger.hold()
        await ledger.put(KEY, REQUEST, JUDGE, REPLY)
        ledger.settle(ledger.held(), stored=False)

    during(act)
    assert store.calls.get(KEY) is not None


def test_what_could_not_be_stored_counts_again(during: Callable[[Act], None]) -> None:
    async def act(ledger: MeteredLedger, writer: Writer) -> None:
        ledger.paid(Usage(cost=0.25))
        taken = ledger.take()
        ledger.paid(Usage(cost=0.5))
        ledger.give_back(taken)
        assert ledger.unsaved == Usage(calls=2, cost=0.75)

    during(act)


# While the run rests


def test_while_the_run_rests_only_what_is_under_way_makes_calls() -> None:
    async def scene() -> list[bool]:
        async def pause(error: StoreError) -> None:
            raise error

        gate = Gate(pause)
        gate.open()
        ledger = MeteredLedger(NullLedger(), gate)
        ledger.begin()
        seen = [ledger.lets_through]
        gate.shut()
        seen.append(ledger.lets_through)
        ledger.passed()
        # A call that is made in a task of its own belongs to the same judgement.
        seen.append(await asyncio.create_task(_may_call(ledger)))
        ledger.begin()
        seen.append(ledger.lets_through)
        gate.open()
        await ledger.wait()
        return [*seen, ledger.lets_through]

    assert asyncio.run(scene()) == [True, False, True, False, True]


async def _may_call(ledger: MeteredLedger) -> bool:
    return ledger.lets_through
