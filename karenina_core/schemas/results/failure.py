"""Status, verdict and failure: whether the machine did its work, and whether the answer was right."""

from __future__ import annotations

from typing import Literal

from karenina_core.schemas.results.part import Part

Status = Literal["completed", "failed", "skipped"]
Verdict = Literal["pass", "fail", "not_evaluated"]
FailureCategory = Literal[
    "recursion_limit",
    "trace_validation",
    "deep_judgment",
    "deep_judgment_rubric",
    "abstention",
    "sufficiency",
    "timeout",
    "connection",
    "rate_limit",
    "server_error",
    "authentication",
    "not_found",
    "bad_request",
    "context_length",
    "refused",
    "truncated",
    "missing_recording",
    "cancelled",
    "no_template",
    "template_validation",
    "template_execution",
    "parsing",
    "embedding",
    "unexpected",
]
_GROUPS: dict[str, tuple[str, ...]] = {
    "autofail": ("recursion_limit", "trace_validation", "deep_judgment", "deep_judgment_rubric"),
    "abstained": ("abstention", "sufficiency"),
    "template": ("no_template", "template_validation", "template_execution"),
    "judge": ("parsing", "embedding"),
}


class Failure(Part):
    """Why an evaluation did not reach a verdict by its rules, and where.

    Attributes:
        category: The kind of failure.
        stage: The pipeline stage it belongs to.
        reason: One or two sentences for people.
        line: Line in the template source, for template failures.
    """

    category: FailureCategory
    stage: str
    reason: str
    line: int | None = None

    @property
    def group(self) -> str:
        """The class of failure: autofail, abstained, template, judge or provider."""
        return next((group for group, categories in _GROUPS.items() if self.category in categories), "provider")
