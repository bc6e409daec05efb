"""Asking the judge about one response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from karenina_core.errors import ModelError
from karenina_core.models import ChatRequest, InvalidOutputError, Message, Purpose, Subject
from karenina_core.pipeline.context import Context
from karenina_core.schemas import CallRecord

T = TypeVar("T")


async def ask_judge(
    context: Context,
    purpose: Purpose,
    messages: Callable[[str, str], tuple[Message, ...]],
    schema: dict[str, Any],
    validate: Callable[[Any], T],
    part: str = "",
) -> tuple[T, list[CallRecord]]:
    """Ask the judge for JSON about the response.

    Args:
        context: The evaluation; its answer must exist.
        purpose: What the reply is for.
        messages: Builds the prompt from the question and the response text.
        schema: JSON schema of the reply.
        validate: Turns the JSON into a value, or raises ValueError with a message the judge is shown.
        part: Trait name, for calls about one trait.

    Raises:
        ModelError: The judge could not be asked, or kept replying with something else.
    """
    if context.answer is None:
        raise RuntimeError("There is no answer to judge.")
    judge, question, response = context.judge, context.question.question, context.answer.text
    request = ChatRequest(
        purpose=purpose,
        messages=with_own_prompt(judge.system_prompt, messages(question, response)),
        subject=Subject(
            context.question_id, question, context.answering.id, context.replicate, part=part, response=response
        ),
        schema=schema,
        timeout=judge.request_timeout or context.config.request_timeout,
    )
    return await context.services.caller.complete_json(judge, request, validate)


def with_own_prompt(own: str | None, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Put a judge's configured system prompt before the task."""
    if not own:
        return messages
    first, *rest = messages
    return (Message(first.role, f"{own}\n\n{first.content}"), *rest)


def unusable_replies(error: ModelError) -> list[CallRecord]:
    """Return the calls behind an error, as evidence: replies that did not fit the schema."""
    return error.records if isinstance(error, InvalidOutputError) else []
