"""Stage 5: ask the judge whether the response declines to answer."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from karenina_core.errors import ModelError
from karenina_core.pipeline.context import Context
from karenina_core.pipeline.judging import ask_judge
from karenina_core.pipeline.prompts import abstention_messages
from karenina_core.pipeline.stage import Skip, Stage, failure_of
from karenina_core.schemas.results import GuardPart

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "description": "one sentence"},
        "abstained": {"type": "boolean", "description": "whether the response declines to answer"},
    },
    "required": ["reasoning", "abstained"],
    "additionalProperties": False,
}


class AbstentionReply(BaseModel):
    """The judge's reply."""

    reasoning: str = ""
    abstained: bool


class AbstentionCheck(Stage):
    name = "abstention_check"
    requires = frozenset({"answer"})
    produces = frozenset({"abstention"})

    async def run(self, context: Context) -> None:
        if not context.config.abstention_enabled:
            raise Skip("not enabled in the configuration")
        prompts = context.config.prompt_config
        try:
            reply, calls = await ask_judge(
                context,
                "abstention",
                lambda question, response: abstention_messages(
                    question, response, prompts.abstention_detection if prompts else None
                ),
                SCHEMA,
                AbstentionReply.model_validate,
            )
        except ModelError as error:
            # A guard that could not be asked must not cost the evaluation.
            context.abstention = GuardPart(performed=False, reasoning=str(error))
            context.warnings.append(f"The abstention check was not performed: {error}")
            return
        context.abstention = GuardPart(
            performed=True, detected=reply.abstained, reasoning=reply.reasoning, call=calls[-1]
        )
        if reply.abstained:
            context.failure = failure_of(self.name, "abstention", reply.reasoning or "The response declines to answer.")
