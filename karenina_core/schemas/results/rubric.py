"""The outcome of the rubric, trait by trait."""

from __future__ import annotations

from pydantic import Field

from karenina_core.schemas.results.call import CallRecord
from karenina_core.schemas.results.part import Part


class ConfusionPart(Part):
    """The items of a metric trait by bucket."""

    tp: list[str] = Field(default_factory=list)
    fp: list[str] = Field(default_factory=list)
    tn: list[str] = Field(default_factory=list)
    fn: list[str] = Field(default_factory=list)
    not_mentioned: list[str] = Field(default_factory=list)
    undefined: list[str] = Field(default_factory=list)


class RubricPart(Part):
    """The outcome of all traits.

    Attributes:
        scores: LLM traits: a whole number, or True/False for binary ones, or the class index.
        labels: Class names of literal traits.
        regex: Pattern traits.
        metrics: Metric traits: metric name to value, 0 to 1.
        confusion: Metric traits: the items behind the values.
        reasons: What the judge said, by trait.
        errors: Why a trait has no value, by trait.
        provenance: `global` or `question_specific`, by trait.
    """

    performed: bool = False
    scores: dict[str, int | bool] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)
    regex: dict[str, bool] = Field(default_factory=dict)
    metrics: dict[str, dict[str, float]] = Field(default_factory=dict)
    confusion: dict[str, ConfusionPart] = Field(default_factory=dict)
    reasons: dict[str, str] = Field(default_factory=dict)
    errors: dict[str, str] = Field(default_factory=dict)
    provenance: dict[str, str] = Field(default_factory=dict)
    calls: list[CallRecord] = Field(default_factory=list)
