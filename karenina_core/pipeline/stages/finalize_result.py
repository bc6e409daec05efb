"""Stage 13: always produce a result, with its evidence."""

from __future__ import annotations

from karenina_core.pipeline.stage import Context, Stage
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
_ORDERLY = ("abstention", "sufficiency")


class FinalizeResult(Stage):
    """Gather what the stages found."""

    name = "finalize_result"
    produces = frozenset({"result"})
    always_runs = True

    async def run(self, context: Context) -> None:
        calls = _all_calls(context)
        question = context.question
        context.result = built(
            VerificationResult,
            question=built(
                QuestionSnapshot,
                id=context.question_id,
                **{name: getattr(question, name) for name in QuestionSnapshot.model_fields if name != "id"},
            ),
            answering_model=context.answering.id,
            parsing_model=context.judge.id,
            replicate=context.replicate,
            status=_status(context.failure),
            verdict=_verdict(context),
            failure=context.failure,
            answer=context.answer,
            partial_answer=None,
            template=_template_part(context),
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


def _all_calls(context: Context) -> list[CallRecord]:
    """Return every model call of an evaluation, the answer's first."""
    parts = (context.answer, context.abstention, context.sufficiency)
    single = [part.call for part in parts if part is not None and part.call is not None]
    earlier = context.answer.earlier_calls if context.answer else []
    return earlier + single + context.parse_calls + context.rubric.calls


def _status(failure: Failure | None) -> Status:
    """Say whether the machine did its work."""
    if failure is None or failure.category in _ORDERLY or failure.group == "autofail":
        return "completed"
    return "skipped" if failure.category == "no_template" else "failed"


def _verdict(context: Context) -> Verdict:
    """Say whether the answer is right; an error is never a wrong answer, an agent that came to no end is."""
    if context.failure is not None and context.failure.group == "autofail":
        return "fail"
    if context.failure is not None or context.evaluation is None or context.evaluation.verdict is None:
        return "not_evaluated"
    return "pass" if context.evaluation.verdict else "fail"


def _template_part(context: Context) -> TemplatePart | None:
    template, evaluation, verdict = context.template, context.evaluation, _verdict(context)
    if template is None:
        return None
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
