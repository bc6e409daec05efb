from __future__ import annotations

import asyncio

import pytest

from karenina_core.errors import StoreError
from karenina_core.runs.engine.gate import Gate


class Store:
    """Refuses a number of times."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.attempts = 0

    async def write(self) -> str:
        self.attempts += 1
        if self.attempts <= self.refusals:
            raise StoreError("The disk is full.")
        return "stored"


def make_gate() -> tuple[Gate, list[str]]:
    """A gate whose pause shuts it, and the reasons for pauses."""
    reasons: list[str] = []

    async def pause(error: StoreError) -> None:
        reasons.append(error.what)
        gate.shut()

    gate = Gate(pause)
    gate.open()
    return gate, reasons


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_trouble_pauses_and_the_work_is_done_after_the_pause() -> None:
    async def scene() -> tuple[list[str], str]:
        gate, reasons = make_gate()
        work = asyncio.create_task(gate.patiently(Store(1).write))
        await settled()
        assert not gate.is_open
        gate.open()
        return reasons, await work

    assert asyncio.run(scene()) == (["The disk is full."], "stored")


def test_several_in_trouble_pause_once() -> None:
    async def scene() -> list[str]:
        gate, reasons = make_gate()
        works = [asyncio.create_task(gate.patiently(Store(1).write)) for _ in range(5)]
        await settled()
        gate.open()
        assert await asyncio.gather(*works) == ["stored"] * 5
        return reasons

    assert asyncio.run(scene()) == ["The disk is full."]


def test_trouble_from_before_the_resume_is_tried_again_without_another_pause() -> None:
    async def scene() -> list[str]:
        gate, reasons = make_gate()
        late = asyncio.Event()
        store = Store(1)

        async def slow_write() -> str:
            await late.wait()
            return await store.write()

        work = asyncio.create_task(gate.patiently(slow_write))
        await settled()
        gate.shut()
        gate.open()
        late.set()
        assert await work == "stored"
        return reasons

    assert asyncio.run(scene()) == []


def test_the_end_sends_everybody_away() -> None:
    async def scene() -> None:
        gate, _ = make_gate()
        gate.shut()
        waiting = asyncio.create_task(gate.wait())
        hoping = asyncio.create_task(gate.patiently(Store(1_000).write))
        await settled()
        gate.end()
        for task in (waiting, hoping, asyncio.create_task(gate.wait())):
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(scene())


def test_who_left_pauses_no_more_and_tries_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karenina_core.runs.engine.gate._AGAIN_SECONDS", 0)

    async def scene(patience: float) -> tuple[list[str], str]:
        monkeypatch.setattr("karenina_core.runs.engine.gate.PATIENCE_SECONDS", patience)
        gate, reasons = make_gate()
        gate.shut()
        gate.leave()
        return reasons, await gate.patiently(Store(3).write)

    assert asyncio.run(scene(60)) == ([], "stored")
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(scene(-1))
