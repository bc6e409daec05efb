"""What both guards do: ask the judge one question about a response before it is judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from karenina_core.errors import ModelError
from karenina_core.models import Message
from karenina_core.pipeline.context import Context
from karenina_core.pipeline.judging import ask_judge
from karenina_core.schemas import GuardPart


class GuardReply(BaseModel):
    """The judge's reply, with a field of its own for what was found."""

    reasoning: str = ""


AnyReply = TypeVar("AnyReply", bound=GuardReply)


def guard_schema(found: str, description: str) -> dict[str, Any]:
    """Return the JSON schema of a reply.

    Args:
        found: Name of the field that is true or false.
        description: What it means.
    """
    return {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string", "description": "one sentence"},
            found: {"type": "boolean", "description": description},
        },
        "required": ["reasoning", found],
        "additionalProperties": False,
    }


async def ask_guard(
    context: Context,
    guard: Literal["abstention", "sufficiency"],
    messages: Callable[[str, str], tuple[Message, ...]],
    schema: dict[str, Any],
    read: Callable[[Any], AnyReply],
    detected: Callable[[AnyReply], bool],
) -> GuardPart:
    """Return what the judge says of the response; where it could not be asked, that, with a warning.

    Args:
        context: The evaluation; its answer must exist.
        guard: Which of the two.
        messages: Builds the prompt from the question and the response text.
        schema: JSON schema of the reply.
        read: Turns the JSON into a reply, or raises ValueError.
        detected: What the reply says.
    """
    try:
        reply, calls = await ask_judge(context, guard, messages, schema, read)
    except ModelError as error:
        # A guard that could not be asked must not cost the evaluation.
        context.warnings.append(f"The {guard} check was not performed: {error}")
        return GuardPart(performed=False, reasoning=str(error))
    return GuardPart(performed=True, detected=detected(reply), reasoning=reply.reasoning, call=calls[-1])
