"""Stages 11 and 12: describe the quality of the response by its traits.

Patterns are evaluated first and kept whatever the judge does; a trait that could not be evaluated carries its own
error. `TraitScorer` evaluates one trait over a response that is there already.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from karenina_core.errors import InputError, ModelError
from karenina_core.models import ModelCaller, load_embedder
from karenina_core.pipeline import metrics
from karenina_core.pipeline.prompts import metric_messages, rubric_messages
from karenina_core.pipeline.stage import Context, Skip, Stage, ask_judge, fitting, unusable_replies
from karenina_core.schemas import (
    AnswerPart,
    AnyTrait,
    ManualRubricTrait,
    MetricRubricTrait,
    ModelConfig,
    PromptConfig,
    RubricPart,
    RubricTrait,
    StoredTrait,
    VerificationConfig,
)
from karenina_core.schemas.entities.question import Question
from karenina_core.text import first_free

_MAX_REASON = 2_000


class RubricEvaluation(Stage):
    """Evaluate all traits; they describe the answer, also where the template could not be filled."""

    name = "rubric_evaluation"
    requires = frozenset({"answer"})
    produces = frozenset({"rubric"})
    asks_judge = True
    needs_answer_only = True

    async def run(self, context: Context) -> None:
        if not context.runs_rubric:
            raise Skip("there is no rubric" if not context.traits else "the run evaluates templates only")
        context.rubric.provenance = {trait.name: provenance for trait, provenance in context.traits}
        await evaluate_traits(context, [trait for trait, _ in context.traits])


class DeepJudgmentRubricAutofail(Stage):
    """Fail answers whose trait values have no excerpt behind them."""

    name = "deep_judgment_rubric_autofail"
    off = "deep judgment (an excerpt for every trait value) is not part of this version"


async def evaluate_traits(context: Context, traits: Sequence[AnyTrait]) -> None:
    """Evaluate traits of every kind, and note their outcome on the context's rubric."""
    part = context.rubric
    part.performed = True
    response = context.answer.text if context.answer else ""
    for trait in traits:
        if isinstance(trait, StoredTrait):
            part.errors[trait.name] = f"Not evaluated: {trait.reason}."
    searched = [trait for trait in traits if isinstance(trait, ManualRubricTrait)]
    if searched:
        await asyncio.to_thread(search, part, searched, response)
    await _assess(context, [trait for trait in traits if isinstance(trait, RubricTrait)])
    for trait in traits:
        if isinstance(trait, MetricRubricTrait):
            await _measure(context, trait)


def search(part: RubricPart, traits: Sequence[ManualRubricTrait], response: str) -> None:
    """Evaluate pattern traits."""
    for trait in traits:
        try:
            part.regex[trait.name] = trait.evaluate(response)
        except InputError as error:
            part.errors[trait.name] = str(error)


async def _measure(context: Context, trait: MetricRubricTrait) -> None:
    """Evaluate a metric trait: the judge extracts, the code counts."""
    part, extra = context.rubric, context.instructions("rubric_evaluation")
    try:
        reply, calls = await ask_judge(
            context,
            "metric",
            lambda question, response: metric_messages(question, response, trait, extra),
            metrics.items_schema(trait),
            fitting(metrics.ExtractedItems),
            part=trait.name,
        )
    except ModelError as error:
        part.errors[trait.name] = str(error)
        part.calls += unusable_replies(error)
        return
    part.calls += calls
    part.metrics[trait.name], part.confusion[trait.name] = metrics.evaluate(trait, reply.items)


# Traits a judge assesses: one call for all of them, or one call each


class Assessment(BaseModel):
    """The judge's reply for one trait."""

    model_config = ConfigDict(extra="ignore", strict=True)

    reason: str = ""
    value: bool | int | float | str


def trait_keys(traits: Sequence[RubricTrait]) -> dict[str, RubricTrait]:
    """Give every trait a short key that providers accept as a JSON property name."""
    keyed: dict[str, RubricTrait] = {}
    for trait in traits:
        base = re.sub(r"[^a-z0-9]+", "_", trait.name.lower()).strip("_") or "trait"
        key = first_free(partial("{}_{}".format, base), keyed, start=2) if base in keyed else base
        keyed[key] = trait
    return keyed


def _assessment_schema(trait: RubricTrait) -> dict[str, Any]:
    if trait.is_binary:
        value: dict[str, Any] = {"type": "boolean"}
    elif trait.kind == "literal":
        value = {"type": "string", "enum": list(trait.classes or {})}
    else:
        value = {"type": "integer", "minimum": trait.min_score, "maximum": trait.max_score}
    return _closed({"reason": {"type": "string", "description": "one sentence"}, "value": value})


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


async def _assess(context: Context, traits: Sequence[RubricTrait]) -> None:
    """Ask the judge for all traits and note values, reasons and errors."""
    missing = list(traits)
    if traits and context.config.rubric_evaluation_strategy != "sequential":
        await _ask(context, trait_keys(traits), "")
        # A judge may leave some out; only those are asked for again.
        missing = [trait for trait in traits if trait.name in context.rubric.errors]
        missing = missing if len(missing) < len(traits) else []
    for trait in missing:
        await _ask(context, {"": trait}, trait.name)


