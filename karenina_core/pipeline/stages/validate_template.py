"""Stage 1: read the answer template; nothing is sent to a model when it cannot be used."""

from __future__ import annotations

from karenina_core.errors import TemplateError
from karenina_core.pipeline.context import Context
from karenina_core.pipeline.stage import Skip, Stage, StageFailure
from karenina_core.templates import read_template


class ValidateTemplate(Stage):
    name = "validate_template"
    produces = frozenset({"template"})

    async def run(self, context: Context) -> None:
        if not context.runs_template:
            raise Skip("the run evaluates rubrics only")
        source = context.question.answer_template
        if not source or not source.strip():
            if context.runs_rubric:
                raise Skip("the question has no answer template; its rubric is still evaluated")
            raise StageFailure("no_template", "The question has no answer template and no rubric, so nothing decides.")
        try:
            context.template = read_template(source)
        except TemplateError as error:
            raise StageFailure("template_validation", str(error), error.line) from error
        context.warnings += context.template.warnings
