"""Draft answer templates with a model: it proposes a specification, code renders and tests it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from karenina_core.authoring import Review, add_draft, review
from karenina_core.benchmark import Benchmark
from karenina_core.errors import KareninaError, ModelError
from karenina_core.models import (
    CallServices,
    ChatRequest,
    MemoryLedger,
    Message,
    ModelCaller,
    ModelClient,
    RunLimiter,
    Subject,
    make_client,
)
from karenina_core.schemas import ModelConfig
from karenina_core.schemas.entities.question import Question
from karenina_core.templates import FieldSpec, TemplateSpec, read_template, write_template

DraftType = Literal["bool", "int", "float", "str", "list_str", "literal", "date"]

_RULES: dict[str, dict[str, Any]] = {
    "bool": {"type": "BooleanMatch"},
    "int": {"type": "NumericExact"},
    "float": {"type": "NumericTolerance", "tolerance": 0.001, "mode": "relative"},
    "str": {"type": "ExactMatch", "normalize": ["lowercase", "strip"]},
    "list_str": {"type": "SetContainment", "mode": "exact"},
    "literal": {"type": "LiteralMatch"},
    "date": {"type": "DateMatch"},
}


class DraftField(BaseModel):
    """One field as the model proposes it."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")
    type: DraftType
    description: str = Field(min_length=10, max_length=500)
    ground_truth: bool | int | float | str | list[str]
    options: list[str] = Field(default_factory=list, max_length=20)


class Draft(BaseModel):
    """A template as the model proposes it."""

    model_config = ConfigDict(extra="forbid")

    plan: str = Field(default="", max_length=1_000, description="What a response must say to be right, and how to tell")
    fields: list[DraftField] = Field(min_length=1, max_length=10)


@dataclass(frozen=True)
class GeneratedTemplate:
    """What became of one question.

    Attributes:
        question_id: The question.
        source: The template, if one was made.
        error: Why there is none.
        skipped: Whether the question had a template already.
        review: What the linter and the self-test say of a new template.
        plan: What a response must say to be right, in the words of the model that drafted it.
        category: The kind of failure of the call that should have made it; None where none failed.
    """

    question_id: str
    source: str | None = None
    error: str | None = None
    skipped: bool = False
    review: Review | None = None
    plan: str = ""
    category: str | None = None

    @property
    def needs_review(self) -> bool:
        """Whether a person has to look at the new template."""
        return self.review is not None and self.review.needs_review

    @property
    def success(self) -> bool:
        """Whether the question has a template now."""
        return self.source is not None


def render(draft: Draft) -> str:
    """Return the source of a draft.

    Raises:
        ValueError: The draft contradicts itself, such as a truth that is none of the options.
    """
    fields = []
    for item in draft.fields:
        options = item.options if item.type == "literal" else None
        if options is not None and item.ground_truth not in options:
            raise ValueError(f"Field {item.name}: the ground truth {item.ground_truth!r} is none of its options.")
        fields.append(
            FieldSpec.model_validate(
                {**item.model_dump(exclude={"options"}), "literal_values": options, "verify_with": _RULES[item.type]}
            )
        )
    return write_template(TemplateSpec(fields=fields))


def self_test(source: str) -> None:
    """Check that the template accepts its own truth.

    Raises:
        ValueError: It does not; a person has to look at it.
    """
    template = read_template(source)
    truth = {field.name: field.ground_truth for field in template.spec.fields}
    evaluation = template.evaluate(template.validate_reply(truth), "")
    wrong = [item.name for item in evaluation.fields if item.result is False]
    if wrong:
        raise ValueError(f"The truth fails its own rule in field {', '.join(wrong)}.")


@dataclass
class _Drafting:
    """What a model has proposed for one question so far.

    Attributes:
        doubtful: The last proposal that could be read but failed its self-test: source, plan, and what failed.
    """

    doubtful: tuple[str, str, str] | None = None

    def accept(self, data: Any) -> tuple[str, str]:
        """Return the tested source that a reply proposes, and its plan.

        Raises:
            ValueError: With a message the model is shown when it is asked again.
        """
        try:
            draft = Draft.model_validate(data)
            source = render(draft)
        except KareninaError as error:
            raise ValueError(str(error)) from error
        try:
            self_test(source)
        except ValueError as error:
            self.doubtful = source, draft.plan, str(error)
            raise ValueError(str(error)) from error
        return source, draft.plan


