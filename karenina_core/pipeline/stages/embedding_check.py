"""Stage 9: embedding similarity.

Decides the `SemanticMatch` fields that stage 8 left pending, and stores how similar the whole response is to the
expected answer. The latter is information and changes no verdict.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from karenina_core.errors import KareninaError
from karenina_core.models import Embedder
from karenina_core.pipeline.context import Context
from karenina_core.pipeline.stage import Skip, Stage, StageFailure
from karenina_core.schemas import SimilarityPart
from karenina_core.schemas.primitives import SemanticMatch
from karenina_core.templates import Evaluation, Template


class EmbeddingCheck(Stage):
    name = "embedding_check"
    requires = frozenset({"answer", "evaluation"})
    produces = frozenset({"similarity"})

    async def run(self, context: Context) -> None:
        if not context.config.embedding_check_enabled:
            await go_without(context, "the embedding check is not enabled in the configuration")
            raise Skip("not enabled in the configuration")
        try:
            await compare(context)
        except KareninaError as error:
            context.similarity = SimilarityPart(performed=False, reason=str(error))
            context.warnings.append(f"The embedding check was not performed: {error}")
            await go_without(context, str(error))


async def compare(context: Context) -> None:
    """Measure similarities and decide what waits for them."""
    embedder = await asyncio.to_thread(context.services.load_embedder, context.config.embedding_check_model)
    context.similarity = await asyncio.to_thread(whole_answer_similarity, context, embedder)
    if context.template and context.evaluation and context.evaluation.pending:
        decided = await asyncio.to_thread(decide_pending, context.evaluation, embedder)
        context.evaluation = await asyncio.to_thread(context.template.complete, context.evaluation, decided)


async def go_without(context: Context, reason: str) -> None:
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


def decide_pending(evaluation: Evaluation, embedder: Embedder) -> dict[str, tuple[bool, float]]:
    """Return verdict and cosine similarity of every pending field."""
    decided = {}
    for item in evaluation.fields:
        if item.name in evaluation.pending and item.rule is not None:
            similarity = embedder.similarity(str(item.extracted), str(item.expected))
            rule = SemanticMatch(threshold=item.rule["threshold"])
            decided[item.name] = (rule.passes(similarity), similarity)
    return decided


def whole_answer_similarity(context: Context, embedder: Embedder) -> SimilarityPart:
    """Compare the whole response with the reference answer."""
    if context.answer is None:
        raise RuntimeError("There is no answer to compare.")
    similarity = embedder.similarity(context.answer.text, context.question.raw_answer)
    threshold = context.config.embedding_check_threshold
    return SimilarityPart(
        performed=True, similarity=similarity, threshold=threshold, similar=similarity >= threshold, model=embedder.name
    )
