"""Stages 5 and 6: ask the judge one question about the response before it is judged."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel

from karenina_core.errors import ModelError
from karenina_core.models import Message
from karenina_core.pipeline.prompts import abstention_messages, sufficiency_messages
from karenina_core.pipeline.stage import Context, Skip, Stage, ask_judge, failure_of, fitting
from karenina_core.schemas import GuardPart
from karenina_core.templates import Template


class AbstentionReply(BaseModel):
    """What the judge replies about a response that may decline to answer."""

    reasoning: str = ""
    abstained: bool


class SufficiencyReply(BaseModel):
    """What the judge replies about a response that may not hold enough."""

    reasoning: str = ""
    sufficient: bool


def guard_schema(name: str, description: str) -> dict[str, Any]:
    """Return the JSON schema of a reply.

    Args:
        name: The field that is true or false.
        description: What it means.
    """
    return {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string", "description": "one sentence"},
            name: {"type": "boolean", "description": description},
        },
        "required": ["reasoning", name],
        "additionalProperties": False,
    }


class _Guard(Stage):
    """What both guards do. One that could not be asked does not cost the evaluation.

    Attributes:
        guard: Purpose of its calls, category of its failure, and where its outcome is kept.
        form: The form of the reply, with a field for what is asked.
        field: That field.
        schema: The JSON schema of the reply.
        stops: The value of the field that ends the evaluation.
        reason: Why it ended, where the judge gives no reason.
    """

    asks_judge = True
    guard: ClassVar[Literal["abstention", "sufficiency"]]
    form: ClassVar[type[AbstentionReply] | type[SufficiencyReply]]
    field: ClassVar[str]
    schema: ClassVar[dict[str, Any]]
    stops: ClassVar[bool]
    reason: ClassVar[str]

    def messages(self, context: Context, question: str, response: str) -> tuple[Message, ...]:
        """Return what the judge is sent."""
        raise NotImplementedError

    async def run(self, context: Context) -> None:
        if not getattr(context.config, f"{self.guard}_enabled"):
            raise Skip("not enabled in the configuration")
        if "template" in self.requires and (context.template is None or not context.template.needs_judge):
            raise Skip("no field is extracted by a judge")
        try:
            reply, calls = await ask_judge(
                context,
                self.guard,
                lambda question, response: self.messages(context, question, response),
                self.schema,
                fitting(self.form),
            )
        except ModelError as error:
            context.warnings.append(f"The {self.guard} check was not performed: {error}")
            setattr(context, self.guard, GuardPart(performed=False, reasoning=str(error)))
            return
        detected = getattr(reply, self.field)
        part = GuardPart(performed=True, detected=detected, reasoning=reply.reasoning, call=calls[-1])
        setattr(context, self.guard, part)
        if detected is self.stops:
            context.failure = failure_of(self.name, self.guard, reply.reasoning or self.reason)


class AbstentionCheck(_Guard):
    """Ask whether the response declines to answer."""

    name = "abstention_check"
    requires = frozenset({"answer"})
    produces = frozenset({"abstention"})
    guard = "abstention"
    form, field = AbstentionReply, "abstained"
    schema = guard_schema("abstained", "whether the response declines to answer")
    stops, reason = True, "The response declines to answer."

    def messages(self, context: Context, question: str, response: str) -> tuple[Message, ...]:
        return abstention_messages(question, response, context.instructions("abstention_detection"))


class SufficiencyCheck(_Guard):
    """Ask whether the response holds what the template asks for."""

    name = "sufficiency_check"
    requires = frozenset({"answer", "template"})
    produces = frozenset({"sufficiency"})
    guard = "sufficiency"
    form, field = SufficiencyReply, "sufficient"
    schema = guard_schema("sufficient", "whether every field could be filled")
    stops, reason = False, "The response does not hold what the template asks for."

    def messages(self, context: Context, question: str, response: str) -> tuple[Message, ...]:
        fields = _described_fields(context.template) if context.template else ""
        return sufficiency_messages(question, response, fields, context.instructions("sufficiency_detection"))


def _described_fields(template: Template) -> str:
    fields = template.judge_schema()["properties"]
    return "\n".join(f"- {name}: {field.get('description', '')}" for name, field in fields.items())
