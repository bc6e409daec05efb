from __future__ import annotations

import asyncio
import threading

import pytest

from karenina_core.runs.cancellation import Cancellation


def test_work_in_another_thread_is_cancelled_while_it_waits() -> None:
    cancellation, begun = Cancellation(), threading.Event()
    ended: list[str] = []

    async def wait() -> None:
        cancellation.watch()
        begun.set()
        await asyncio.sleep(60)

    def work() -> None:
        try:
            asyncio.run(wait())
        except asyncio.CancelledError:
            ended.append("cancelled")

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(10)
    cancellation.ask()
    thread.join(10)
    assert (ended, cancellation.wanted) == (["cancelled"], True)


def test_work_that_was_cancelled_before_it_began_does_not_begin() -> None:
    cancellation = Cancellation()
    cancellation.ask()

    async def work() -> None:
        cancellation.watch()
        pytest.fail("it went on")

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(work())


def test_cancelling_what_has_ended_is_no_error() -> None:
    cancellation = Cancellation()

    async def work() -> str:
        cancellation.watch()
        return "done"

    assert asyncio.run(work()) == "done"
    cancellation.ask()
