"""What a stage is, what it reads and writes, and how it asks the judge."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel

from karenina_core.agents import Workspace, trace_text
from karenina_core.errors import InputError, ModelError, validation_message
from karenina_core.models import (
    ChatRequest,
    Embedder,
    InvalidOutputError,
    Message,
    ModelCaller,
    Purpose,
    Subject,
)
from karenina_core.schemas import (
    AnswerPart,
    AnyTrait,
    CallRecord,
    Failure,
    FailureCategory,
    GuardPart,
    ModelConfig,
    RubricPart,
    SimilarityPart,
    StageRecord,
    VerificationConfig,
    VerificationResult,
)
from karenina_core.schemas.entities.question import Question
from karenina_core.templates import Evaluation, SandboxShare, Template

T = TypeVar("T")
AnyReply = TypeVar("AnyReply", bound=BaseModel)


@dataclass
class Context:
    """The state of one evaluation, from the question to its result.

    Attributes named in a stage's `requires` and `produces` are its inputs and outputs. `caller` is the way to every
    model; `load_embedder` returns the embedding model of a name, or raises when it is not available; `sandbox` is where
    the own code of templates runs; `workspace` is the folder that agents work in, below `workspace_root`.
    """

    question: Question
    question_id: str
    traits: list[tuple[AnyTrait, str]]
    config: VerificationConfig
    caller: ModelCaller
    load_embedder: Callable[[str], Embedder]
    answering: ModelConfig
    replicate: int
    run_name: str | None = None
    parsing: ModelConfig | None = None
    sandbox: SandboxShare | None = None
    workspace_root: Path | None = None
    workspace: Workspace | None = None

    template: Template | None = None
    answer: AnswerPart | None = None
    abstention: GuardPart | None = None
    sufficiency: GuardPart | None = None
    values: dict[str, Any] | None = None
    parse_calls: list[CallRecord] = field(default_factory=list)
    evaluation: Evaluation | None = None
    similarity: SimilarityPart | None = None
    rubric: RubricPart = field(default_factory=RubricPart)
    result: VerificationResult | None = None

    failure: Failure | None = None
    stages: list[StageRecord] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def fork(self, parsing: ModelConfig) -> Context:
        """Return a copy for one judge; the answer is shared, everything later is its own."""
        own = {"stages": [*self.stages], "warnings": [*self.warnings], "parse_calls": [], "rubric": RubricPart()}
        forked = copy(self)
        vars(forked).update(own, parsing=parsing)
        return forked

    @property
    def judge(self) -> ModelConfig:
        """The judge of this evaluation."""
        if self.parsing is None:
            raise RuntimeError("The context was not forked for a judge.")
        return self.parsing

    @property
    def runs_template(self) -> bool:
        """Whether the answer template takes part."""
        return self.config.evaluation_mode != "rubric_only"

    @property
    def runs_rubric(self) -> bool:
        """Whether there are traits to evaluate."""
        return self.config.evaluation_mode != "template_only" and bool(self.traits)

    def instructions(self, task: str) -> str | None:
        """Return a person's extra instructions for a task of the judge, named as in `PromptConfig`."""
        prompts = self.config.prompt_config
        return getattr(prompts, task) if prompts else None


class Skip(Exception):
    """A stage has nothing to do for this evaluation; carries the reason."""


class StageFailure(Exception):
    """A stage failed in a way that ends the evaluation without a verdict."""

    def __init__(self, category: FailureCategory, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.category = category
        self.reason = reason
        self.line = line


class Stage:
    """One step of the pipeline.

    Attributes:
        name: Its established name.
        requires: Context attributes that must have been produced before it.
        produces: Context attributes it fills.
        asks_judge: Whether it may ask the judge.
        needs_answer_only: Whether it still runs when an earlier stage failed, as long as there is an answer.
        always_runs: Whether it runs whatever happened before.
        off: Why the stage does nothing at all in this version, or empty.
    """

    name: ClassVar[str]
    requires: ClassVar[frozenset[str]] = frozenset()
    produces: ClassVar[frozenset[str]] = frozenset()
    asks_judge: ClassVar[bool] = False
    needs_answer_only: ClassVar[bool] = False
    always_runs: ClassVar[bool] = False
    off: ClassVar[str] = ""

    async def run(self, context: Context) -> None:
        """Do the work.

        Raises:
            Skip: There is nothing to do.
            StageFailure: The evaluation cannot reach a verdict.
            ModelError: A model call failed; it becomes the evaluation's failure.
        """
        raise NotImplementedError


StageState = Literal["ran", "off", "skipped", "failed"]


def failure_of(stage: str, category: FailureCategory, reason: str, line: int | None = None) -> Failure:
    """Build a failure with a reason of readable length."""
    return Failure(category=category, stage=stage, reason=reason[:500], line=line)


async def ask_judge(
    context: Context,
    purpose: Purpose,
    messages: Callable[[str, str], tuple[Message, ...]],
    schema: dict[str, Any],
    validate: Callable[[Any], T],
    part: str = "",
    response: str | None = None,
) -> tuple[T, list[CallRecord]]:
    """Ask the judge for JSON about the response.

    Args:
        context: The evaluation; its answer must exist.
        purpose: What the reply is for.
        messages: Builds the prompt from the question and the response text.
        schema: JSON schema of the reply.
        validate: Turns the JSON into a value, or raises ValueError with a message the judge is shown.
        part: Trait name, for calls about one trait.
        response: What is judged; the answer when not given, or all that an agent did where the run is set so.

    Raises:
        ModelError: The judge could not be asked, or kept replying with something else.
    """
    if context.answer is None:
        raise RuntimeError("There is no answer to judge.")
    judge, question = context.judge, context.question.question
    response = _judged_text(context.answer, context.config, purpose) if response is None else response
    request = ChatRequest(
        purpose=purpose,
        messages=with_own_prompt(judge.system_prompt, messages(question, response)),
        subject=Subject(
            context.question_id, question, context.answering.id, context.replicate, part=part, response=response
        ),
        schema=schema,
        timeout=judge.request_timeout or context.config.request_timeout,
    )
    return await context.caller.complete_json(judge, request, validate)


def _judged_text(answer: AnswerPart, config: VerificationConfig, purpose: Purpose) -> str:
    whole = {
        "parse": config.use_full_trace_for_template,
        "rubric": config.use_full_trace_for_rubric,
        "metric": config.use_full_trace_for_rubric,
    }
    return trace_text(answer.transcript) if answer.transcript and whole.get(purpose) else answer.text


def with_own_prompt(own: str | None, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Put a judge's configured system prompt before the task."""
    if not own:
        return messages
    first, *rest = messages
    return (Message(first.role, f"{own}\n\n{first.content}"), *rest)


def fitting(form: type[AnyReply]) -> Callable[[Any], AnyReply]:
    """Return what turns a judge's JSON into a reply of that form, or raises an `InputError` that says what is wrong."""

    def read(data: Any) -> AnyReply:
        try:
            return form.model_validate(data)
        except ValueError as error:
            raise InputError("The reply does not fit.", f"{validation_message(error, values=True)}.") from None

    return read


def unusable_replies(error: ModelError) -> list[CallRecord]:
    """Return the calls behind an error, as evidence: replies that did not fit the schema."""
    return error.records if isinstance(error, InvalidOutputError) else []
