"""What is left to do in a run, handed out to a bounded number of workers."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

from karenina_core.runs.plans.plan import Generation, Plan
from karenina_core.runs.store import Outcome
from karenina_core.runs.store.runs import Order
from karenina_core.schemas import Failure, ModelConfig, RowKey

# Asking again changes nothing: the benchmark of a run stays as it was.
_FOR_GOOD = frozenset({"template", "autofail", "abstained"})


class AnswerTask(NamedTuple):
    """An answer that is wanted, and the judges that wait for it."""

    generation: Generation
    judges: tuple[ModelConfig, ...]

    @property
    def model(self) -> str:
        """Label of the model that is asked."""
        return self.generation.answering.id


class JudgeTask(NamedTuple):
    """An answer, as the context of its evaluation, that one judge is to judge."""

    generation: Generation
    judge: ModelConfig
    context: Any

    @property
    def model(self) -> str:
        """Label of the model that is asked."""
        return self.judge.id


def settled(outcome: Outcome) -> bool:
    """Say whether a stored row stays as it is when its run is resumed.

    Failures of providers and judges are tried again, and so are rows that wait for the judge.
    """
    if outcome.status == "completed" or outcome.failure_category is None:
        return True
    failure = Failure.model_validate({"category": outcome.failure_category, "stage": "", "reason": ""})
    return failure.group in _FOR_GOOD


def remaining(plan: Plan, order: Order, kept: Collection[int]) -> list[Iterator[AnswerTask]]:
    """Return what a run still wants: one stream of tasks for every answering model, question by question.

    Args:
        plan: All that it wants.
        order: Gives every row its position.
        kept: Positions of the rows that need no work.
    """
    return [_left(plan, answering, order, kept) for answering in plan.config.answering_models]


def _left(plan: Plan, answering: ModelConfig, order: Order, kept: Collection[int]) -> Iterator[AnswerTask]:
    for generation in plan.answers_of(answering):
        question_id, _, replicate = generation
        judges = tuple(
            judge
            for judge in plan.config.parsing_models
            if order.position(RowKey(question_id, answering.id, judge.id, replicate)) not in kept
        )
        if judges:
            yield AnswerTask(generation, judges)


class _Stream:
    """Tasks of one kind for one model, and when it was last its turn."""

    def __init__(self, tasks: Iterator[AnswerTask]) -> None:
        self._tasks = tasks
        self.first = next(tasks, None)
        self.turn = -1

    def take(self) -> AnswerTask:
        task, self.first = self.first, next(self._tasks, None)
        assert task is not None
        return task


class WorkQueue:
    """Hands out tasks: judging first, so that few answers wait; then the next answer.

    Among several models the one with the fewest tasks under way comes next, and among equals the one that has waited
    longest: all providers are busy at once, and a slow one cannot take the workers of the others. The answers of one
    model come question by question with replicates side by side, so that what its provider has cached of a prompt is
    still there. Answers are taken from their streams one by one, so a run of any size needs little memory.
    """

    def __init__(self, answers: Sequence[Iterator[AnswerTask]]) -> None:
        self._streams = [_Stream(tasks) for tasks in answers]
        self._judging: dict[str, deque[JudgeTask]] = {}
        self._answering = 0
        self._turns = count()
        self._busy: Counter[str] = Counter()
        self._doing: dict[asyncio.Task[Any] | None, str] = {}
        self._changed = asyncio.Event()

    async def next(self) -> AnswerTask | JudgeTask | None:
        """Return the next task, None when nothing is left and nothing can come any more.

        A worker that asks for its next task has finished the one before.
        """
        worker = asyncio.current_task()
        if worker in self._doing:
            self._busy[self._doing.pop(worker)] -= 1
        while True:
            task = self._next_judgement() or self._next_answer()
            if task is not None:
                self._busy[task.model] += 1
                self._doing[worker] = task.model
                return task
            if not self._answering:
                return None
            self._changed.clear()
            await self._changed.wait()

    def answered(self, tasks: Iterable[JudgeTask]) -> None:
        """Note that an answer task is over, and what there is to judge now."""
        self._answering -= 1
        for task in tasks:
            self._judging.setdefault(task.judge.id, deque()).append(task)
        self._changed.set()

    def _next_judgement(self) -> JudgeTask | None:
        waiting = [judge for judge, tasks in self._judging.items() if tasks]
        if not waiting:
            return None
        judge = min(waiting, key=lambda name: self._busy[name])
        task = self._judging[judge].popleft()
        # The others come before it the next time.
        self._judging[judge] = self._judging.pop(judge)
        return task

    def _next_answer(self) -> AnswerTask | None:
        streams = [stream for stream in self._streams if stream.first is not None]
        if not streams:
            return None
        stream = min(streams, key=lambda item: (self._busy[item.first.model] if item.first else 0, item.turn))
        stream.turn = next(self._turns)
        self._answering += 1
        return stream.take()
