"""A bounded number of workers that answer and judge until nothing is left."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import copy_context

from karenina_core.benchmark import Benchmark
from karenina_core.runs.engine.evaluation import Evaluator
from karenina_core.runs.engine.gate import Gate
from karenina_core.runs.engine.work import AnswerTask, JudgeTask, WorkQueue
from karenina_core.runs.plans.plan import Generation
from karenina_core.schemas import Failure, ModelConfig, QuestionSnapshot, VerificationResult

log = logging.getLogger(__name__)
_ALONE = 32


def workers_for(calls: int) -> int:
    """Return how many workers keep so many calls in flight.

    A worker that has its reply reads it, decides and has it stored before it asks again. Where many replies come
    together they wait for each other, for one interpreter deals with them all; meanwhile further workers use the
    places at the provider. With few calls they gain nothing: they only make the groups that are stored together
    smaller.

    Args:
        calls: That may be in flight at once, at least 1.
    """
    return calls + max(0, calls - _ALONE)


class Crew:
    """Workers over one queue.

    Args:
        benchmark: The questions.
        evaluator: Answers and judges.
        queue: What is left to do.
        gate: No task is begun while it is shut.
        save: Stores a result durably.

    Attributes:
        busy: Tasks that are being done at this moment, or that wait at the gate.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        evaluator: Evaluator,
        queue: WorkQueue,
        gate: Gate,
        save: Callable[[VerificationResult], Awaitable[None]],
    ) -> None:
        self._benchmark = benchmark
        self._evaluator = evaluator
        self._queue = queue
        self._gate = gate
        self._save = save
        self.busy = 0
        self._workers = 0
        self._broken = False

    async def work(self, size: int) -> None:
        """Do everything that is left with so many workers; less when the gate turns workers away."""
        self._context = copy_context()
        async with asyncio.TaskGroup() as self._group:
            self._hire(size)

    def grow(self, size: int) -> None:
        """Have so many workers, as long as there is work; never fewer, and no new ones when the run is ending."""
        if self._workers and not self._broken and not self._gate.ended:
            self._hire(size - self._workers)

    def _hire(self, number: int) -> None:
        for _ in range(number):
            self._workers += 1
            # In the context of the run, whose keys it uses, whoever asks for more.
            task = self._group.create_task(self._worker(), context=self._context.copy())
            task.add_done_callback(self._left)

    def _left(self, worker: asyncio.Task[None]) -> None:
        self._workers -= 1
        # What one cannot deal with ends the work of all.
        self._broken = self._broken or (not worker.cancelled() and worker.exception() is not None)

    async def _worker(self) -> None:
        while (task := await self._queue.next()) is not None:
            self.busy += 1
            try:
                if not self._gate.lets_begin:
                    await self._admitted(task)
                await (self._answer(task) if isinstance(task, AnswerTask) else self._judge(task))
            finally:
                self.busy -= 1

    async def _admitted(self, task: AnswerTask | JudgeTask) -> None:
        try:
            await self._gate.wait()
        except asyncio.CancelledError:
            if isinstance(task, AnswerTask):
                # Nobody may wait for judgements that will not come.
                self._queue.answered([])
            raise

    async def _answer(self, task: AnswerTask) -> None:
        judgements: list[JudgeTask] = []
        try:
            context = await self._evaluator.generate(*task.generation)
            judgements = [JudgeTask(task.generation, judge, context) for judge in task.judges]
        except Exception as error:
            log.exception("Answering %s failed", task.generation.question_id)
            for judge in task.judges:
                await self._save(self._unexpected(task.generation, judge, error))
        finally:
            # Whatever happened: nobody may wait for judgements that will not come.
            self._queue.answered(judgements)

    async def _judge(self, task: JudgeTask) -> None:
        try:
            result = await self._evaluator.judge(task.context, task.judge)
        except Exception as error:
            log.exception("Judging %s failed", task.generation.question_id)
            result = self._unexpected(task.generation, task.judge, error)
        await self._save(result)

    def _unexpected(self, generation: Generation, judge: ModelConfig, error: Exception) -> VerificationResult:
        """Return the row of an evaluation that broke down, so that no wanted row is ever missing."""
        question = self._benchmark.get_question_as_object(generation.question_id)
        return VerificationResult(
            question=QuestionSnapshot(
                id=generation.question_id,
                question=question.question,
                raw_answer=question.raw_answer,
                keywords=question.keywords,
            ),
            answering_model=generation.answering.id,
            parsing_model=judge.id,
            replicate=generation.replicate,
            status="failed",
            verdict="not_evaluated",
            failure=Failure(category="unexpected", stage="pipeline", reason=f"{type(error).__name__}: {error}"[:500]),
        )
