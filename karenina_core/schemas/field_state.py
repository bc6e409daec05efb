"""What became of a template field, in one word."""

from __future__ import annotations

from typing import Literal

from karenina_core.schemas.results import FieldEvidence, VerificationResult

FieldState = Literal["right", "wrong", "not_found", "undecided", "own"]
"""`not_found`: the judge found no value; `own`: the template's own code compares it, so no rule is right or wrong."""


def field_state(result: VerificationResult, item: FieldEvidence) -> FieldState:
    """Return what became of a field of a result."""
    if item.rule is None:
        return "own"
    if item.result is not None:
        return "right" if item.result else "wrong"
    extraction_took_place = result.template is not None and bool(result.template.parsed)
    return "not_found" if extraction_took_place and item.extracted is None else "undecided"
