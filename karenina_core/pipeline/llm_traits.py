"""Traits a judge assesses: one call for all of them, or one call each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from karenina_core.errors import ModelError
from karenina_core.pipeline.context import Context
from karenina_core.pipeline.judging import ask_judge, unusable_replies
from karenina_core.pipeline.prompts import rubric_messages
from karenina_core.schemas import RubricPart, RubricTrait
from karenina_core.text import first_free

_MAX_REASON = 2_000


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


def value_schema(trait: RubricTrait) -> dict[str, Any]:
    """Return the JSON schema of a trait's value."""
    if trait.is_binary:
        return {"type": "boolean"}
    if trait.kind == "literal":
        return {"type": "string", "enum": list(trait.classes or {})}
    return {"type": "integer", "minimum": trait.min_score, "maximum": trait.max_score}


def assessment_schema(trait: RubricTrait) -> dict[str, Any]:
    """Return the JSON schema of the reply for one trait."""
    properties = {"reason": {"type": "string", "description": "one sentence"}, "value": value_schema(trait)}
    return {"type": "object", "properties": properties, "required": ["reason", "value"], "additionalProperties": False}


async def assess(context: Context, traits: Sequence[RubricTrait]) -> None:
    """Ask the judge for all traits and note values, reasons and errors on the context's rubric."""
    if not traits:
        return
    if context.config.rubric_evaluation_strategy == "sequential":
        for trait in traits:
            await _ask(context, {"": trait}, trait.name)
        return
    await _ask(context, trait_keys(traits), "")
    # A judge may leave some out; only those are asked for again.
    missing = [trait for trait in traits if trait.name in context.rubric.errors]
    if missing and len(missing) < len(traits):
        for trait in missing:
            await _ask(context, {"": trait}, trait.name)


async def _ask(context: Context, keyed: dict[str, RubricTrait], part: str) -> None:
    single = "" in keyed
    shown = [(key or "value", trait) for key, trait in keyed.items()]
    properties = {key: assessment_schema(trait) for key, trait in keyed.items()}
    batch = {"type": "object", "properties": properties, "required": list(keyed), "additionalProperties": False}
    prompts = context.config.prompt_config
    extra = prompts.rubric_evaluation if prompts else None
    try:
        reply, calls = await ask_judge(
            context,
            "rubric",
            lambda question, response: rubric_messages(question, response, shown, extra),
            properties[""] if single else batch,
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
        note(context.rubric, trait, reply if single else reply.get(key))


def _an_object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError("The reply must be one JSON object.")
    return data


def note(part: RubricPart, trait: RubricTrait, data: Any) -> None:
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
    if trait.is_binary:
        if not isinstance(value, bool):
            raise ValueError(f"The judge answered {_short(value)} where true or false was asked for.")
        return value, None
    if trait.kind == "literal":
        classes = list(trait.classes or {})
        if value not in classes:
            raise ValueError(f"The judge answered {_short(value)}, which is none of {', '.join(classes)}.")
        return classes.index(str(value)), str(value)
    if isinstance(value, bool | str) or value % 1 != 0:  # an infinity has no remainder
        raise ValueError(f"The judge answered {_short(value)} where a whole number was asked for.")
    if not trait.min_score <= value <= trait.max_score:
        raise ValueError(f"The judge answered {_short(value)}, outside {trait.min_score} to {trait.max_score}.")
    return int(value), None


def _short(value: bool | int | float | str) -> str:
    if isinstance(value, float) and value.is_integer():
        return f"{value:g}"
    return shown if len(shown := repr(value)) <= 80 else f"{shown[:80]}…"
