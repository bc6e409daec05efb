"""Stages 7 to 10: the judge fills the template, rules compare the values with the truth, embeddings settle the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from karenina_core.agents import inspect, trace_text
from karenina_core.errors import InputError, KareninaError, TemplateError
from karenina_core.models import ChatRequest, Embedder, InvalidOutputError, Message, Subject
from karenina_core.pipeline.prompts import investigation_messages, parse_messages
from karenina_core.pipeline.stage import Context, Skip, Stage, StageFailure, ask_judge, with_own_prompt
from karenina_core.schemas import AgentLimits, ModelConfig, SimilarityPart, VerificationConfig
from karenina_core.schemas.primitives import SemanticMatch
from karenina_core.templates import Evaluation, Template


class ParseTemplate(Stage):
    """Let the judge fill the template's schema; it never sees the truth."""

    name = "parse_template"
    requires = frozenset({"answer", "template"})
    produces = frozenset({"values"})
    asks_judge = True

    async def run(self, context: Context) -> None:
        template = context.template
        if template is None:
            raise Skip("no answer template")
        if not template.needs_judge:
            context.values = {}
            raise Skip("every field reads the response text itself; no judge is needed")
        inspects, dynamic = context.config.agentic_parsing, context.config.agentic_parsing_trigger == "dynamic"
        if not inspects or dynamic:
            await _fill(context, template)
        if inspects and (not dynamic or None in (context.values or {}).values()):
            report = await _inspect(context, template)
            await _fill(context, template, report)


async def _fill(context: Context, template: Template, report: str | None = None) -> None:
    """Let the judge fill the schema, from the answer or from the report of its inspection."""
    prompt = _prompt(template, context.config)
    try:
        context.values, calls = await ask_judge(
            context, "parse", prompt, template.shared_schema, template.validate_reply, response=report
        )
    except InvalidOutputError as error:
        context.parse_calls += error.records
        raise StageFailure("parsing", str(error)) from error
    context.parse_calls += calls


async def _inspect(context: Context, template: Template) -> str:
    """Let the judge look into what the answer left, and return its report."""
    config, judge, answer, workspace = context.config, context.judge, context.answer, context.workspace
    assert answer is not None
    response = None
    if config.agentic_judge_context != "workspace_only":
        response = trace_text(answer.transcript) or answer.text
    in_workspace = workspace is not None and config.agentic_judge_context != "trace_only"
    messages = investigation_messages(
        context.question.question,
        response,
        template.shared_schema,
        in_workspace,
        context.instructions("agentic_parsing"),
    )
    request = ChatRequest(
        purpose="investigate",
        messages=with_own_prompt(judge.system_prompt, messages),
        subject=Subject(context.question_id, context.question.question, context.answering.id, context.replicate),
        timeout=judge.request_timeout or config.request_timeout,
    )
    limits = AgentLimits(max_turns=config.agentic_parsing_max_turns, max_seconds=config.agentic_parsing_timeout)
    report, outcome = await inspect(context.caller, judge, request, workspace if in_workspace else None, limits)
    context.parse_calls += outcome.calls
    if outcome.limit is not None:
        context.warnings.append(f"The judge's inspection was stopped at its limit of {outcome.limit}.")
    return report


def _prompt(template: Template, config: VerificationConfig | None) -> Callable[[str, str], tuple[Message, ...]]:
    """Return what makes the judge's messages of a question and a response."""
    hints = template.extraction_hints if config is None or config.include_extraction_hints else {}
    prompts = config.prompt_config if config else None
    extra = prompts.parsing if prompts else None
    return lambda question, response: parse_messages(question, response, hints, extra)


class JudgeView(NamedTuple):
    """What a judge is sent about one response.

    Attributes:
        messages: System and user message, as they are sent.
        schema: The JSON schema its reply has to follow.
    """

    messages: tuple[Message, ...]
    schema: dict[str, Any]


