"""Stage 2: ask the model under test."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from karenina_core.models import MAX_REPLY, ChatRequest, Subject
from karenina_core.pipeline.context import Context
from karenina_core.pipeline.prompts import addresses_grader, answer_messages
from karenina_core.pipeline.stage import Stage, StageFailure
from karenina_core.schemas import AnswerPart, built

_LONG = 4_000  # characters; longer texts take a while to search, and the loop goes on meanwhile


class GenerateAnswer(Stage):
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
        reply, record = await context.services.caller.complete(model, request)
        if not reply.text.strip():
            raise StageFailure("refused", "The model returned an empty answer.")
        truncated = reply.finish_reason == "length"
        if len(reply.text) >= MAX_REPLY:
            context.warnings.append(f"The answer was cut off after {MAX_REPLY:,} characters.")
        elif truncated:
            context.warnings.append("The answer was cut off at the token limit (max_tokens).")
        fields = context.template.judged_names if context.template else ()
        addressed = await _addresses_grader(reply.text, fields)
        if addressed:
            context.warnings.append("The answer seems to address the judge; review this result.")
        context.answer = built(
            AnswerPart,
            text=reply.text,
            finish_reason=reply.finish_reason,
            truncated=truncated,
            addresses_judge=addressed,
            call=record,
        )


async def _addresses_grader(text: str, fields: Sequence[str]) -> bool:
    if len(text) <= _LONG:
        return addresses_grader(text, fields)
    return await asyncio.to_thread(addresses_grader, text, fields)
