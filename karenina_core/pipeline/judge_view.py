"""What the judge gets to fill in a template, without asking it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from karenina_core.models import Message
from karenina_core.pipeline.judging import with_own_prompt
from karenina_core.pipeline.prompts import parse_messages
from karenina_core.schemas import ModelConfig, PromptConfig, VerificationConfig
from karenina_core.templates import Template


@dataclass(frozen=True)
class JudgeView:
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
    """Return what the judge is sent to fill in a template, or None where it is not asked.

    Args:
        template: The template.
        question: The text of the question.
        response: The response to judge.
        config: How the run is configured; as by default when not given.
        judge: The judge, whose own system prompt comes first.
    """
    if not template.needs_judge:
        return None
    hints = template.extraction_hints if config is None or config.include_extraction_hints else {}
    prompts: PromptConfig | None = config.prompt_config if config else None
    messages = parse_messages(question, response, hints, prompts.parsing if prompts else None)
    return JudgeView(with_own_prompt(judge.system_prompt if judge else None, messages), template.judge_schema())
