"""Stage 8: deterministic rules compare the extracted values with the truth."""

from __future__ import annotations

import asyncio

from karenina_core.errors import InputError, TemplateError
from karenina_core.pipeline.context import Context
from karenina_core.pipeline.stage import Skip, Stage, StageFailure


class VerifyTemplate(Stage):
    name = "verify_template"
    requires = frozenset({"answer", "template", "values"})
    produces = frozenset({"evaluation"})

    async def run(self, context: Context) -> None:
        template, values, answer = context.template, context.values, context.answer
        if template is None or values is None or answer is None:
            raise Skip("there is nothing to verify")
        try:
            if template.is_quick:
                context.evaluation = template.evaluate(values, answer.text)
            else:
                # Own code waits for a sandbox worker, and patterns may use up their time; the loop goes on meanwhile.
                context.evaluation = await asyncio.to_thread(template.evaluate, values, answer.text)
        except TemplateError as error:
            raise StageFailure("template_execution", str(error), error.line) from error
        except InputError as error:
            raise StageFailure("template_execution", str(error)) from error
