"""Model calls beside runs, within the budget of the day: while somebody waits, or as a job in the background."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from karenina_core.errors import ConfigError, InputError, KareninaError
from karenina_core.models import (
    CallServices,
    ChatRequest,
    KeySource,
    Message,
    ModelCaller,
    NullLedger,
    RunLimiter,
    Subject,
    check_model,
    using_keys,
)
from karenina_core.pipeline import Pipeline, run_in_thread
from karenina_core.redact import redact
from karenina_core.runs.engine.engine import Engine
from karenina_core.runs.engine.job import BackgroundJob
from karenina_core.runs.engine.ledger import RunLedger, StoreLedger
from karenina_core.runs.engine.spending import SpendMeter
from karenina_core.runs.engine.writer import BatchWriter
from karenina_core.runs.plan import Plan
from karenina_core.runs.prices import client_at
from karenina_core.runs.store import Store
from karenina_core.schemas import AnswerPart, ModelConfig, VerificationConfig, VerificationResult

T = TypeVar("T")
J = TypeVar("J", bound=BackgroundJob)
_ANSWER = {"ready": {"type": "boolean"}}
_READY = {"type": "object", "properties": _ANSWER, "required": ["ready"], "additionalProperties": False}
_BEYOND = 1_000_000  # replicates from here on are nobody's, so that the ledger knows no reply to them
_LONGEST = 30.0  # seconds; a person waits for it


@contextmanager
def store_calls(
    store: Store,
    *,
    of: str,
    max_cost: float | None = None,
    max_concurrent: int = 8,
    max_attempts: int = 4,
) -> Iterator[CallServices]:
    """Lend what calls depend on; at the end all of them are stored and accounted for.

    Args:
        store: Its ledger answers calls and remembers them, and its account counts them towards the daily budget.
        of: What the money is spent on, for messages.
        max_cost: US dollars that may be spent; None without a bound.
        max_concurrent: Calls in flight at once.
        max_attempts: How often a call is tried.

    Raises:
        StoreError: The database refuses.
    """
    writer = BatchWriter(store)
    ledger = StoreLedger(store, writer)
    spend = SpendMeter(lambda: asyncio.to_thread(store.spending.today), max_cost, of=of)
    try:
        yield CallServices(RunLedger(ledger, spend), RunLimiter(max_concurrent, attempts=max_attempts), spend)
    finally:
        ledger.close()
        writer.close()
        store.spending.add(spend.take().cost)
    if writer.failure is not None:
        raise writer.failure


def call_now(
    store: Store,
    work: Callable[[ModelCaller], Awaitable[T]],
    *,
    of: str,
    keys: KeySource | None,
    max_attempts: int,
    remembered: bool = True,
) -> T:
    """Return what some model calls come to, while somebody waits.

    Args:
        store: Its account counts the calls towards the daily budget.
        work: Makes the calls.
        of: What the money is spent on, for messages.
        keys: Asked for keys before the environment.
        max_attempts: How often a call is tried.
        remembered: Whether the store's ledger answers calls, and remembers them.

    Raises:
        StoreError: The database refuses.
    """
    outcome: list[T] = []
    with store_calls(store, of=of, max_attempts=max_attempts) as stored:
        services = stored if remembered else replace(stored, ledger=NullLedger())

        async def carry_out() -> None:
            with using_keys(keys):
                async with ModelCaller(services, client_at(store.settings.prices())) as caller:
                    outcome.append(await work(caller))

        run_in_thread(carry_out)
    return outcome[0]


@dataclass(frozen=True)
class ConnectionCheck:
    """What became of a test of a model.

    Attributes:
        works: Whether the model replied, a judge as JSON.
        message: The same in words, with the reason where it did not.
    """

    works: bool
    message: str


def try_connection(
    store: Store, model: ModelConfig, *, as_judge: bool, keys: KeySource | None = None
) -> ConnectionCheck:
    """Ask a model one short question, within the budget of the day, and return what became of it.

    It is asked every time: a reply that is remembered proves nothing about now, and this one is not remembered.

    Args:
        store: Its account counts the call.
        model: Of a provider.
        as_judge: Whether it has to reply as JSON.
        keys: Asked for keys before the environment.

    Raises:
        StoreError: The database refuses.
    """
    subject = Subject("", "", model.id, 1)
    timeout = min(_LONGEST, model.request_timeout or _LONGEST)

    async def ask(caller: ModelCaller) -> None:
        if as_judge:
            question = (Message("user", 'Reply with this JSON object: {"ready": true}'),)
            await caller.complete_json(model, ChatRequest("parse", question, subject, _READY, timeout), _check_ready)
        else:
            question = (Message("user", "Reply with one word: ready"),)
            await caller.complete(model, ChatRequest("answer", question, subject, None, timeout))

    began = time.monotonic()
    try:
        check_model(model)
        call_now(store, ask, of="the test", keys=keys, max_attempts=1, remembered=False)
    except KareninaError as error:
        return ConnectionCheck(False, redact(str(error)))
    as_what = "replied as JSON" if as_judge else "replied"
    return ConnectionCheck(True, f"{as_what} after {time.monotonic() - began:.1f} s")


def _check_ready(reply: Any) -> None:
    if not isinstance(reply, dict) or not isinstance(reply.get("ready"), bool):
        raise InputError('The reply must be {"ready": true} or {"ready": false}.')


# Asking again about one stored result, with another prompt, answer or template; nothing of the run changes


@dataclass(frozen=True)
class Trial:
    """What is tried with one stored result.

    Attributes:
        question: Another text of the question; the model under test is asked again.
        system_prompt: Another system prompt for it; empty for none, unchanged when None.
        answer: The answer to judge; the model under test is not asked.
        template: Another source of the answer template.
        with_rubric: Whether the traits are evaluated too.
    """

    question: str | None = None
    system_prompt: str | None = None
    answer: str | None = None
    template: str | None = None
    with_rubric: bool = False


def why_not(model: ModelConfig) -> str:
    """Say why a model cannot be asked anew; empty when it can."""
    if model.transport == "recorded":
        return f"{model.id} replays a recording and would say the same again."
    if model.transport == "manual":
        return f"{model.id} holds prepared answers and cannot be asked."
    return ""


def models_of(config: VerificationConfig, result: VerificationResult) -> tuple[ModelConfig, ModelConfig]:
    """Return the model under test and the judge of a result.

    Raises:
        InputError: The configuration does not have them any more.
    """
    answering = next((model for model in config.answering_models if model.id == result.answering_model), None)
    parsing = next((model for model in config.parsing_models if model.id == result.parsing_model), None)
    if answering is None or parsing is None:
        raise InputError("The run has no configuration of these models.", next="Choose another result.")
    return answering, parsing


def trial_plan(store: Store, run_id: str, result: VerificationResult, trial: Trial) -> Plan:
    """Return the calls of a trial as a plan of one row, for an estimate of what they take.

    Raises:
        InputError: There is no such run, or the question or template cannot be used.
        TemplateError: The template cannot be read.
        ConfigError: A model cannot be asked anew.
    """
    plan = store.runs.plan(run_id)
    answering, parsing = models_of(plan.config, result)
    if trial.answer is not None:
        traces = {result.question.id: trial.answer}
        answering = ModelConfig(id=answering.id, interface="manual", model_name="pasted", manual_traces=traces)
    else:
        _check(answering)
        if trial.system_prompt is not None:
            answering = answering.model_copy(update={"system_prompt": trial.system_prompt or None})
    _check(parsing)
    if trial.template is not None:
        plan.benchmark.update_template(result.question.id, trial.template)
    if trial.question is not None:
        plan.benchmark.edit_question(result.question.id, keep_id=True, question=trial.question)
    settings = {"answering_models": [answering], "parsing_models": [parsing], "replicate_count": 1}
    if not trial.with_rubric:
        settings["evaluation_mode"] = "template_only"
    config = VerificationConfig.model_validate(dict(plan.config) | settings)
    return replace(plan, config=config, question_ids=(result.question.id,), skipped=())


def carry_out(
    store: Store,
    plan: Plan,
    result: VerificationResult,
    *,
    keys: KeySource | None = None,
    anew: bool = False,
) -> VerificationResult:
    """Make the calls of a trial, through the ledger and within the budget of the day, and return its result.

    Args:
        store: Its ledger remembers the calls, and its account counts them; results are not stored.
        plan: As `trial_plan` returns it.
        result: What the trial began with.
        keys: Asked for keys before the environment.
        anew: Ask even where the ledger knows the reply to the very same call.

    Raises:
        ConfigError: A model cannot be used.
        StoreError: The database refuses.
    """
    answering, parsing = plan.config.answering_models[0], plan.config.parsing_models[0]
    given = answering.transport == "manual"
    replicate = _BEYOND + secrets.randbelow(_BEYOND) if anew else result.replicate

    async def evaluated(caller: ModelCaller) -> VerificationResult:
        pipeline = Pipeline(plan.benchmark, plan.config, caller)
        context = await pipeline.generate(result.question.id, answering, replicate)
        return await pipeline.judge(context, parsing)

    outcome = call_now(store, evaluated, of="trying", keys=keys, max_attempts=plan.config.max_attempts)
    update: dict[str, object] = {"replicate": result.replicate, "run_name": result.run_name}
    if given and outcome.answer is not None:
        update["answer"] = _given(result, outcome.answer)
    return outcome.model_copy(update=update)


def pasted(result: VerificationResult, text: str) -> VerificationResult:
    """Return the result with another answer, about which nothing is known yet.

    Raises:
        InputError: The answer is empty.
    """
    if not text.strip():
        raise InputError("The answer is empty.", next="Paste a text.")
    if result.answer is not None and result.answer.text == text:
        return result
    return VerificationResult(
        question=result.question,
        answering_model=result.answering_model,
        parsing_model=result.parsing_model,
        replicate=result.replicate,
        status="skipped",
        verdict="not_evaluated",
        answer=AnswerPart(text=text),
        run_name=result.run_name,
    )


def _given(result: VerificationResult, judged: AnswerPart) -> AnswerPart:
    """Return the answer that was given to the judge, with where it came from before."""
    same = result.answer is not None and result.answer.text == judged.text
    call = result.answer.call if same and result.answer else None
    return judged.model_copy(update={"call": call})


def _check(model: ModelConfig) -> None:
    problem = why_not(model)
    if problem:
        raise ConfigError(problem, next="Edit the values or the rule instead, which takes no call.")
    check_model(model)


# In the background


class Jobs(Generic[J]):
    """Jobs of one kind; the last one of every name is kept. The methods may be called from any thread.

    Args:
        engine: Carries the jobs out; stays open when this is closed.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._jobs: dict[tuple[str, ...], J] = {}
        self._lock = threading.Lock()  # for looking whether a job runs, and beginning one

    def cancel(self, *name: str | None) -> None:
        """Stop a job; returns when nothing is under way any more. What is stored stays."""
        job = self._job(*name)
        if job is not None:
            self._engine.cancel_job(job)

    def join(self, *name: str | None, timeout: float | None = None) -> None:
        """Return when a job has ended, if there is one, or after `timeout` seconds."""
        if (job := self._job(*name)) is not None:
            job.ended.wait(timeout)

    def forget(self, *name: str) -> None:
        """Forget a job that has ended."""
        self._jobs.pop(name, None)

    def close(self) -> None:
        """Cancel everything."""
        for name in list(self._jobs):
            self.cancel(*name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _job(self, *name: str | None) -> J | None:
        return self._jobs.get(tuple(part for part in name if part is not None))

    def _running(self, *name: str | None) -> bool:
        job = self._job(*name)
        return job is not None and not job.ended.is_set()

    def _begin(self, name: tuple[str, ...], job: J, keys: KeySource | None) -> None:
        self._jobs[name] = job
        self._engine.begin_job(job, keys)
