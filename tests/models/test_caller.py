from __future__ import annotations

import asyncio
from typing import Any

import pytest

from karenina_core.errors import ModelError
from karenina_core.models import (
    ChatReply,
    ChatRequest,
    InvalidOutputError,
    MemoryLedger,
    ModelCaller,
    NullLedger,
    Traffic,
)
from karenina_core.schemas import ModelConfig, Usage
from tests.models.fakes import MODEL, SCHEMA, FakeClient, ask, count_of, judge, serve

PAID = ChatReply("eight", usage=Usage(input_tokens=11, output_tokens=7, cost=0.25, calls=1), seconds=1.5)
BUSY = ModelError("busy", category="rate_limit", retry_after=0.02)


async def no_sleep(_: float) -> None:
    await asyncio.sleep(0)


def caller(client: FakeClient, ledger: Any = None, **settings: Any) -> ModelCaller:
    return ModelCaller(ledger or NullLedger(), serve(client), sleep=no_sleep, **settings)


def test_a_call_is_recorded_as_evidence() -> None:
    _, record = asyncio.run(caller(FakeClient([PAID])).complete(MODEL, ask("Why?", purpose="rubric", part="Clarity")))
    assert (record.purpose, record.part, record.model, record.source) == ("rubric", "Clarity", "fake/model", "provider")
    assert record.messages == [{"role": "user", "content": "Why?"}]
    assert (record.reply, record.usage.cost, record.seconds) == ("eight", 0.25, 1.5)
    assert len(record.key) == 64


def test_the_same_call_is_answered_by_the_ledger_at_no_cost() -> None:
    client = FakeClient([PAID])
    used = caller(client, MemoryLedger())

    async def twice() -> Any:
        await used.complete(MODEL, ask())
        return await used.complete(MODEL, ask())

    reply, record = asyncio.run(twice())
    assert len(client.requests) == 1
    assert reply.text == "eight"
    assert record.source == "ledger"
    assert record.usage == Usage(input_tokens=0, output_tokens=0, cost=0.0, calls=1, cached_calls=1)
    assert record.provenance["first_call"]["cost"] == 0.25


def test_another_replicate_is_another_call() -> None:
    client = FakeClient([PAID])
    used = caller(client, MemoryLedger())

    async def two() -> None:
        await used.complete(MODEL, ask(replicate=1))
        await used.complete(MODEL, ask(replicate=2))

    asyncio.run(two())
    assert len(client.requests) == 2


def test_identical_calls_in_flight_are_made_once_and_paid_once() -> None:
    client = FakeClient([PAID], pause=0.01)
    used = caller(client)

    async def many() -> list[Any]:
        return await asyncio.gather(*(used.complete(MODEL, ask()) for _ in range(5)))

    records = [record for _, record in asyncio.run(many())]
    assert len(client.requests) == 1
    assert sum((record.usage for record in records), Usage()).cost == 0.25
    assert [record.source for record in records].count("provider") == 1


def test_when_who_asked_is_cancelled_another_who_waits_asks() -> None:
    client = FakeClient([PAID], pause=0.05)
    used = caller(client)

    async def one_leaves() -> Any:
        first = asyncio.create_task(used.complete(MODEL, ask()))
        others = [asyncio.create_task(used.complete(MODEL, ask())) for _ in range(3)]
        await asyncio.sleep(0.01)
        first.cancel()
        return await asyncio.gather(*others)

    records = [record for _, record in asyncio.run(one_leaves())]
    assert len(client.requests) == 2
    assert sorted(record.source for record in records) == ["ledger", "ledger", "provider"]


def test_a_failure_is_shared_by_all_who_wait() -> None:
    client = FakeClient([ModelError("no", category="refused")], pause=0.01)
    used = caller(client)

    async def many() -> list[Any]:
        return await asyncio.gather(*(used.complete(MODEL, ask()) for _ in range(3)), return_exceptions=True)

    assert [str(error) for error in asyncio.run(many())] == ["no"] * 3
    assert len(client.requests) == 1