def messages(question: Question) -> tuple[Message, ...]:
    """Return what the drafting model is sent; it is the only one that sees the reference answer."""
    system = (
        "You design how an answer to a question is checked. First plan: say in one or two sentences what a response "
        "must say to be right. Then propose one to three fields that a reader could fill "
        "from any response to the question, and the value each has in the correct answer. Prefer a boolean that "
        "says whether the response identifies the right thing; use int or float for numbers, literal for few "
        "categories, list_str for sets of items, date for dates, and str only for short names. A description says "
        "what to look for in the response and never gives the correct value away, except in a boolean's question."
    )
    notes = f"\n\nNotes: {question.answer_notes}" if question.answer_notes else ""
    user = f"Question: {question.question}\n\nReference answer: {question.raw_answer}{notes}"
    return (Message("system", system), Message("user", user))


def draft_request(model: ModelConfig, question_id: str, question: Question) -> ChatRequest:
    """Return the call that drafts the template of a question."""
    return ChatRequest(
        purpose="generate_template",
        messages=messages(question),
        subject=Subject(question_id, question.question, model.id),
        schema=Draft.model_json_schema(),
        timeout=model.request_timeout or 120,
    )


def to_draft(
    benchmark: Benchmark, question_ids: Sequence[str] | None = None, *, force_regenerate: bool = False
) -> list[str]:
    """Return the questions whose template would be drafted: those without one, or all of them when forced."""
    ids = question_ids if question_ids is not None else benchmark.get_question_ids()
    return [name for name in ids if force_regenerate or not benchmark.has_template(name)]


async def generate_template(
    caller: ModelCaller, model: ModelConfig, question_id: str, question: Question
) -> GeneratedTemplate:
    """Draft the template of one question; failures are reported, not raised.

    The model plans, and proposes fields with their descriptions; code writes the source and tests it. A proposal that
    fails its self-test also when the model is asked again is kept, and says so in its review.
    """
    drafting = _Drafting()
    reservations: tuple[str, ...] = ()
    try:
        (source, plan), _ = await caller.complete_json(
            model, draft_request(model, question_id, question), drafting.accept
        )
    except KareninaError as error:
        category = error.category if isinstance(error, ModelError) else None
        if drafting.doubtful is None or category != "invalid_output":
            return GeneratedTemplate(question_id, error=str(error), category=category)
        source, plan, failed = drafting.doubtful
        reservations = (f"The self-test failed: {failed}",)
    reviewed = review(
        source,
        question=question.question,
        reference_answer=question.raw_answer,
        notes=question.answer_notes,
        reservations=reservations,
    )
    return GeneratedTemplate(question_id, source, review=reviewed, plan=plan)


def generate_all_templates(
    benchmark: Benchmark,
    model_config: ModelConfig,
    *,
    question_ids: Sequence[str] | None = None,
    force_regenerate: bool = False,
    services: CallServices | None = None,
    progress_callback: Callable[[float, str], None] | None = None,
    clients: Callable[[ModelConfig], ModelClient] = make_client,
) -> Mapping[str, GeneratedTemplate]:
    """Draft templates for questions that have none, and add them to the benchmark.

    A draft that does not hold up in its self-test is marked for review, and its question made unfinished.

    `karenina_core.runs.generate_all_templates` does the same within the budgets of a store, which
    remembers the calls.

    Args:
        benchmark: Gets the new templates.
        model_config: The drafting model.
        question_ids: Only these questions.
        force_regenerate: Replace existing templates too.
        services: What the calls depend on; a `ModelError` of the budget leaves the question without a template. When
            not given, calls are remembered in memory, and four are in flight at once.
        progress_callback: Called with percent (0 to 100) and a line of text after every question.
        clients: Makes the client for a model.

    Returns:
        What became of every question, by id.
    """
    ids = list(question_ids if question_ids is not None else benchmark.get_question_ids())
    drafted = set(to_draft(benchmark, ids, force_regenerate=force_regenerate))
    results: dict[str, GeneratedTemplate] = {}

    async def one(caller: ModelCaller, question_id: str) -> None:
        if question_id not in drafted:
            results[question_id] = GeneratedTemplate(question_id, benchmark.get_template(question_id), skipped=True)
        else:
            question = benchmark.get_question_as_object(question_id)
            results[question_id] = await generate_template(caller, model_config, question_id, question)
        if progress_callback:
            progress_callback(100 * len(results) / len(ids), f"{len(results)} of {len(ids)} templates")

    async def everything() -> None:
        caller = ModelCaller(services or CallServices(MemoryLedger(), RunLimiter(4)), clients)
        try:
            await asyncio.gather(*(one(caller, question_id) for question_id in ids))
        finally:
            await caller.aclose()

    run_in_thread(everything)
    for question_id, made in results.items():
        if made.source and not made.skipped:
            add_draft(benchmark, question_id, made.source, made.review)
    return {question_id: results[question_id] for question_id in ids}


def run_in_thread(work: Callable[[], Any]) -> None:
    """Run a coroutine function to its end, also where an event loop is running already."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(work())).result()
