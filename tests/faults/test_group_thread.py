"""Several loops hand in items, some are cancelled, some are refused: each item is dealt with once, and told once."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Sequence

import pytest

from karenina_core.runs.engine.writer import GROUP, GroupThread
from karenina_core.runs.store.database import DatabaseUnavailableError

LOOPS = 3
ITEMS = 400  # of each loop: more than a group takes
Item = tuple[int, int]


class Work:
    """Stores items; refuses some for themselves, and some groups altogether."""

    def __init__(self) -> None:
        self.stored: Counter[Item] = Counter()
        self.seen: set[Item] = set()
        self.groups = 0

    def __call__(self, items: Sequence[Item]) -> list[Item]:
        assert 0 < len(items) <= GROUP
        self.seen.update(items)
        self.groups += 1
        if self.groups % 10 == 0:
            raise DatabaseUnavailableError("The disk is full.")
        if any(number % 97 == 0 for _, number in items):
            raise ValueError("refused")
        self.stored.update(items)
        return list(items)


class Asker:
    """Hands in the items of one loop, and notes what is told."""

    def __init__(self, number: int, seed: int, thread: GroupThread[Item, Item]) -> None:
        self.random = random.Random(seed * LOOPS + number)
        self.number = number
        self.group_thread = thread
        self.told: dict[Item, list[bool]] = {}
        self.outcomes: Counter[str] = Counter()

    def live(self) -> None:
        asyncio.run(self._live())

    async def _live(self) -> None:
        tasks = [asyncio.create_task(self._ask((self.number, number))) for number in range(1, ITEMS + 1)]
        await asyncio.sleep(0)
        for task in self.random.sample(tasks, ITEMS // 4):
            asyncio.get_running_loop().call_later(self.random.random() * 0.01, task.cancel)
        tasks[0].cancel()  # it has handed in its item and waits
        _, waiting = await asyncio.wait(tasks, timeout=30)
        assert not waiting, f"{len(waiting)} wait for ever"
        # Whoever was cancelled is told all the same, at the latest with an item handed in after theirs.
        await asyncio.wait_for(asyncio.gather(self._ask((self.number, ITEMS + 1))), 30)

    async def _ask(self, item: Item) -> None:
        if item[1] % 2 == 0:
            await asyncio.sleep(self.random.random() * 0.01)
        told = self.told[item] = []
        try:
            assert await self.group_thread.ask(item, told.append) == item
            assert told == [True]
            self.outcomes["answered"] += 1
        except (ValueError, DatabaseUnavailableError):
            assert told == [False]
            self.outcomes["refused"] += 1
        except asyncio.CancelledError:
            self.outcomes["cancelled"] += 1
            raise


@pytest.mark.parametrize("seed", range(4))
def test_every_item_is_dealt_with_once_and_told_once(seed: int) -> None:
    work = Work()
    thread = GroupThread(work, "test-group")
    askers = [Asker(number, seed, thread) for number in range(LOOPS)]
    threads = [threading.Thread(target=asker.live) for asker in askers]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    thread.close()
    told = {item: heard for asker in askers for item, heard in asker.told.items()}
    assert set(told) == work.seen
    assert set(work.stored.values()) == {1}
    assert {item: heard for item, heard in told.items() if heard != [work.stored[item] == 1]} == {}
    assert all(asker.outcomes["answered"] and asker.outcomes["cancelled"] for asker in askers)


def test_more_items_than_a_group_takes_are_all_dealt_with_at_once() -> None:
    thread: GroupThread[Item, Item] = GroupThread(list, "test-group")
    items = [(0, number) for number in range(2 * GROUP + 1)]

    async def ask_together() -> list[Item]:
        return await asyncio.wait_for(asyncio.gather(*(thread.ask(item) for item in items)), 10)

    assert asyncio.run(ask_together()) == items
    thread.close()
