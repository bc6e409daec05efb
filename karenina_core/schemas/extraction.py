"""The part of a stored result that its verdict rests on; reading the whole takes ten times longer."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from karenina_core.schemas.results import Failure, RowKey, Verdict


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ExtractedQuestion(_Part):
    """Which question it is."""

    id: str
    question: str


class ExtractedAnswer(_Part):
    """What the answering model said."""

    text: str


class ExtractedCall(_Part):
    """What the judge was asked for."""

    schema_sent: dict[str, Any] | None = None


class ExtractedTemplate(_Part):
    """What the judge found."""

    parsed: dict[str, Any] | None = None
    calls: list[ExtractedCall] = []


class Extraction(_Part):
    """Identity, answer, extraction and verdict of a row."""

    question: ExtractedQuestion
    answering_model: str
    parsing_model: str
    replicate: int = 1
    verdict: Verdict
    failure: Failure | None = None
    answer: ExtractedAnswer | None = None
    template: ExtractedTemplate | None = None

    @property
    def key(self) -> RowKey:
        """The identity of the row."""
        return RowKey(self.question.id, self.answering_model, self.parsing_model, self.replicate)
