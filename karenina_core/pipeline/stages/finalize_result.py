"""Stage 13: always produce a result, with its evidence."""

from __future__ import annotations

from karenina_core.pipeline.context import Context
from karenina_core.pipeline.stage import Stage
from karenina_core.schemas import (
    CallRecord,
    Failure,
    QuestionSnapshot,
    Status,
    TemplatePart,
    Verdict,
    VerificationResult,
    built,
    total_usage,
)
from karenina_core.schemas.entities.question import now

# The evaluation did what it should; the response just gave nothing to decide.
_ORDERLY = frozenset({"abstention", "sufficiency", "recursion_limit", "trace_validation"})


class FinalizeResult(Stage):
    name = "finalize_result"
    produces = frozenset({"result"})
    after_failure = True

    async def run(self, context: Context) -> None:
        calls = all_calls(context)
        context.result = built(
            VerificationResult,
            question=built(
                QuestionSnapshot,
                id=context.question_id,
                question=context.question.question,
                raw_answer=context.question.raw_answer,
                keywords=list(context.question.keywords),
            ),
            answering_model=context.answering.id,
            parsing_model=context.judge.id,
            replicate=context.replicate,
            status=status_of(context.failure),
            verdict=verdict_of(context),
            failure=context.failure,
            answer=context.answer,
            partial_answer=context.partial_answer,
            template=template_part(context),
            similarity=context.similarity,
            rubric=context.rubric,
            abstention=context.abstention,
            sufficiency=context.sufficiency,
            stages=context.stages,
            warnings=list(dict.fromkeys(context.warnings)),
            usage=total_usage([call.usage for call in calls]),
            seconds=sum([call.seconds for call in calls]),
            timestamp=now(),
            run_name=context.run_name,
        )


def all_calls(context: Context) -> list[CallRecord]:
    """Return every model call of an evaluation, the answer's first."""
    single = [
        context.answer.call if context.answer else None,
        context.abstention.call if context.abstention else None,
        context.sufficiency.call if context.sufficiency else None,
    ]
    return [call for call in single if call] + context.parse_calls + context.rubric.calls


def status_of(failure: Failure | None) -> Status:
    """Say whether the machine did its work."""
    if failure is None or failure.category in _ORDERLY:
        return "completed"
    return "skipped" if failure.category == "no_template" else "failed"


def verdict_of(context: Context) -> Verdict:
    """Say whether the answer is right; an error is never a wrong answer."""
    if context.autofail:
        return "fail"
    if context.failure is not None or context.evaluation is None or context.evaluation.verdict is None:
        return "not_evaluated"
    return "pass" if context.evaluation.verdict else "fail"


def template_part(context: Context) -> TemplatePart | None:
    """Collect what the template's stages found."""
    template, evaluation = context.template, context.evaluation
    if template is None:
        return None
    verdict = verdict_of(context)
    return built(
        TemplatePart,
        template_id=template.template_id,
        style=template.style,
        parsed=context.values,
        expected=evaluation.expected if evaluation else None,
        verify_result=None if verdict == "not_evaluated" else verdict == "pass",
        verify_granular_result=evaluation.granular if evaluation and verdict != "not_evaluated" else None,
        fields=list(evaluation.fields) if evaluation else [],
        composition_strategy=template.composition_strategy,
        calls=context.parse_calls,
    )
