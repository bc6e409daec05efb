"""One trait over one response that is there already: no model under test is asked, at most one judge."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from karenina_core.models import ModelCaller, load_embedder
from karenina_core.pipeline.context import Context, Services
from karenina_core.pipeline.llm_traits import assess
from karenina_core.pipeline.stages.rubric_evaluation import measure, search
from karenina_core.schemas import (
    AnswerPart,
    AnyTrait,
    ManualRubricTrait,
    MetricRubricTrait,
    ModelConfig,
    PromptConfig,
    RubricPart,
    RubricTrait,
    StoredTrait,
    VerificationConfig,
)
from karenina_core.schemas.entities.question import Question


@dataclass(frozen=True)
class Sample:
    """A response to assess.

    Attributes:
        question: What was asked.
        response: What was answered.
        question_id: The question, where it is a stored one.
        answering_model: Label of the model that answered.
        replicate: Repetition, counted from 1.
    """

    question: str
    response: str = field(repr=False)
    question_id: str = ""
    answering_model: str = ""
    replicate: int = 1


def needs_judge(trait: AnyTrait) -> bool:
    """Say whether a model has to be asked for a trait."""
    return isinstance(trait, RubricTrait | MetricRubricTrait)


class TraitScorer:
    """Assesses responses by one trait.

    Args:
        trait: What is assessed.
        caller: The way to the judges.
        prompts: Extra instructions for the judge.
        timeout: Seconds for one attempt of one call.
    """

    def __init__(
        self, trait: AnyTrait, caller: ModelCaller, prompts: PromptConfig | None = None, timeout: float = 120
    ) -> None:
        self._trait = trait
        self._services = Services(caller, load_embedder)
        self._prompts = prompts
        self._timeout = timeout
        self._configs: dict[int, tuple[ModelConfig, VerificationConfig]] = {}

    async def score(self, sample: Sample, judge: ModelConfig | None = None) -> RubricPart:
        """Return the outcome of the trait, with its calls; what went wrong is an error of the trait.

        Args:
            sample: The response.
            judge: Who assesses it; patterns need none.
        """
        trait = self._trait
        if isinstance(trait, ManualRubricTrait):
            part = RubricPart(performed=True)
            await asyncio.to_thread(search, part, [trait], sample.response)
            return part
        if isinstance(trait, StoredTrait):
            return RubricPart(performed=True, errors={trait.name: f"Not evaluated: {trait.reason}."})
        if judge is None:
            raise ValueError("This trait needs a judge.")
        context = self._context(sample, judge)
        if isinstance(trait, RubricTrait):
            await assess(context, [trait])
        else:
            await measure(context, trait)
        context.rubric.performed = True
        return context.rubric

    def _context(self, sample: Sample, judge: ModelConfig) -> Context:
        config = self._config(judge)
        return Context(
            question=Question.model_construct(question=sample.question, raw_answer=""),
            question_id=sample.question_id,
            traits=[],
            config=config,
            services=self._services,
            answering=ModelConfig.model_construct(id=sample.answering_model),
            replicate=sample.replicate,
            parsing=judge,
            answer=AnswerPart(text=sample.response),
        )

    def _config(self, judge: ModelConfig) -> VerificationConfig:
        known = self._configs.get(id(judge))
        if known is None:
            config = VerificationConfig(
                answering_models=[judge],
                parsing_models=[judge],
                rubric_evaluation_strategy="sequential",
                prompt_config=self._prompts,
                request_timeout=self._timeout,
            )
            known = self._configs[id(judge)] = (judge, config)
        return known[1]
