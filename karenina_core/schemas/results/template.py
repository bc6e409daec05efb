"""The outcome of the answer template, field by field."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from karenina_core.schemas.results.call import CallRecord
from karenina_core.schemas.results.part import Part


class FieldEvidence(Part):
    """One template field: what was expected, what was found, and how the rule decided.

    Attributes:
        result: True, False, or None when the judge found nothing or nothing was decided.
        rule: The primitive in its stored form; None for fields a template's own code compares.
        steps: Label, before and after of every step, as text.
        similarity: Cosine similarity, for `SemanticMatch` fields.
    """

    name: str
    expected: Any = None
    extracted: Any = None
    result: bool | None = None
    rule: dict[str, Any] | None = None
    weight: float = 1.0
    is_trace: bool = False
    steps: list[tuple[str, str, str]] = Field(default_factory=list)
    reason: str = ""
    similarity: float | None = None


class TemplatePart(Part):
    """The outcome of the answer template."""

    template_id: str
    style: str
    parsed: dict[str, Any] | None = None
    expected: Any = None
    verify_result: bool | None = None
    verify_granular_result: float | None = None
    fields: list[FieldEvidence] = Field(default_factory=list)
    composition_strategy: str | None = None
    calls: list[CallRecord] = Field(default_factory=list)

    @property
    def field_results(self) -> dict[str, bool | None]:
        """Result by verified field."""
        return {item.name: item.result for item in self.fields if item.rule is not None}