def test_a_call_that_nobody_waits_for_is_stopped() -> None:
    client = FakeClient(pause=10)
    used = caller(client)

    async def leave() -> int:
        task = asyncio.create_task(used.complete(MODEL, ask()))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0)
        return len(asyncio.all_tasks())

    assert asyncio.run(leave()) == 1


def test_a_failed_call_is_never_remembered() -> None:
    ledger = MemoryLedger()
    with pytest.raises(ModelError):
        asyncio.run(caller(FakeClient([ModelError("no", category="refused")]), ledger).complete(MODEL, ask()))
    assert ledger.size == 0


def test_a_passing_failure_is_tried_again() -> None:
    waits: list[float] = []
    client = FakeClient([BUSY, BUSY, PAID])
    used = caller(client, on_retry=lambda error, seconds: waits.append(seconds))
    reply, _ = asyncio.run(used.complete(MODEL, ask()))
    assert reply.text == "eight"
    assert len(waits) == 2 and all(0.02 <= wait <= 0.04 for wait in waits)


def test_attempts_end() -> None:
    client = FakeClient([BUSY])
    with pytest.raises(ModelError, match="busy"):
        asyncio.run(caller(client, max_attempts=3).complete(MODEL, ask()))
    assert len(client.requests) == 3


def test_no_more_calls_are_in_flight_than_allowed() -> None:
    client = FakeClient(pause=0.005)
    used = caller(client, max_concurrent=3)

    async def many() -> None:
        await asyncio.gather(*(used.complete(MODEL, ask(f"Question {n}?")) for n in range(12)))

    asyncio.run(many())
    assert client.most_in_flight == 3


def test_a_slot_is_free_while_a_call_waits_for_its_next_attempt() -> None:
    client = FakeClient([BUSY, "other", "first"])
    order: list[str] = []
    other_done = asyncio.Event()

    async def wait_for_the_other(_: float) -> None:
        await other_done.wait()

    async def both() -> None:
        used = ModelCaller(NullLedger(), serve(client), max_concurrent=1, sleep=wait_for_the_other)
        waiting = asyncio.create_task(used.complete(MODEL, ask("First?")))
        await asyncio.sleep(0)
        order.append((await used.complete(MODEL, ask("Other?")))[0].text)
        other_done.set()
        order.append((await waiting)[0].text)

    asyncio.run(asyncio.wait_for(both(), 5))
    assert order == ["other", "first"]


