"""Going through a run without asking anybody: which of its calls the ledger knows, and which would have to be made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from karenina_core.errors import InputError, ModelError
from karenina_core.models import (
    CallServices,
    ChatReply,
    ChatRequest,
    InvalidOutputError,
    ModelCaller,
    NullLedger,
    Subject,
    ask_for_correction,
    call_key,
    make_client,
    read_whole_reply,
)
from karenina_core.pipeline import SHARED, STAGES, Pipeline, answer_messages, run_in_thread, run_stages
from karenina_core.runs.engine.ledger import read_reply
from karenina_core.runs.engine.work import AnswerTask, finished_rows, remaining
from karenina_core.runs.plan import Plan, judge_calls
from karenina_core.runs.store import Store
from karenina_core.runs.store.runs import Order
from karenina_core.schemas import CallRecord, ModelConfig

T = TypeVar("T")
MOST = 400
"""At most this many answers that are known are gone through; the rest is taken to be like them."""
_ASKING = ("abstention_check", "sufficiency_check", "parse_template", "rubric_evaluation")
_STAGES = [stage for stage in STAGES[SHARED:] if stage.name in _ASKING]


class Ask(NamedTuple):
    """What a model would be asked for: its label and the purpose of the calls."""

    model: str
    purpose: str


@dataclass
class Calls:
    """The calls of models that are asked over a network.

    Attributes:
        needed: Calls to be made.
        cached: Calls that the ledger answers.
        characters: Characters of the prompts that are known, and the number of those prompts.
        supposed: Judge calls among `needed` whose answer is not known yet, so that some may turn out needless.
        sampled: Whether some of the counts stand for more calls than were looked at.
    """

    needed: Counter[Ask] = field(default_factory=Counter)
    cached: Counter[Ask] = field(default_factory=Counter)
    characters: dict[Ask, tuple[int, int]] = field(default_factory=dict)
    supposed: int = 0
    sampled: bool = False

    def prompt(self, ask: Ask, request: ChatRequest) -> None:
        """Note a prompt that would be sent."""
        length, number = self.characters.get(ask, (0, 0))
        self.characters[ask] = length + sum(len(message.content) for message in request.messages), number + 1

    def add(self, other: Calls, times: float) -> None:
        """Take over counts that stand for `times` as many."""
        for mine, its in ((self.needed, other.needed), (self.cached, other.cached)):
            mine.update({ask: round(number * times) for ask, number in its.items()})
        self.characters |= {ask: seen for ask, seen in other.characters.items() if ask not in self.characters}


def rehearse(plan: Plan, store: Store | None = None, run_id: str | None = None) -> Calls:
    """Count the calls of a plan, exactly as far as the ledger knows the answers.

    Args:
        plan: What is wanted.
        store: Holds the ledger; nothing is known when not given.
        run_id: The stored run the plan belongs to; its rows that need no work are left out.
    """
    calls, config = Calls(), plan.config
    order = Order(
        plan.benchmark.get_question_ids(),
        [model.id for model in config.answering_models],
        [model.id for model in config.parsing_models],
    )
    staying = (
        finished_rows(store, run_id, plan, order, store.results.outcomes(run_id)) if store and run_id else set[int]()
    )
    expected = _Expected(plan)
    # Where nothing could be decided, nothing is asked.
    tasks = [task for task in chain(*remaining(plan, order, staying)) if expected.of(task) is not None]
    known = _split(plan, tasks, expected, store, calls)
    if store is not None and known and any(map(is_remote, config.parsing_models)):
        some = known[:: -(-len(known) // MOST)]
        seen = _go_through(plan, some, store)
        calls.add(seen, len(known) / len(some))
        calls.sampled = len(some) < len(known)
    return calls


def is_remote(model: ModelConfig) -> bool:
    """Say whether a model is asked over a network."""
    return model.is_provider


class _Expected:
    """How often one judge is asked about one answer, by question; read once for each."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._found: dict[str, Counter[str] | None] = {}

    def of(self, task: AnswerTask) -> Counter[str] | None:
        question_id = task.generation.question_id
        if question_id not in self._found:
            self._found[question_id] = judge_calls(self._plan.benchmark, self._plan.config, question_id)
        return self._found[question_id]


