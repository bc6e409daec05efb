"""One model call as evidence."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from karenina_core.schemas.results.part import Part
from karenina_core.schemas.results.usage import Usage


class CallRecord(Part):
    """One model call as evidence: what was sent, what came back, where it came from.

    Attributes:
        purpose: `answer`, `parse`, `rubric`, `metric`, `abstention` or `sufficiency`.
        part: Trait name for calls about one trait.
        model: Label of the model.
        key: Ledger key: SHA-256 of exactly what was sent.
        source: `provider`, `ledger`, `recording`, `manual` or `local`.
        seconds: Wall time of the call.
    """

    purpose: str
    part: str = ""
    model: str
    key: str
    source: str
    messages: list[dict[str, str]]
    schema_sent: dict[str, Any] | None = None
    reply: str | None = None
    finish_reason: str | None = None
    usage: Usage = Field(default_factory=Usage)
    seconds: float = 0.0
    provenance: dict[str, Any] = Field(default_factory=dict)
