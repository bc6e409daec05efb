"""One evaluation with everything that is known of it."""

from __future__ import annotations

import hashlib
from typing import Literal, NamedTuple

from pydantic import ConfigDict, Field

from karenina_core.schemas.entities.question import now
from karenina_core.schemas.results.answer import AnswerPart, GuardPart, SimilarityPart
from karenina_core.schemas.results.failure import Failure, Status, Verdict
from karenina_core.schemas.results.part import Part
from karenina_core.schemas.results.rubric import RubricPart
from karenina_core.schemas.results.template import TemplatePart
from karenina_core.schemas.results.usage import Usage


class RowKey(NamedTuple):
    """The identity of a result everywhere: question, answering model, judge, replicate (from 1)."""

    question_id: str
    answering_model: str
    parsing_model: str
    replicate: int


class QuestionSnapshot(Part):
    """The question as it was when it was evaluated."""

    id: str
    question: str
    raw_answer: str
    keywords: list[str] = Field(default_factory=list)


class StageRecord(Part):
    """What one stage did: `ran`, `off`, `skipped` or `failed`, and why; results share records that are equal."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    state: Literal["ran", "off", "skipped", "failed"]
    note: str = ""
    seconds: float = 0.0


class VerificationResult(Part):
    """One evaluation: question × answering model × judge × replicate.

    Attributes:
        partial_answer: What had arrived of an answer that broke off; nothing judges it.
    """

    question: QuestionSnapshot
    answering_model: str
    parsing_model: str
    replicate: int = 1
    status: Status
    verdict: Verdict
    failure: Failure | None = None
    answer: AnswerPart | None = None
    partial_answer: str | None = None
    template: TemplatePart | None = None
    similarity: SimilarityPart | None = None
    rubric: RubricPart = Field(default_factory=RubricPart)
    abstention: GuardPart | None = None
    sufficiency: GuardPart | None = None
    stages: list[StageRecord] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    usage: Usage = Field(default_factory=Usage)
    seconds: float = 0.0
    timestamp: str = Field(default_factory=now)
    run_name: str | None = None

    @property
    def key(self) -> RowKey:
        """The identity of this result."""
        return RowKey(self.question.id, self.answering_model, self.parsing_model, self.replicate)

    @property
    def result_id(self) -> str:
        """Sixteen hex digits that name this row in links."""
        return result_id(self.key)

    @property
    def question_id(self) -> str:
        """The id of the question."""
        return self.question.id

    @property
    def rubric_scores(self) -> dict[str, int | bool]:
        """Values of the LLM traits."""
        return self.rubric.scores

    @property
    def manual_rubric_results(self) -> dict[str, bool]:
        """Values of the regex traits."""
        return self.rubric.regex

    @property
    def metric_rubric_results(self) -> dict[str, dict[str, float]]:
        """Values of the metric traits."""
        return self.rubric.metrics

    @property
    def raw_llm_response(self) -> str | None:
        """The response text, if there is one."""
        return self.answer.text if self.answer else None

    @property
    def verify_result(self) -> bool | None:
        """True, False, or None when nothing was decided."""
        return {"pass": True, "fail": False, "not_evaluated": None}[self.verdict]

    @property
    def verify_granular_result(self) -> float | None:
        """The weighted share of right fields, 0 to 1."""
        return self.template.verify_granular_result if self.template else None


def result_id(key: RowKey) -> str:
    """Return the sixteen hex digits that name a row in links."""
    return hashlib.sha256("\t".join(map(str, key)).encode()).hexdigest()[:16]