def _split(
    plan: Plan, tasks: Sequence[AnswerTask], expected: _Expected, store: Store | None, calls: Calls
) -> list[AnswerTask]:
    """Count the answers, suppose the judge calls of those that are not known, and return those that are."""
    requests = [_answer_request(plan, task) for task in tasks]
    keys = [call_key(task.generation.answering, request) for task, request in zip(tasks, requests, strict=True)]
    stored = store.calls.known(keys) if store else set[str]()
    known = []
    for task, request, key in zip(tasks, requests, keys, strict=True):
        model = task.generation.answering
        ask = Ask(model.id, "answer")
        there = key in stored or model.transport in ("manual", "recorded")
        if is_remote(model):
            (calls.cached if there else calls.needed)[ask] += 1
            calls.prompt(ask, request)
        if there and store is not None:
            known.append(task)
        else:
            _suppose(task, expected.of(task) or Counter(), calls)
    return known


def _suppose(task: AnswerTask, expected: Counter[str], calls: Calls) -> None:
    for judge in filter(is_remote, task.judges):
        for purpose, number in expected.items():
            if number:
                calls.needed[Ask(judge.id, purpose)] += number
                calls.supposed += number


def _answer_request(plan: Plan, task: AnswerTask) -> ChatRequest:
    question_id, model, replicate = task.generation
    question = plan.benchmark.get_question_as_object(question_id)
    messages = answer_messages(question, question_id, model, plan.config.few_shot_config)
    return ChatRequest("answer", messages, Subject(question_id, question.question, model.id, replicate))


def _go_through(plan: Plan, tasks: Iterable[AnswerTask], store: Store) -> Calls:
    calls = Calls()
    # Similarities are no calls, and computing them takes a while.
    config = plan.config.model_copy(update={"embedding_check_enabled": False})

    async def everything() -> None:
        with closing(_Replies(store)) as replies:
            pipeline = Pipeline(plan.benchmark, config, _Rehearsal(replies, calls))
            for task in tasks:
                context = await pipeline.generate(*task.generation)
                for judge in filter(is_remote, task.judges):
                    await run_stages(_STAGES, context.fork(judge))

    run_in_thread(everything)
    return calls


class _Replies:
    """Replies of the ledger, over the quickest way there is; belongs to one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._quick = store.calls.reader()

    def text(self, key: str) -> str | None:
        return self._quick(key) if self._quick else self._store.calls.replies([key]).get(key)

    def close(self) -> None:
        if self._quick:
            self._quick.close()


class _Rehearsal(ModelCaller):
    """Answers from the ledger and from prepared answers; every other call fails, and is counted."""

    def __init__(self, replies: _Replies, calls: Calls) -> None:
        super().__init__(CallServices(NullLedger()))
        self._replies = replies
        self._calls = calls

    async def complete(self, config: ModelConfig, request: ChatRequest) -> tuple[ChatReply, CallRecord]:
        """Return what is known.

        Raises:
            ModelError: Nothing is.
        """
        key = call_key(config, request)
        if config.transport in ("manual", "recorded"):
            try:
                return (reply := await make_client(config).complete(request)), _record(config, request, key, reply)
            except ModelError:
                if config.manual_traces is not None:
                    raise
        text = self._replies.text(key)
        if request.purpose != "answer":
            ask = Ask(config.id, request.purpose)
            (self._calls.needed if text is None else self._calls.cached)[ask] += 1
            self._calls.prompt(ask, request)
        if text is None:
            raise ModelError("This call has not been made yet.", category="missing_recording")
        reply = read_reply(text)
        return reply, _record(config, request, key, reply)

    async def complete_json(
        self, config: ModelConfig, request: ChatRequest, validate: Callable[[Any], T]
    ) -> tuple[T, list[CallRecord]]:
        """Return what is known, as `validate` returns it.

        Raises:
            ModelError: Nothing is.
        """
        asked, records = request, list[CallRecord]()
        for _ in range(config.max_retries + 1):
            reply, record = await self.complete(config, asked)
            records.append(record)
            try:
                return read_whole_reply(reply, validate), records
            except InputError as error:
                problem = error.what
                asked = ask_for_correction(request, reply.text, problem)
        raise InvalidOutputError(problem, records)


def _record(config: ModelConfig, request: ChatRequest, key: str, reply: ChatReply) -> CallRecord:
    return CallRecord(
        purpose=request.purpose, part=request.subject.part, model=config.id, key=key, source="ledger", messages=[],
        reply=reply.text,
    )  # fmt: skip