class Rest:
    """A door that is shut by hand."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.passages = 0

    @property
    def lets_through(self) -> bool:
        return self.opened.is_set()

    async def wait(self) -> None:
        await self.opened.wait()

    def passed(self) -> None:
        self.passages += 1


def test_whoever_gets_a_place_while_the_run_rests_gives_it_back_and_makes_the_call_later() -> None:
    client = FakeClient(["fine"], pause=0.01)

    async def scene() -> list[int]:
        door, traffic = Rest(), Traffic(1)
        door.opened.set()
        async with caller(client, traffic=traffic, door=door) as used:
            calls = [asyncio.create_task(used.complete(MODEL, ask(f"{number}?"))) for number in range(3)]
            await asyncio.sleep(0)
            door.opened.clear()
            await calls[0]
            await asyncio.sleep(0.02)
            (seen,) = traffic.models()
            during = [len(client.requests), seen.in_flight, seen.waiting]
            door.opened.set()
            await asyncio.gather(*calls)
            return [*during, len(client.requests), door.passages]

    assert asyncio.run(scene()) == [1, 0, 0, 3, 3]


def test_a_models_own_time_limit_comes_before_the_runs() -> None:
    client = FakeClient()
    config = MODEL.model_copy(update={"request_timeout": 3.0})
    asyncio.run(caller(client).complete(config, ask(timeout=60)))
    assert client.requests[0].timeout == 3.0


def test_a_client_is_kept_and_closed_with_the_caller() -> None:
    made: list[FakeClient] = []

    def make(config: ModelConfig) -> FakeClient:
        made.append(FakeClient())
        return made[-1]

    async def use() -> None:
        async with ModelCaller(NullLedger(), make) as used:
            await used.complete(MODEL, ask("One?"))
            await used.complete(MODEL, ask("Two?"))

    asyncio.run(use())
    assert [client.closed for client in made] == [True]


class SlowLedger(MemoryLedger):
    async def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> None:
        await asyncio.sleep(0.02)
        await super().put(key, request, config, reply)


def test_a_paid_reply_is_stored_even_when_the_run_stops() -> None:
    ledger = SlowLedger()

    async def stop_while_storing() -> None:
        async with caller(FakeClient([PAID]), ledger) as used:
            task = asyncio.create_task(used.complete(MODEL, ask()))
            await asyncio.sleep(0.01)
            task.cancel()

    asyncio.run(stop_while_storing())
    assert ledger.size == 1


def test_json_is_validated() -> None:
    value, records = asyncio.run(caller(FakeClient(['{"count": 8}'])).complete_json(MODEL, judge(), count_of))
    assert value == 8
    assert records[0].schema_sent == SCHEMA


def test_the_judge_is_asked_again_with_the_complaint() -> None:
    client = FakeClient(['{"count": "eight"}', '{"count": 8}'])
    value, records = asyncio.run(caller(client).complete_json(MODEL, judge(), count_of))
    assert value == 8
    assert len(records) == 2
    assert "count must be a whole number" in client.requests[1].messages[-1].content


def test_the_judge_is_asked_again_only_so_often() -> None:
    client = FakeClient(["I think eight."])
    with pytest.raises(InvalidOutputError) as caught:
        asyncio.run(caller(client).complete_json(MODEL.model_copy(update={"max_retries": 1}), judge(), count_of))
    assert len(client.requests) == 2
    assert caught.value.category == "invalid_output"
    assert [record.reply for record in caught.value.records] == ["I think eight.", "I think eight."]


def test_a_judge_that_never_comes_to_an_end_is_reported_as_truncated() -> None:
    endless = ChatReply('{"count": 8, "and": [', finish_reason="length")
    with pytest.raises(InvalidOutputError) as caught:
        asyncio.run(caller(FakeClient([endless])).complete_json(MODEL, judge(), count_of))
    assert caught.value.category == "truncated"


def test_a_judgement_with_its_corrections_is_replayed_from_the_ledger() -> None:
    client, ledger = FakeClient(["Eight.", '{"count": 8}']), MemoryLedger()
    asyncio.run(caller(client, ledger).complete_json(MODEL, judge(), count_of))
    value, records = asyncio.run(caller(client, ledger).complete_json(MODEL, judge(), count_of))
    assert value == 8
    assert len(client.requests) == 2
    assert [record.source for record in records] == ["ledger", "ledger"]


def test_replies_that_never_fitted_are_asked_for_again_next_time() -> None:
    client, ledger = FakeClient(["Eight."] * 3 + ['{"count": 8}']), MemoryLedger()
    with pytest.raises(InvalidOutputError):
        asyncio.run(caller(client, ledger).complete_json(MODEL, judge(), count_of))
    assert ledger.size == 0
    value, _ = asyncio.run(caller(client, ledger).complete_json(MODEL, judge(), count_of))
    assert value == 8


def test_a_call_follows_another_judges_identical_call_at_no_cost() -> None:
    client = FakeClient(['{"count": 8}'], pause=0.01)
    used = caller(client)

    async def both() -> list[Any]:
        return await asyncio.gather(
            used.complete_json(MODEL, judge(answering_model="a"), count_of),
            used.complete_json(MODEL, judge(answering_model="b"), count_of),
        )

    assert [value for value, _ in asyncio.run(both())] == [8, 8]
    assert len(client.requests) == 1
