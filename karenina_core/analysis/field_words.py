"""What became of a template field, in words for people."""

from __future__ import annotations

from karenina_core.schemas import FieldEvidence, VerificationResult, field_state

_SIGNS = {"right": "✓ right", "wrong": "✗ wrong", "not_found": "– nothing found", "undecided": "– not decided"}


def field_sign(result: VerificationResult, item: FieldEvidence) -> str:
    """Return what became of a field of a result; empty where no rule decides it but the template's own code.

    Args:
        result: The evaluation.
        item: One of its fields.
    """
    if item.result is not None:
        return _SIGNS["right" if item.result else "wrong"]
    if waits(item):
        part = result.similarity
        failed = part is not None and not part.performed and bool(part.reason)
        return f"{_SIGNS['undecided']}: the embedding check {'failed' if failed else 'was off'}"
    return _SIGNS.get(field_state(result, item), "")


def waits(item: FieldEvidence) -> bool:
    """Return whether a field has a value whose similarity was never measured, so that nothing decided it."""
    semantic = (item.rule or {}).get("type") == "SemanticMatch"
    return semantic and item.result is None and item.extracted is not None
