from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from karenina_core.errors import ModelError
from karenina_core.models.pace.lines import Bound, Line, StoppedError
from karenina_core.models.pace.seats import Queue, Seat


def line(name: str = "mine") -> Line:
    made = Line(("http://127.0.0.1:9", name), Bound(8), None)
    made.names.append(name)
    return made


def on_a_loop(scene: Callable[[], None]) -> None:
    async def begun() -> None:
        scene()

    asyncio.run(begun())


def test_who_waits_longest_comes_first() -> None:
    def scene() -> None:
        queue, own = Queue(), line()
        first, second = queue.join(own, 0), queue.join(own, 0)
        assert [queue.next(lambda _: True) for _ in range(3)] == [first, second, None]
        assert own.waiting == 0

    on_a_loop(scene)


def test_who_may_not_go_on_keeps_the_place_and_holds_up_no_other_line() -> None:
    def scene() -> None:
        queue, held, free = Queue(), line("held"), line("free")
        before, after = queue.join(held, 0), queue.join(free, 0)
        assert queue.next(lambda own: own is free) is after
        assert list(queue.waiters) == [before]
        assert (held.waiting, free.waiting) == (1, 0)

    on_a_loop(scene)


def test_a_call_that_is_given_up_leaves_the_queue_once() -> None:
    def scene() -> None:
        queue, own = Queue(), line()
        waiter = queue.join(own, 0)
        assert (queue.drop(waiter), queue.drop(waiter), own.waiting) == (True, False, 0)

    on_a_loop(scene)


def test_those_of_a_line_that_are_called_back_wait_no_more_and_have_no_seat() -> None:
    def scene() -> None:
        queue, resting, other = Queue(), line("resting"), line("other")
        called_back, staying = queue.join(resting, 0), queue.join(other, 0)
        queue.recall(resting)
        assert list(queue.waiters) == [staying]
        assert (resting.waiting, other.waiting) == (0, 1)
        assert (called_back.seat.result(), called_back.given) == (None, None)

    on_a_loop(scene)


@pytest.mark.parametrize("error", [None, ModelError("Wrong key.", category="authentication")])
def test_only_the_calls_of_the_dismissed_line_end(error: ModelError | None) -> None:
    def scene() -> None:
        queue, gone, other = Queue(), line("gone"), line("other")
        sent_away, staying = queue.join(gone, 0), queue.join(other, 0)
        queue.dismiss(gone, error)
        assert list(queue.waiters) == [staying]
        assert (gone.waiting, other.waiting, sent_away.given) == (0, 1, None)
        if error is None:
            assert sent_away.seat.cancelled()
        else:
            assert isinstance(sent_away.seat.exception(), StoppedError)

    on_a_loop(scene)


def test_a_call_with_a_seat_says_so() -> None:
    def scene() -> None:
        waiter = Queue().join(line(), 0)
        assert waiter.given is None
        waiter.seat.set_result(Seat(0))
        assert waiter.given is not None

    on_a_loop(scene)
