"""Stages 1 to 4, which need no judge: read the answer template, ask the model under test, look at its transcript."""

from __future__ import annotations

import asyncio

from karenina_core.agents import AgentOutcome, answer_as_agent, commands_allowed, open_workspace
from karenina_core.errors import InputError, TemplateError
from karenina_core.models import MAX_REPLY, ChatRequest, Subject
from karenina_core.pipeline.prompts import addresses_grader, answer_messages
from karenina_core.pipeline.stage import Context, Skip, Stage, StageFailure
from karenina_core.schemas import AnswerPart, FileChange, built
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
    """Ask the model under test, or let it work as an agent in the question's workspace."""

    name = "generate_answer"
    produces = frozenset({"answer"})

    async def run(self, context: Context) -> None:
        model, config, question = context.answering, context.config, context.question
        if model.agent is not None or config.uses_workspaces:
            await _open_workspace(context)
        elif question.workspace_path:
            context.warnings.append(
                "The question has a workspace, and no agent was switched on: the model was asked the bare question."
            )
        request = ChatRequest(
            purpose="answer",
            messages=answer_messages(question, context.question_id, model, config.few_shot_config),
            subject=Subject(context.question_id, question.question, model.id, context.replicate),
            timeout=model.request_timeout or config.request_timeout,
        )
        if model.agent is not None:
            assert context.workspace is not None
            allowed = config.allow_commands and commands_allowed()
            outcome = await answer_as_agent(
                context.caller, model, model.agent, request, context.workspace, allow_commands=allowed
            )
            if "run_command" in model.agent.tools and not allowed:
                context.warnings.append("The agent could not run commands: they are switched off.")
        else:
            reply, record = await context.caller.complete(model, request)
            outcome = AgentOutcome(reply.text, calls=[record])
        await _take(context, outcome)


async def _open_workspace(context: Context) -> None:
    config, name = context.config, context.question.workspace_path
    keep = not config.workspace_cleanup
    try:
        context.workspace = await asyncio.to_thread(
            open_workspace, context.workspace_root, name, copy=config.workspace_copy, keep=keep
        )
    except (InputError, OSError) as error:
        raise StageFailure("workspace", str(error)) from error


async def _take(context: Context, outcome: AgentOutcome) -> None:
    """Keep what the model said and did as the answer."""
    text, last = outcome.text, outcome.calls[-1]
    truncated = last.finish_reason == "length"
    if not text.strip() and outcome.limit is None:
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
    files: list[FileChange] = []
    if outcome.transcript and context.workspace is not None:
        try:
            files = await asyncio.to_thread(context.workspace.changes)
        except (InputError, OSError) as error:
            context.warnings.append(f"What the agent changed is not known: {error}")
    context.answer = built(
        AnswerPart,
        text=text,
        finish_reason=last.finish_reason,
        truncated=truncated,
        addresses_judge=addressed,
        call=last,
        earlier_calls=outcome.calls[:-1],
        transcript=[message.as_data() for message in outcome.transcript],
        limit=outcome.limit,
        files=files,
    )


class RecursionLimitAutofail(Stage):
    """Fail an agent that was stopped at a limit."""

    name = "recursion_limit_autofail"
    requires = frozenset({"answer"})

    async def run(self, context: Context) -> None:
        if context.answer is None or not context.answer.transcript:
            raise Skip("the answer is a single message; no agent was run")
        if context.answer.limit is not None:
            reason = f"The agent was stopped at its limit of {context.answer.limit}; what it did until then is kept."
            raise StageFailure("recursion_limit", reason)


class TraceValidationAutofail(Stage):
    """Fail an agent's transcript that does not end with the agent's own words."""

    name = "trace_validation_autofail"
    requires = frozenset({"answer"})

    async def run(self, context: Context) -> None:
        if context.answer is None or not context.answer.transcript:
            raise Skip("the answer is a single message; no agent was run")
        last = context.answer.transcript[-1]
        if last["role"] != "assistant" or last.get("tool_calls"):
            raise StageFailure("trace_validation", "The transcript does not end with a message of the agent.")
