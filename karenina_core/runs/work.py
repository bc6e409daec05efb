"""What is left to do in a run, handed out to a bounded number of workers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from karenina_core.runs.plan import Generation, Plan
from karenina_core.runs.store import Outcome
from karenina_core.runs.store.order import Order
from karenina_core.schemas.config import ModelConfig
from karenina_core.schemas.results import Failure, RowKey

# Asking again changes nothing: the benchmark of a run stays as it was.
_FOR_GOOD = frozenset({"template", "autofail", "abstained"})


class AnswerTask(NamedTuple):
    """An answer that is wanted, and the judges that wait for it."""

    generation: Generation
    judges: tuple[ModelConfig, ...]


class JudgeTask(NamedTuple):
    """An answer, as the context of its evaluation, that one judge is to judge."""

    generation: Generation
    judge: ModelConfig
    context: Any


def settled(outcome: Outcome) -> bool:
    """Say whether a stored row stays as it is when its run is resumed.

    Failures of providers and judges are tried again, and so are rows that wait for the judge.
    """
    if outcome.status == "completed" or outcome.failure_category is None:
        return True
    failure = Failure.model_validate({"category": outcome.failure_category, "stage": "", "reason": ""})
    return failure.group in _FOR_GOOD


def remaining(plan: Plan, order: Order, kept: Collection[int]) -> Iterator[AnswerTask]:
    """Yield what a run still wants.

    Args:
        plan: All that it wants.
        order: Gives every row its position.
        kept: Positions of the rows that need no work.
    """
    for generation in plan.generations():
        question_id, answering, replicate = generation
        judges = tuple(
            judge
            for judge in plan.config.parsing_models
            if order.position(RowKey(question_id, answering.id, judge.id, replicate)) not in kept
        )
        if judges:
            yield AnswerTask(generation, judges)


class WorkQueue:
    """Hands out tasks: judging first, so that few answers wait; then the next answer.

    Answers are taken from their source one by one, so a run of any size needs little memory.
    """

    def __init__(self, answers: Iterator[AnswerTask]) -> None:
        self._answers = answers
        self._judging: deque[JudgeTask] = deque()
        self._answering = 0
        self._changed = asyncio.Event()

    async def next(self) -> AnswerTask | JudgeTask | None:
        """Return the next task, None when nothing is left and nothing can come any more."""
        while True:
            if self._judging:
                return self._judging.popleft()
            task = next(self._answers, None)
            if task is not None:
                self._answering += 1
                return task
            if not self._answering:
                return None
            self._changed.clear()
            await self._changed.wait()

    def answered(self, tasks: Iterable[JudgeTask]) -> None:
        """Note that an answer task is over, and what there is to judge now."""
        self._answering -= 1
        self._judging.extend(tasks)
        self._changed.set()
