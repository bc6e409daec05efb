"""Two runs that need the same call at the same moment: it is made once, and both have the reply."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from karenina_core.errors import ModelError
from karenina_core.models import ChatReply, ChatRequest, MemoryLedger, ModelCaller, NullLedger, SharedCalls
from karenina_core.schemas import Usage
from tests.models.fakes import MODEL, FakeClient, ask, count_of, judge, serve

PAID = ChatReply("eight", usage=Usage(input_tokens=11, output_tokens=7, cost=0.25, calls=1), seconds=1.5)


class Bill:
    """Counts what one run pays."""

    def __init__(self) -> None:
        self.usages: list[Usage] = []

    async def admit(self) -> None:
        """Let every call be made."""

    def paid(self, usage: Usage) -> None:
        self.usages.append(usage)


class SlowLedger(MemoryLedger):
    """Stores a reply only when it is allowed to."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Event()

    async def put(self, *call: Any) -> None:
        await self.may.wait()
        await super().put(*call)


def runs(client: FakeClient, number: int = 2, **settings: Any) -> list[ModelCaller]:
    """Return callers of runs that share their calls, each with a bill of its own."""
    sharing = SharedCalls()
    return [ModelCaller(NullLedger(), serve(client), sharing=sharing, meter=Bill(), **settings) for _ in range(number)]


def bills(callers: Sequence[ModelCaller]) -> list[list[float | None]]:
    return [[usage.cost for usage in caller._meter.usages] for caller in callers]  # type: ignore[union-attr]


async def begun(client: FakeClient, *callers: ModelCaller) -> list[asyncio.Task[Any]]:
    """Let every run want the same, and go on as soon as the first has asked."""
    tasks = [asyncio.create_task(caller.complete(MODEL, ask())) for caller in callers]
    while not client.requests:
        await asyncio.sleep(0)
    return tasks


def test_the_reply_to_a_call_in_flight_is_taken_by_the_other_run() -> None:
    client = FakeClient([PAID], pause=0.01)
    callers = runs(client, 3)

    async def together() -> list[Any]:
        return await asyncio.gather(*(caller.complete(MODEL, ask()) for caller in callers))

    records = [record for _, record in asyncio.run(together())]
    assert len(client.requests) == 1
    assert [record.source for record in records] == ["provider", "ledger", "ledger"]
    assert bills(callers) == [[0.25], [0.0], [0.0]]
    assert [record.usage.cached_calls for record in records] == [0, 1, 1]


def test_a_call_that_waited_in_line_takes_what_came_meanwhile() -> None:
    client = FakeClient([PAID], pause=0.01)
    first, second = runs(client, max_concurrent=1)

    async def together() -> None:
        # The only place of the second run is taken while the first asks what the second wants too.
        await asyncio.gather(
            second.complete(MODEL, ask("How many eyes has it?")),
            first.complete(MODEL, ask()),
            second.complete(MODEL, ask()),
        )

    asyncio.run(together())
    assert len(client.requests) == 2


def test_whoever_comes_before_the_reply_is_stored_finds_it_all_the_same() -> None:
    client = FakeClient([PAID])
    sharing = SharedCalls()

    async def one_after_the_other() -> None:
        ledger = SlowLedger()
        first, second = (ModelCaller(ledger, serve(client), sharing=sharing) for _ in range(2))
        [storing] = await begun(client, first)
        await asyncio.sleep(0.01)
        assert not storing.done()
        _, record = await second.complete(MODEL, ask())
        assert record.source == "ledger"
        ledger.may.set()
        await storing

    asyncio.run(one_after_the_other())
    assert len(client.requests) == 1


@pytest.mark.parametrize("end", ["failure", "cancelled"])
def test_when_the_other_run_gets_no_reply_the_call_is_made(end: str) -> None:
    refused = ModelError("no such model", category="not_found")
    client = FakeClient([refused if end == "failure" else PAID, PAID], pause=0.02)

    async def together() -> Any:
        leading, following = await begun(client, *runs(client))
        if end == "cancelled":
            leading.cancel()
        outcomes = await asyncio.gather(leading, return_exceptions=True)
        assert isinstance(outcomes[0], ModelError if end == "failure" else asyncio.CancelledError)
        return await following

    reply, record = asyncio.run(together())
    assert (reply.text, record.source) == ("eight", "provider")
    assert len(client.requests) == 2


def test_whoever_follows_may_be_cancelled() -> None:
    client = FakeClient([PAID], pause=0.02)

    async def together() -> Any:
        leading, following = await begun(client, *runs(client))
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        assert following.cancelled()
        return await leading

    assert asyncio.run(together())[0].text == "eight"


def test_judgements_are_shared_and_every_run_stores_its_own() -> None:
    client = FakeClient(['{"count": 8}'], pause=0.01)
    callers = runs(client)

    async def together() -> list[Any]:
        return await asyncio.gather(*(caller.complete_json(MODEL, judge(), count_of) for caller in callers))

    assert [value for value, _ in asyncio.run(together())] == [8, 8]
    assert len(client.requests) == 1


def test_nothing_is_kept_of_calls_that_nobody_needs_any_more() -> None:
    sharing = SharedCalls()
    client = FakeClient([PAID, ModelError("no", category="bad_request"), PAID])
    caller = ModelCaller(NullLedger(), serve(client), sharing=sharing)

    async def several() -> None:
        for text in "abc":
            await asyncio.gather(caller.complete(MODEL, ask(text)), return_exceptions=True)

    asyncio.run(several())
    assert len(client.requests) == 3
    assert not sharing._calls


def test_other_replicates_and_other_texts_are_other_calls() -> None:
    client = FakeClient([PAID], pause=0.01)
    first, second = runs(client)

    def request(replicate: int) -> ChatRequest:
        return ask(replicate=replicate)

    async def together() -> None:
        await asyncio.gather(first.complete(MODEL, request(1)), second.complete(MODEL, request(2)))

    asyncio.run(together())
    assert len(client.requests) == 2