def judge_view(
    template: Template,
    question: str,
    response: str,
    *,
    config: VerificationConfig | None = None,
    judge: ModelConfig | None = None,
) -> JudgeView | None:
    """Return what the judge is sent to fill in a template, without asking it; None where it is not asked.

    Args:
        template: The template.
        question: The text of the question.
        response: The response to judge.
        config: How the run is configured; as by default when not given.
        judge: The judge, whose own system prompt comes first.
    """
    if not template.needs_judge:
        return None
    messages = _prompt(template, config)(question, response)
    return JudgeView(with_own_prompt(judge.system_prompt if judge else None, messages), template.judge_schema())


class VerifyTemplate(Stage):
    """Compare the extracted values with the truth by deterministic rules."""

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
                evaluate = partial(template.evaluate, values, answer.text, sandbox=context.sandbox)
                context.evaluation = await asyncio.to_thread(evaluate)
        except InputError as error:
            line = error.line if isinstance(error, TemplateError) else None
            raise StageFailure("template_execution", str(error), line) from error


class EmbeddingCheck(Stage):
    """Decide the `SemanticMatch` fields that were left pending, and note how similar the response is to the reference.

    The similarity of the whole response is information and changes no verdict.
    """

    name = "embedding_check"
    requires = frozenset({"answer", "evaluation"})
    produces = frozenset({"similarity"})

    async def run(self, context: Context) -> None:
        if not context.config.embedding_check_enabled:
            await _go_without(context, "the embedding check is not enabled in the configuration")
            raise Skip("not enabled in the configuration")
        try:
            embedder = await asyncio.to_thread(context.load_embedder, context.config.embedding_check_model)
            await asyncio.to_thread(_compare, context, embedder)
        except KareninaError as error:
            context.similarity = SimilarityPart(performed=False, reason=str(error))
            context.warnings.append(f"The embedding check was not performed: {error}")
            await _go_without(context, str(error))


def _compare(context: Context, embedder: Embedder) -> None:
    if context.answer is None:
        raise RuntimeError("There is no answer to compare.")
    similarity = embedder.similarity(context.answer.text, context.question.raw_answer)
    threshold = context.config.embedding_check_threshold
    context.similarity = SimilarityPart(
        performed=True, similarity=similarity, threshold=threshold, similar=similarity >= threshold, model=embedder.name
    )
    template, evaluation = context.template, context.evaluation
    if template is None or evaluation is None or not evaluation.pending:
        return
    decided = {}
    for item in evaluation.fields:
        if item.name in evaluation.pending and item.rule is not None:
            similarity = embedder.similarity(str(item.extracted), str(item.expected))
            rule = SemanticMatch(threshold=item.rule["threshold"])
            decided[item.name] = (rule.passes(similarity), similarity)
    context.evaluation = template.complete(evaluation, decided, sandbox=context.sandbox)


async def _go_without(context: Context, reason: str) -> None:
    """Settle the verdict without similarities where the other fields settle it already.

    Raises:
        StageFailure: The verdict depends on a field that cannot be compared.
    """
    if context.template is None or context.evaluation is None or not context.evaluation.pending:
        return
    names = ", ".join(context.evaluation.pending)
    settled = await asyncio.to_thread(verdict_either_way, context.template, context.evaluation)
    if settled is None:
        raise StageFailure("embedding", f"{names} uses SemanticMatch, but {reason}.")
    context.evaluation = replace(context.evaluation, verdict=settled)
    context.warnings.append(f"{names} was not compared, because {reason}; the other fields settle the verdict.")


def verdict_either_way(template: Template, evaluation: Evaluation) -> bool | None:
    """Return the verdict that holds whether the pending fields are right or wrong, or None when it depends."""
    outcomes = {
        template.complete(evaluation, dict.fromkeys(evaluation.pending, (passed, 0.0))).verdict
        for passed in (True, False)
    }
    return outcomes.pop() if len(outcomes) == 1 else None


class DeepJudgmentAutofail(Stage):
    """Fail answers whose extracted values have no excerpt behind them."""

    name = "deep_judgment_autofail"
    off = "deep judgment (an excerpt for every extracted value) is not part of this version"
