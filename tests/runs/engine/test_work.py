from __future__ import annotations

import asyncio
from itertools import chain

import pytest

from karenina_core.runs import Plan, wanted
from karenina_core.runs.engine.work import AnswerTask, JudgeTask, WorkQueue, remaining, settled
from karenina_core.runs.store import Outcome
from karenina_core.runs.store.runs import Order
from karenina_core.schemas import RowKey
from tests.runs.fakes import small_benchmark, small_config

PLAN = wanted(small_benchmark(2), small_config(1, 2))
ORDER = Order(["q1", "q2"], ["lab/model-1"], ["lab/judge-1", "lab/judge-2"])


def left(plan: Plan, *kept: RowKey) -> list[tuple[str, list[str]]]:
    tasks = chain(*remaining(plan, ORDER, {ORDER.position(key) for key in kept}))
    return [(task.generation.question_id, [judge.id for judge in task.judges]) for task in tasks]


def test_rows_that_are_there_are_not_wanted_again() -> None:
    assert left(PLAN) == [("q1", ["lab/judge-1", "lab/judge-2"]), ("q2", ["lab/judge-1", "lab/judge-2"])]
    assert left(PLAN, RowKey("q1", "lab/model-1", "lab/judge-1", 1)) == [
        ("q1", ["lab/judge-2"]),
        ("q2", ["lab/judge-1", "lab/judge-2"]),
    ]


def test_an_answer_that_all_judges_have_seen_is_not_wanted_again() -> None:
    keys = [RowKey("q1", "lab/model-1", judge, 1) for judge in ("lab/judge-1", "lab/judge-2")]
    assert [question for question, _ in left(PLAN, *keys)] == ["q2"]


@pytest.mark.parametrize(
    ("status", "category", "stays"),
    [
        ("completed", None, True),
        ("completed", "abstention", True),
        ("failed", "template_validation", True),
        ("skipped", "no_template", True),
        ("failed", "rate_limit", False),
        ("failed", "authentication", False),
        ("failed", "missing_recording", False),
        ("failed", "unexpected", False),
        ("failed", "parsing", False),
        ("skipped", "parsing", False),
    ],
)
def test_only_failures_that_may_pass_are_tried_again(status: str, category: str | None, stays: bool) -> None:
    assert settled(Outcome(0, "m", status, "not_evaluated", category)) is stays


async def drain(queue: WorkQueue) -> list[str]:
    seen = []
    while (task := await queue.next()) is not None:
        question = task.generation.question_id
        seen.append(f"{'answer' if isinstance(task, AnswerTask) else 'judge'} {question}")
        if isinstance(task, AnswerTask):
            queue.answered(JudgeTask(task.generation, judge, None) for judge in task.judges)
    return seen


def test_an_answer_is_judged_before_the_next_is_asked_for() -> None:
    queue = WorkQueue(remaining(PLAN, ORDER, ()))
    expected = ["answer q1", "judge q1", "judge q1", "answer q2", "judge q2", "judge q2"]
    assert asyncio.run(drain(queue)) == expected


def test_idle_workers_wait_for_answers_under_way() -> None:
    async def two_workers() -> tuple[bool, list[str]]:
        queue = WorkQueue(remaining(wanted(small_benchmark(1), small_config()), ORDER, ()))
        task = await queue.next()
        assert isinstance(task, AnswerTask)
        idle = asyncio.create_task(drain(queue))
        await asyncio.sleep(0)
        waited = not idle.done()
        queue.answered([JudgeTask(task.generation, task.judges[0], None)])
        return waited, await idle

    assert asyncio.run(two_workers()) == (True, ["judge q1"])


def test_an_empty_queue_ends_at_once() -> None:
    assert asyncio.run(drain(WorkQueue([]))) == []


# Several models


def queue_of(questions: int, answering: int, parsing: int = 1, replicates: int = 1) -> WorkQueue:
    config = small_config(answering, parsing, replicate_count=replicates)
    order = Order(
        [f"q{number}" for number in range(1, questions + 1)],
        [model.id for model in config.answering_models],
        [model.id for model in config.parsing_models],
    )
    return WorkQueue(remaining(wanted(small_benchmark(questions), config), order, ()))


async def taken(queue: WorkQueue, number: int) -> list[str]:
    """Let as many workers take one task each, and none finish it."""
    tasks = [await asyncio.create_task(queue.next()) for _ in range(number)]
    return [f"{task.model} {task.generation.question_id}" for task in tasks if task is not None]


def test_all_models_are_asked_at_once() -> None:
    assert asyncio.run(taken(queue_of(4, 2), 4)) == [
        "lab/model-1 q1",
        "lab/model-2 q1",
        "lab/model-1 q2",
        "lab/model-2 q2",
    ]


def test_replicates_of_a_question_follow_each_other() -> None:
    async def of_one_model() -> list[tuple[str, int]]:
        queue = queue_of(2, 1, replicates=2)
        tasks = [await asyncio.create_task(queue.next()) for _ in range(4)]
        return [(task.generation.question_id, task.generation.replicate) for task in tasks if task is not None]

    assert asyncio.run(of_one_model()) == [("q1", 1), ("q1", 2), ("q2", 1), ("q2", 2)]


def test_a_slow_model_does_not_take_the_workers_of_a_quick_one() -> None:
    """The first model never answers; the second is done at once, every time."""

    async def quick_ones() -> int:
        queue, quick = queue_of(50, 2), 0

        async def worker() -> None:
            nonlocal quick
            while (task := await queue.next()) is not None:
                if task.model == "lab/model-1":
                    await asyncio.Event().wait()
                quick += isinstance(task, AnswerTask)
                queue.answered([])

        workers = [asyncio.create_task(worker()) for _ in range(4)]
        for _ in range(400):
            await asyncio.sleep(0)
        for waiting in workers:
            waiting.cancel()
        return quick

    assert asyncio.run(quick_ones()) == 50


def test_judges_take_turns() -> None:
    async def judged() -> list[str]:
        queue = queue_of(2, 1, 2)
        for _ in range(2):
            task = await asyncio.create_task(queue.next())
            assert isinstance(task, AnswerTask)
        for generation in PLAN.generations():
            queue.answered(JudgeTask(generation, judge, None) for judge in PLAN.config.parsing_models)
        return await taken(queue, 4)

    assert asyncio.run(judged()) == ["lab/judge-1 q1", "lab/judge-2 q1", "lab/judge-1 q2", "lab/judge-2 q2"]
