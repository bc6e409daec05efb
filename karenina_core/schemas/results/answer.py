"""The answer, and what is checked of it as a whole."""

from __future__ import annotations

from karenina_core.schemas.results.call import CallRecord
from karenina_core.schemas.results.part import Part


class AnswerPart(Part):
    """What the answering model said.

    Attributes:
        addresses_judge: Whether it seems to speak to its judge, so that a person should look at the result.
    """

    text: str
    finish_reason: str | None = None
    truncated: bool = False
    addresses_judge: bool = False
    call: CallRecord | None = None


class GuardPart(Part):
    """Outcome of the abstention or the sufficiency check."""

    performed: bool
    detected: bool | None = None
    reasoning: str = ""
    call: CallRecord | None = None


class SimilarityPart(Part):
    """Similarity of the whole response to the expected answer; never changes the verdict."""

    performed: bool
    similarity: float | None = None
    threshold: float | None = None
    similar: bool | None = None
    model: str | None = None
    reason: str = ""