async def _ask(context: Context, keyed: dict[str, RubricTrait], part: str) -> None:
    single = "" in keyed
    shown = [(key or "value", trait) for key, trait in keyed.items()]
    properties = {key: _assessment_schema(trait) for key, trait in keyed.items()}
    extra = context.instructions("rubric_evaluation")
    try:
        reply, calls = await ask_judge(
            context,
            "rubric",
            lambda question, response: rubric_messages(question, response, shown, extra),
            properties[""] if single else _closed(properties),
            _an_object,
            part=part,
        )
    except ModelError as error:
        for trait in keyed.values():
            context.rubric.errors[trait.name] = str(error)
        context.rubric.calls += unusable_replies(error)
        return
    context.rubric.calls += calls
    for key, trait in keyed.items():
        _note(context.rubric, trait, reply if single else reply.get(key))


def _an_object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError("The reply must be one JSON object.")
    return data


def _note(part: RubricPart, trait: RubricTrait, data: Any) -> None:
    """Store one trait's value, or why there is none; values out of range are refused, never clamped."""
    part.errors.pop(trait.name, None)
    if data is None:
        part.errors[trait.name] = "The judge gave no value."
        return
    try:
        assessment = Assessment.model_validate(data)
        value, label = _typed(trait, assessment.value)
    except ValidationError:
        part.errors[trait.name] = "The judge's reply for this trait is not of the requested form."
    except ValueError as error:
        part.errors[trait.name] = str(error)
    else:
        part.scores[trait.name] = value
        if label is not None:
            part.labels[trait.name] = label
        if assessment.reason:
            part.reasons[trait.name] = assessment.reason[:_MAX_REASON]


def _typed(trait: RubricTrait, value: bool | int | float | str) -> tuple[int | bool, str | None]:
    shown = f"{value:g}" if isinstance(value, float) and value.is_integer() else repr(value)
    answered = f"The judge answered {shown if len(shown) <= 80 else f'{shown[:80]}…'}"
    if trait.is_binary:
        if not isinstance(value, bool):
            raise ValueError(f"{answered} where true or false was asked for.")
        return value, None
    if trait.kind == "literal":
        classes = list(trait.classes or {})
        if value not in classes:
            raise ValueError(f"{answered}, which is none of {', '.join(classes)}.")
        return classes.index(str(value)), str(value)
    if isinstance(value, bool | str) or value % 1 != 0:  # an infinity has no remainder
        raise ValueError(f"{answered} where a whole number was asked for.")
    if not trait.min_score <= value <= trait.max_score:
        raise ValueError(f"{answered}, outside {trait.min_score} to {trait.max_score}.")
    return int(value), None


# One trait over one response that is there already: no model under test is asked, at most one judge


@dataclass(frozen=True)
class Sample:
    """A response to assess.

    Attributes:
        question: What was asked.
        response: What was answered.
        question_id: The question, where it is a stored one.
        answering_model: Label of the model that answered.
        replicate: Repetition, counted from 1.
    """

    question: str
    response: str = field(repr=False)
    question_id: str = ""
    answering_model: str = ""
    replicate: int = 1


def needs_judge(trait: AnyTrait) -> bool:
    """Say whether a model has to be asked for a trait."""
    return isinstance(trait, RubricTrait | MetricRubricTrait)


class TraitScorer:
    """Assesses responses by one trait.

    Args:
        trait: What is assessed.
        caller: The way to the judges.
        prompts: Extra instructions for the judge.
        timeout: Seconds for one attempt of one call.
    """

    def __init__(
        self, trait: AnyTrait, caller: ModelCaller, prompts: PromptConfig | None = None, timeout: float = 120
    ) -> None:
        self._trait = trait
        self._caller = caller
        # Checked by whoever gave its parts; a whole one would need models that are not known here.
        self._config = VerificationConfig.model_construct(
            answering_models=[],
            parsing_models=[],
            rubric_evaluation_strategy="sequential",
            prompt_config=prompts,
            request_timeout=timeout,
        )

    async def score(self, sample: Sample, judge: ModelConfig | None = None) -> RubricPart:
        """Return the outcome of the trait, with its calls; what went wrong is an error of the trait.

        Args:
            sample: The response.
            judge: Who assesses it; patterns need none.
        """
        if judge is None and needs_judge(self._trait):
            raise ValueError("This trait needs a judge.")
        context = Context(
            question=Question.model_construct(question=sample.question, raw_answer=""),
            question_id=sample.question_id,
            traits=[],
            config=self._config,
            caller=self._caller,
            load_embedder=load_embedder,
            answering=ModelConfig.model_construct(id=sample.answering_model),
            replicate=sample.replicate,
            parsing=judge,
            answer=AnswerPart(text=sample.response),
        )
        await evaluate_traits(context, [self._trait])
        return context.rubric
