from __future__ import annotations

import asyncio
import threading

import pytest

from karenina_core.errors import ConfigError
from karenina_core.models import ModelCaller, NullLedger, max_concurrent
from karenina_core.models.pace.slots import ProcessSlots
from tests.models.fakes import MODEL, FakeClient, ask, serve


def test_the_bound_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert max_concurrent() == 256
    monkeypatch.setenv("KARENINA_MAX_CONCURRENT", "3")
    assert max_concurrent() == 3


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "²"])
def test_a_bound_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARENINA_MAX_CONCURRENT", text)
    with pytest.raises(ConfigError, match="KARENINA_MAX_CONCURRENT"):
        max_concurrent()


def test_several_callers_share_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARENINA_MAX_CONCURRENT", "2")
    client = FakeClient(pause=0.01)

    async def both() -> None:
        async with ModelCaller(NullLedger(), serve(client)) as one, ModelCaller(NullLedger(), serve(client)) as other:
            asked = [(one if number % 2 else other).complete(MODEL, ask(f"{number}?")) for number in range(8)]
            await asyncio.gather(*asked)

    asyncio.run(both())
    assert len(client.requests) == 8
    assert client.most_in_flight == 2


def test_threads_with_loops_of_their_own_share_the_bound() -> None:
    slots, lock, inside, most = ProcessSlots(1), threading.Lock(), 0, 0

    async def work() -> None:
        nonlocal inside, most
        for _ in range(5):
            await slots.take()
            with lock:
                inside += 1
                most = max(most, inside)
            await asyncio.sleep(0.001)
            with lock:
                inside -= 1
            slots.give_back()

    threads = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert most == 1


def test_who_gives_up_waiting_takes_no_slot_away() -> None:
    async def give_up() -> str:
        slots = ProcessSlots(1)

        async def hold() -> str:
            await slots.take()
            slots.give_back()
            return "held"

        await slots.take()
        waiting = [asyncio.create_task(hold()) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        slots.give_back()
        async with asyncio.timeout(5):
            assert await waiting[1] == "held"
            return await hold()

    assert asyncio.run(give_up()) == "held"


def test_a_slot_handed_to_who_just_gave_up_is_passed_on() -> None:
    async def scene() -> bool:
        slots = ProcessSlots(1)
        await slots.take()
        waiting = asyncio.create_task(slots.take())
        await asyncio.sleep(0)
        slots.give_back()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return slots.try_take()

    assert asyncio.run(scene())


def test_a_slot_is_taken_at_once_or_not_at_all() -> None:
    slots = ProcessSlots(1)
    assert [slots.try_take(), slots.try_take()] == [True, False]
    slots.give_back()
    assert slots.try_take()
