"""Stand-ins for the models and the pipeline, and results to store."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, event, select

from karenina_core.benchmark import Benchmark
from karenina_core.models import CallServices, ChatReply, ChatRequest, Message, ModelCaller, Subject, call_key
from karenina_core.runs import Store
from karenina_core.runs.store.schema import field, score
from karenina_core.schemas import (
    AnswerPart,
    CallRecord,
    ConfusionPart,
    Failure,
    FieldEvidence,
    ModelConfig,
    QuestionSnapshot,
    RubricPart,
    StageRecord,
    TemplatePart,
    Usage,
    VerificationConfig,
    VerificationResult,
)

T = TypeVar("T")
PATIENCE = 20  # seconds a test waits for a background thread before it fails


def small_benchmark(questions: int = 3, name: str = "Elements") -> Benchmark:
    benchmark = Benchmark.create(name)
    for number in range(1, questions + 1):
        benchmark.add_question(f"Question {number}?", f"Answer {number}", question_id=f"q{number}")
    return benchmark


def small_config(answering: int = 1, parsing: int = 1, **settings: Any) -> VerificationConfig:
    return VerificationConfig.model_validate(
        {
            "answering_models": [f"lab/model-{number}" for number in range(1, answering + 1)],
            "parsing_models": [f"lab/judge-{number}" for number in range(1, parsing + 1)],
            **settings,
        }
    )


def plain_result(
    question_id: str = "q1",
    answering: str = "lab/model-1",
    parsing: str = "lab/judge-1",
    replicate: int = 1,
    verdict: str = "pass",
    failure: Failure | None = None,
    **parts: Any,
) -> VerificationResult:
    return VerificationResult.model_validate(
        {
            "question": QuestionSnapshot(id=question_id, question=f"Question {question_id}?", raw_answer="42"),
            "answering_model": answering,
            "parsing_model": parsing,
            "replicate": replicate,
            "status": "failed" if failure else "completed",
            "verdict": "not_evaluated" if failure else verdict,
            "failure": failure,
            **parts,
        }
    )


def full_result(question_id: str = "q1", text: str = "It is 42.", **columns: Any) -> VerificationResult:
    """A result with evidence of every kind."""
    call = CallRecord(
        purpose="answer",
        model="lab/model-1",
        key="ab" * 32,
        source="provider",
        messages=[{"role": "user", "content": text}],
        reply=text,
        usage=Usage(input_tokens=10, output_tokens=5, cost=0.25, calls=1),
    )
    fields = [
        FieldEvidence(name="value", expected=42, extracted=42, result=True, rule={"type": "NumericExact"}),
        FieldEvidence(name="unit", expected="m", extracted=None, result=None, reason=text),
    ]
    rubric = RubricPart(
        performed=True,
        scores={"Clarity": 4, "Polite": True, "Tone": 1},
        labels={"Tone": "dry"},
        regex={"Cites": False},
        metrics={"Organs": {"precision": 0.5, "recall": 1.0}},
        confusion={"Organs": ConfusionPart(tp=["heart"], fp=[text], undefined=["f1"])},
        errors={"Depth": "The judge gave no value."},
    )
    return plain_result(
        question_id,
        answer=AnswerPart(text=text, finish_reason="stop", call=call),
        template=TemplatePart(
            template_id="t1", style="declarative", verify_result=True, verify_granular_result=0.5, fields=fields
        ),
        rubric=rubric,
        usage=Usage(input_tokens=30, output_tokens=9, cost=0.75, calls=2),
        stages=[StageRecord(name="verify_template", state="ran", seconds=0.01)],
        seconds=1.5,
        **columns,
    )


def on_a_loop(begin: Callable[[], Awaitable[T]]) -> T:
    """Begin something on an event loop, and wait for it."""

    async def scene() -> T:
        return await begin()

    return asyncio.run(scene())


class Turnstile:
    """Lets coroutines through one permit at a time, and tells how many have come."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._permits = 0
        self.arrived = 0

    async def enter(self) -> None:
        loop = asyncio.get_running_loop()
        with self._changed:
            self.arrived += 1
            self._changed.notify_all()
            if self._permits:
                self._permits -= 1
                return
            ticket = loop.create_future()
            self._waiting.append((loop, ticket))
        try:
            await ticket
        finally:
            with self._changed:
                self._waiting = [waiting for waiting in self._waiting if waiting[1] is not ticket]

    def let(self, number: int = 1_000_000) -> None:
        with self._changed:
            waiting, self._waiting = self._waiting[:number], self._waiting[number:]
            self._permits += number - len(waiting)
        for loop, ticket in waiting:
            loop.call_soon_threadsafe(_open, ticket)

    def wait_for(self, arrivals: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.arrived >= arrivals, PATIENCE), f"only {self.arrived} came"


