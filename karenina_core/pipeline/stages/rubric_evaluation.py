"""Stage 11: describe the quality of the response by its traits.

Patterns are evaluated first and kept whatever the judge does; a trait that could not be evaluated carries its
own error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from karenina_core import patterns
from karenina_core.errors import InputError, ModelError
from karenina_core.pipeline import metrics
from karenina_core.pipeline.context import Context
from karenina_core.pipeline.fitting import fitting
from karenina_core.pipeline.judging import ask_judge, unusable_replies
from karenina_core.pipeline.llm_traits import assess
from karenina_core.pipeline.prompts import metric_messages
from karenina_core.pipeline.stage import Skip, Stage
from karenina_core.schemas import ManualRubricTrait, MetricRubricTrait, RubricPart, RubricTrait, StoredTrait


class RubricEvaluation(Stage):
    name = "rubric_evaluation"
    requires = frozenset({"answer"})
    produces = frozenset({"rubric"})

    async def run(self, context: Context) -> None:
        if not context.runs_rubric:
            raise Skip("there is no rubric" if not context.traits else "the run evaluates templates only")
        if context.autofail:
            raise Skip("the answer failed before it could be judged")
        part = context.rubric
        part.performed = True
        part.provenance = {trait.name: provenance for trait, provenance in context.traits}
        traits = [trait for trait, _ in context.traits]
        response = context.answer.text if context.answer else ""
        for trait in traits:
            if isinstance(trait, StoredTrait):
                part.errors[trait.name] = f"Not evaluated: {trait.reason}."
        searched = [trait for trait in traits if isinstance(trait, ManualRubricTrait)]
        if searched:
            await asyncio.to_thread(search, part, searched, response)
        await assess(context, [trait for trait in traits if isinstance(trait, RubricTrait)])
        for trait in traits:
            if isinstance(trait, MetricRubricTrait):
                await measure(context, trait)


def search(part: RubricPart, traits: Sequence[ManualRubricTrait], response: str) -> None:
    """Evaluate pattern traits."""
    for trait in traits:
        try:
            found = patterns.found(trait.pattern, response, () if trait.case_sensitive else ("IGNORECASE",))
        except InputError as error:
            part.errors[trait.name] = str(error)
        else:
            part.regex[trait.name] = found != trait.invert


async def measure(context: Context, trait: MetricRubricTrait) -> None:
    """Evaluate a metric trait: the judge extracts, the code counts."""
    prompts = context.config.prompt_config
    extra = prompts.rubric_evaluation if prompts else None
    try:
        reply, calls = await ask_judge(
            context,
            "metric",
            lambda question, response: metric_messages(question, response, trait, extra),
            metrics.items_schema(trait),
            fitting(metrics.ExtractedItems),
            part=trait.name,
        )
    except ModelError as error:
        context.rubric.errors[trait.name] = str(error)
        context.rubric.calls += unusable_replies(error)
        return
    context.rubric.calls += calls
    context.rubric.metrics[trait.name], context.rubric.confusion[trait.name] = metrics.evaluate(trait, reply.items)
