"""Stage 6: ask the judge whether the response holds what the template asks for."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from karenina_core.errors import ModelError
from karenina_core.pipeline.context import Context
from karenina_core.pipeline.judging import ask_judge
from karenina_core.pipeline.prompts import sufficiency_messages
from karenina_core.pipeline.stage import Skip, Stage, failure_of
from karenina_core.schemas.results import GuardPart

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "description": "one sentence"},
        "sufficient": {"type": "boolean", "description": "whether every field could be filled"},
    },
    "required": ["reasoning", "sufficient"],
    "additionalProperties": False,
}


class SufficiencyReply(BaseModel):
    """The judge's reply."""

    reasoning: str = ""
    sufficient: bool


class SufficiencyCheck(Stage):
    name = "sufficiency_check"
    requires = frozenset({"answer", "template"})
    produces = frozenset({"sufficiency"})

    async def run(self, context: Context) -> None:
        if not context.config.sufficiency_enabled:
            raise Skip("not enabled in the configuration")
        if context.template is None or not context.template.needs_judge:
            raise Skip("no field is extracted by a judge")
        prompts = context.config.prompt_config
        extra = prompts.sufficiency_detection if prompts else None
        fields = "\n".join(
            f"- {name}: {field.get('description', '')}"
            for name, field in context.template.judge_schema()["properties"].items()
        )
        try:
            reply, calls = await ask_judge(
                context,
                "sufficiency",
                lambda question, response: sufficiency_messages(question, response, fields, extra),
                SCHEMA,
                SufficiencyReply.model_validate,
            )
        except ModelError as error:
            context.sufficiency = GuardPart(performed=False, reasoning=str(error))
            context.warnings.append(f"The sufficiency check was not performed: {error}")
            return
        context.sufficiency = GuardPart(
            performed=True, detected=reply.sufficient, reasoning=reply.reasoning, call=calls[-1]
        )
        if not reply.sufficient:
            context.failure = failure_of(
                self.name, "sufficiency", reply.reasoning or "The response does not hold what the template asks for."
            )
