"""How our failures are named there, and theirs here."""

from __future__ import annotations

from typing import Any, get_args

from karenina_core.schemas import Failure, FailureCategory, Status, Verdict, VerificationResult

SAME = frozenset(
    {
        "recursion_limit",
        "trace_validation",
        "deep_judgment",
        "deep_judgment_rubric",
        "timeout",
        "connection",
        "rate_limit",
        "server_error",
        "abstention",
        "sufficiency",
        "template_validation",
        "parsing",
    }
)
"""Categories both sides know."""
_OTHERS = {"no_template": "template_validation", "template_execution": "template_validation"}
_KNOWN = frozenset(get_args(FailureCategory))
_AUTOFAIL = frozenset({"recursion_limit", "trace_validation", "deep_judgment", "deep_judgment_rubric"})
_ORDERLY = _AUTOFAIL | {"abstention", "sufficiency"}
_LONGEST_REASON = 500
_GROUPS = {
    "content": "content",
    **dict.fromkeys(_AUTOFAIL, "autofail"),
    **dict.fromkeys(("timeout", "connection", "rate_limit", "server_error"), "retry"),
    **dict.fromkeys(("abstention", "sufficiency"), "abstained"),
}


def failure_there(result: VerificationResult) -> dict[str, Any] | None:
    """Return the failure of a result in their form; there a wrong answer is one too."""
    if result.failure is None:
        if result.verdict != "fail":
            return None
        return _failure("content", "verify_template", "The answer does not pass its template.", None)
    category, known = result.failure.category, result.failure
    there = category if category in SAME else _OTHERS.get(category, "unexpected_error")
    details = None if there == category else {"category": category}
    return _failure(there, known.stage, known.reason, details)


def _failure(category: str, stage: str, reason: str, details: dict[str, Any] | None) -> dict[str, Any]:
    group = _GROUPS.get(category, "system")
    reason = reason if len(reason) <= _LONGEST_REASON else reason[: _LONGEST_REASON - 1] + "…"
    return {"category": category, "stage": stage, "reason": reason, "details": details, "group": group}


def failure_here(failure: Any, error: Any = None) -> Failure | None:
    """Return a failure of theirs in our form, None where the machine did its work.

    Args:
        failure: Their `failure`, if the row has one.
        error: The message older rows have instead.
    """
    if not isinstance(failure, dict):
        if not error:
            return None
        return Failure(category="unexpected", stage="", reason=str(error))
    details = failure.get("details")
    own = details.get("category") if isinstance(details, dict) else None
    category = own if own in _KNOWN else failure.get("category")
    if category == "content":
        return None
    known = category if category in _KNOWN else "unexpected"
    return Failure(category=known, stage=str(failure.get("stage") or ""), reason=str(failure.get("reason") or ""))


def outcome(failure: Failure | None, verified: bool | None) -> tuple[Status, Verdict]:
    """Return status and verdict; a failure of the machine outweighs what else a row says."""
    if failure is None:
        return "completed", "not_evaluated" if verified is None else "pass" if verified else "fail"
    status: Status = "completed" if failure.category in _ORDERLY else "failed"
    if failure.category == "no_template":
        status = "skipped"
    return status, "fail" if failure.category in _AUTOFAIL else "not_evaluated"
