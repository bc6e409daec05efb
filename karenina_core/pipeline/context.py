"""What the stages of one evaluation read and write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from karenina_core.models import Embedder, ModelCaller
from karenina_core.schemas import (
    AnswerPart,
    AnyTrait,
    CallRecord,
    Failure,
    GuardPart,
    ModelConfig,
    RubricPart,
    SimilarityPart,
    StageRecord,
    VerificationConfig,
    VerificationResult,
)
from karenina_core.schemas.entities.question import Question
from karenina_core.templates import Evaluation, Template


@dataclass
class Services:
    """What stages may use to reach the outside.

    Attributes:
        caller: The way to every model.
        load_embedder: Returns the embedding model of a name, or raises when it is not available.
    """

    caller: ModelCaller
    load_embedder: Callable[[str], Embedder]


@dataclass
class Context:
    """The state of one evaluation, from the question to its result.

    Attributes named in a stage's `requires` and `produces` are its inputs and outputs.
    """

    question: Question
    question_id: str
    traits: list[tuple[AnyTrait, str]]
    config: VerificationConfig
    services: Services
    answering: ModelConfig
    replicate: int
    run_name: str | None = None
    parsing: ModelConfig | None = None

    template: Template | None = None
    answer: AnswerPart | None = None
    partial_answer: str | None = None
    recursion_limit_reached: bool = False
    abstention: GuardPart | None = None
    sufficiency: GuardPart | None = None
    values: dict[str, Any] | None = None
    parse_calls: list[CallRecord] = field(default_factory=list)
    evaluation: Evaluation | None = None
    similarity: SimilarityPart | None = None
    rubric: RubricPart = field(default_factory=RubricPart)
    result: VerificationResult | None = None

    failure: Failure | None = None
    autofail: bool = False
    stages: list[StageRecord] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def fork(self, parsing: ModelConfig) -> Context:
        """Return a copy for one judge; the answer is shared, everything later is its own."""
        forked = Context.__new__(Context)
        forked.__dict__.update(self.__dict__)
        forked.parsing = parsing
        forked.rubric = RubricPart()
        forked.parse_calls = []
        forked.stages = list(self.stages)
        forked.warnings = list(self.warnings)
        return forked

    @property
    def judge(self) -> ModelConfig:
        """The judge of this evaluation."""
        if self.parsing is None:
            raise RuntimeError("The context was not forked for a judge.")
        return self.parsing

    @property
    def runs_template(self) -> bool:
        """Whether the answer template takes part."""
        return self.config.evaluation_mode != "rubric_only"

    @property
    def runs_rubric(self) -> bool:
        """Whether there are traits to evaluate."""
        return self.config.evaluation_mode != "template_only" and bool(self.traits)