def _open(ticket: asyncio.Future[None]) -> None:
    if not ticket.done():
        ticket.set_result(None)


class Laboratory:
    """Makes evaluators for a runner and remembers what they were asked.

    Attributes:
        answered: Answers that were really asked for, as (question, model, replicate).
        judged: Judgements, as (question, model, judge, replicate).
        failing: Questions whose answer fails, with the failure category.
        broken: Questions at which the evaluator itself breaks down.
    """

    def __init__(self) -> None:
        self.answered: list[tuple[str, str, int]] = []
        self.judged: list[tuple[str, str, str, int]] = []
        self.failing: dict[str, str] = {}
        self.broken: set[str] = set()
        self.problems: list[str] = []
        self.before_answer: Callable[[], Any] | None = None
        self.most_at_once = 0
        self._at_once = 0

    def __call__(self, benchmark: Benchmark, config: VerificationConfig, caller: ModelCaller) -> FakeEvaluator:
        return FakeEvaluator(self, caller.services)

    async def ask(self, question_id: str, answering: ModelConfig, replicate: int) -> None:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            if self.before_answer is not None:
                await self.before_answer()
            self.answered.append((question_id, answering.id, replicate))
        finally:
            self._at_once -= 1


class FakeEvaluator:
    """Answers every question with its id, through the ledger, and passes every answer."""

    def __init__(self, lab: Laboratory, services: CallServices) -> None:
        assert services.budget is not None
        self._lab = lab
        self._ledger, self._budget = services.ledger, services.budget

    def preflight(self) -> list[str]:
        return self._lab.problems

    async def generate(self, question_id: str, answering: ModelConfig, replicate: int) -> VerificationResult:
        request = answer_request(question_id, answering, replicate)
        key = call_key(answering, request)
        if question_id in self._lab.broken:
            raise RuntimeError("boom")
        known = await self._ledger.get(key)
        if known is not None:
            self._budget.add(Usage(calls=1, cached_calls=1))
        else:
            await self._budget.admit()
            await self._lab.ask(question_id, answering, replicate)
            if question_id not in self._lab.failing:
                self._budget.add(Usage(cost=0.5))
                await self._ledger.put(key, request, answering, ChatReply(question_id, usage=Usage(cost=0.5)))
        failure = failure_of(self._lab.failing[question_id]) if question_id in self._lab.failing else None
        return plain_result(question_id, answering.id, replicate=replicate, failure=failure)

    async def judge(self, context: VerificationResult, parsing: ModelConfig) -> VerificationResult:
        self._lab.judged.append((context.question_id, context.answering_model, parsing.id, context.replicate))
        return context.model_copy(update={"parsing_model": parsing.id})


def answer_request(question_id: str, model: ModelConfig, replicate: int = 1) -> ChatRequest:
    subject = Subject(question_id, f"Question {question_id}?", model.id, replicate)
    return ChatRequest("answer", (Message("user", subject.question),), subject)


def failure_of(category: str, stage: str = "generate_answer") -> Failure:
    return Failure.model_validate({"category": category, "stage": stage, "reason": "no reason"})


def stored_fields(store: Store, run_id: str) -> list[dict[str, Any]]:
    """Return the columns of the template fields of a run."""
    return _details(store, run_id, field)


def stored_scores(store: Store, run_id: str) -> list[dict[str, Any]]:
    """Return the columns of the trait values of a run."""
    return _details(store, run_id, score)


def _details(store: Store, run_id: str, table: Table) -> list[dict[str, Any]]:
    with store.reading() as connection:
        return [dict(row) for row in connection.execute(select(table).where(table.c.run_id == run_id)).mappings()]


def fill_disk(store: Store) -> None:
    """Let the database of a store grow no further."""
    _limit_pages(store, "(SELECT page_count FROM pragma_page_count)")


def free_disk(store: Store) -> None:
    """Let it grow again."""
    _limit_pages(store, "1073741823")


def _limit_pages(store: Store, pages: str) -> None:
    with store.reading() as connection:
        limit = connection.exec_driver_sql(f"SELECT {pages}").scalar_one()

    def set_limit(connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count={limit}").close()

    # The limit belongs to a connection. Others are in use beside this, so it is set with every transaction.
    event.listen(store.engine, "begin", set_limit)
