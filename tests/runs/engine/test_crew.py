"""Workers end when nothing more may begin, also those that wait for an answer that will not come."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import StoreError
from karenina_core.runs.engine.crew import Crew, workers_for
from karenina_core.runs.engine.gate import Gate
from karenina_core.runs.engine.work import AnswerTask, WorkQueue
from karenina_core.runs.plans.plan import Generation
from karenina_core.schemas import ModelConfig

MODEL = ModelConfig(id="alpha", model_name="alpha", interface="manual", manual_traces={})


class Broken:
    """Breaks down when it is asked to answer."""

    async def generate(self, *_: Any) -> Any:
        raise RuntimeError("No.")


async def nobody(_: Any) -> None:
    raise AssertionError("nothing is saved, and nothing pauses")


def test_nobody_waits_for_an_answer_that_is_not_begun() -> None:
    async def scenario() -> None:
        async def pause(error: StoreError) -> None:
            raise AssertionError from error

        gate = Gate(pause)
        gate.open()
        gate.turn_away()
        queue = WorkQueue([iter([AnswerTask(Generation("q1", MODEL, 1), (MODEL,))])])
        crew = Crew(Benchmark.create("Empty"), cast(Any, None), queue, gate, nobody)
        # The first worker takes the only answer and is turned away; the second one would wait for its judgement.
        await asyncio.wait_for(crew.work(2), 10)

    asyncio.run(scenario())


def test_nobody_waits_when_the_row_of_a_broken_answer_cannot_be_stored_any_more() -> None:
    async def scenario() -> None:
        async def pause(error: StoreError) -> None:
            raise AssertionError from error

        async def lost(_: Any) -> None:
            raise asyncio.CancelledError

        gate = Gate(pause)
        gate.open()
        benchmark = Benchmark.create("One")
        question_id = benchmark.add_question("Which?", "This.")
        queue = WorkQueue([iter([AnswerTask(Generation(question_id, MODEL, 1), (MODEL, MODEL))])])
        await asyncio.wait_for(Crew(benchmark, cast(Any, Broken()), queue, gate, lost).work(2), 10)

    asyncio.run(scenario())


def test_many_calls_take_more_workers() -> None:
    assert [workers_for(calls) for calls in (1, 32, 40, 200)] == [1, 32, 48, 368]


class Lingering:
    """Takes a moment to end when it is cancelled."""

    def __init__(self) -> None:
        self.asked = 0

    async def generate(self, *_: Any) -> Any:
        self.asked += 1
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("ending", ["cancelled", "broken"])
def test_who_asks_for_more_workers_while_the_run_ends_gets_none_and_no_error(ending: str) -> None:
    async def scenario() -> int:
        async def pause(error: StoreError) -> None:
            raise AssertionError from error

        async def refused(_: Any) -> None:
            raise ValueError("No such run.")

        gate, lingering, broken = Gate(pause), Lingering(), asyncio.Event()
        gate.open()
        benchmark = Benchmark.create("Three")
        questions = [benchmark.add_question(f"Which is number {number}?", "This.") for number in range(3)]
        queue = WorkQueue([iter([AnswerTask(Generation(question, MODEL, 1), (MODEL,)) for question in questions])])

        class First(Lingering):
            async def generate(self, *asked: Any) -> Any:
                if asked[0] == questions[0] and ending == "broken":
                    await broken.wait()
                    raise RuntimeError("No.")
                return await lingering.generate(*asked)

        crew = Crew(benchmark, cast(Any, First()), queue, gate, refused)
        work = asyncio.create_task(crew.work(2))
        await asyncio.sleep(0.01)
        if ending == "cancelled":
            gate.end()
            work.cancel()
        broken.set()
        for _ in range(5):
            await asyncio.sleep(0)
        before = lingering.asked
        crew.grow(3)
        with pytest.raises((asyncio.CancelledError, ExceptionGroup)):
            await work
        return lingering.asked - before

    assert asyncio.run(scenario()) == 0
