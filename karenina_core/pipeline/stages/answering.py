"""Stages 1 to 4, which need no judge: read the answer template, ask the model under test, look at its transcript."""

from __future__ import annotations

import asyncio

from karenina_core.errors import TemplateError
from karenina_core.models import MAX_REPLY, ChatRequest, Subject
from karenina_core.pipeline.prompts import addresses_grader, answer_messages
from karenina_core.pipeline.stage import Context, Skip, Stage, StageFailure
from karenina_core.schemas import AnswerPart, built
from karenina_core.templates import read_template

_LONG = 4_000  # characters; longer texts take a while to search, and the loop goes on meanwhile


class ValidateTemplate(Stage):
    """Read the answer template; nothing is sent to a model when it cannot be used."""

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


class GenerateAnswer(Stage):
    """Ask the model under test."""

    name = "generate_answer"
    produces = frozenset({"answer"})

    async def run(self, context: Context) -> None:
        model, config = context.answering, context.config
        request = ChatRequest(
            purpose="answer",
            messages=answer_messages(context.question, context.question_id, model, config.few_shot_config),
            subject=Subject(context.question_id, context.question.question, model.id, context.replicate),
            timeout=model.request_timeout or config.request_timeout,
        )
        reply, record = await context.caller.complete(model, request)
        text = reply.text
        truncated = reply.finish_reason == "length"
        if not text.strip():
            before = " before it reached its token limit (max_tokens)" if truncated else ""
            raise StageFailure("truncated" if truncated else "empty", f"The model returned no text{before}.")
        if len(text) >= MAX_REPLY:
            context.warnings.append(f"The answer was cut off after {MAX_REPLY:,} characters.")
        elif truncated:
            context.warnings.append("The answer was cut off at the token limit (max_tokens).")
        fields = context.template.judged_names if context.template else ()
        if len(text) <= _LONG:
            addressed = addresses_grader(text, fields)
        else:
            addressed = await asyncio.to_thread(addresses_grader, text, fields)
        if addressed:
            context.warnings.append("The answer seems to address the judge; review this result.")
        context.answer = built(
            AnswerPart,
            text=text,
            finish_reason=reply.finish_reason,
            truncated=truncated,
            addresses_judge=addressed,
            call=record,
        )


class RecursionLimitAutofail(Stage):
    """Fail an agent that ran into its turn limit."""

    name = "recursion_limit_autofail"
    requires = frozenset({"answer"})
    off = "answers are single messages; agents are not run in this version"


class TraceValidationAutofail(Stage):
    """Fail an agent's transcript that does not end with the assistant's own message."""

    name = "trace_validation_autofail"
    requires = frozenset({"answer"})
    off = "answers are single messages; agent transcripts are not produced in this version"
