"""Stage 6: ask the judge whether the response holds what the template asks for."""

from __future__ import annotations

from karenina_core.pipeline.context import Context
from karenina_core.pipeline.fitting import fitting
from karenina_core.pipeline.guard import GuardReply, ask_guard, guard_schema
from karenina_core.pipeline.prompts import sufficiency_messages
from karenina_core.pipeline.stage import Skip, Stage, failure_of

SCHEMA = guard_schema("sufficient", "whether every field could be filled")


class SufficiencyReply(GuardReply):
    """The judge's reply."""

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
        part = await ask_guard(
            context,
            "sufficiency",
            lambda question, response: sufficiency_messages(question, response, fields, extra),
            SCHEMA,
            fitting(SufficiencyReply),
            lambda reply: reply.sufficient,
        )
        context.sufficiency = part
        if part.detected is False:
            context.failure = failure_of(
                self.name, "sufficiency", part.reasoning or "The response does not hold what the template asks for."
            )
