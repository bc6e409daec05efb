"""Workers end when nothing more may begin, also those that wait for an answer that will not come."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from karenina_core.benchmark import Benchmark
from karenina_core.errors import StoreError
from karenina_core.runs.engine.crew import Crew, workers_for
from karenina_core.runs.engine.gate import Gate
from karenina_core.runs.engine.work import AnswerTask, WorkQueue
from karenina_core.runs.plans.plan import Generation
from karenina_core.schemas.config import ModelConfig

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
