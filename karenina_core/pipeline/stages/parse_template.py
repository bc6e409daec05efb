"""Stage 7: the judge fills the template's schema; it never sees the truth."""

from __future__ import annotations

from karenina_core.models import InvalidOutputError
from karenina_core.pipeline.context import Context
from karenina_core.pipeline.judging import ask_judge
from karenina_core.pipeline.prompts import parse_messages
from karenina_core.pipeline.stage import Skip, Stage, StageFailure


class ParseTemplate(Stage):
    name = "parse_template"
    requires = frozenset({"answer", "template"})
    produces = frozenset({"values"})

    async def run(self, context: Context) -> None:
        template = context.template
        if template is None:
            raise Skip("no answer template")
        if not template.needs_judge:
            context.values = {}
            raise Skip("every field reads the response text itself; no judge is needed")
        config = context.config
        hints = template.extraction_hints if config.include_extraction_hints else {}
        extra = config.prompt_config.parsing if config.prompt_config else None
        try:
            context.values, context.parse_calls = await ask_judge(
                context,
                "parse",
                lambda question, response: parse_messages(question, response, hints, extra),
                template.shared_schema,
                template.validate_reply,
            )
        except InvalidOutputError as error:
            context.parse_calls = error.records
            raise StageFailure("parsing", str(error)) from error
