"""Stage 5: ask the judge whether the response declines to answer."""

from __future__ import annotations

from karenina_core.pipeline.context import Context
from karenina_core.pipeline.fitting import fitting
from karenina_core.pipeline.guard import GuardReply, ask_guard, guard_schema
from karenina_core.pipeline.prompts import abstention_messages
from karenina_core.pipeline.stage import Skip, Stage, failure_of

SCHEMA = guard_schema("abstained", "whether the response declines to answer")


class AbstentionReply(GuardReply):
    """The judge's reply."""

    abstained: bool


class AbstentionCheck(Stage):
    name = "abstention_check"
    requires = frozenset({"answer"})
    produces = frozenset({"abstention"})

    async def run(self, context: Context) -> None:
        if not context.config.abstention_enabled:
            raise Skip("not enabled in the configuration")
        prompts = context.config.prompt_config
        extra = prompts.abstention_detection if prompts else None
        part = await ask_guard(
            context,
            "abstention",
            lambda question, response: abstention_messages(question, response, extra),
            SCHEMA,
            fitting(AbstentionReply),
            lambda reply: reply.abstained,
        )
        context.abstention = part
        if part.detected:
            context.failure = failure_of(self.name, "abstention", part.reasoning or "The response declines to answer.")
