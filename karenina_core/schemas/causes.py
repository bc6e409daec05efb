"""Why evaluations have no verdict, in words."""

from __future__ import annotations

from collections.abc import Mapping

NO_VERDICT = "no_verdict"
"""Stands for evaluations without a template: nothing failed, and nothing was to be decided."""

WORDS: dict[str, str] = {
    NO_VERDICT: "only the rubric was evaluated",
    "recursion_limit": "the model reached its recursion limit",
    "trace_validation": "the answer's trace could not be used",
    "deep_judgment": "no excerpt of the answer supported the extraction",
    "deep_judgment_rubric": "no excerpt of the answer supported a trait",
    "abstention": "the model declined to answer",
    "sufficiency": "the answer does not say enough to fill the template",
    "timeout": "the model took too long",
    "connection": "the model could not be reached",
    "rate_limit": "the provider's rate limit was reached",
    "server_error": "the provider reported an error of its own",
    "authentication": "the provider did not accept the key, or there is none",
    "not_found": "the provider does not know the model",
    "bad_request": "the provider refused the request",
    "context_length": "the text was too long for the model",
    "refused": "the provider's filter refused the request",
    "truncated": "the reply was cut off at the token limit",
    "missing_recording": "the recording holds no such call",
    "cancelled": "the run was cancelled",
    "no_template": "the question has no template",
    "template_validation": "the template could not be read",
    "template_execution": "the template's own code failed",
    "parsing": "the judge's reply could not be read",
    "embedding": "the similarity could not be computed",
    "unexpected": "an unexpected error happened",
}
"""What each failure category means, as the end of a sentence."""


def in_words(category: str) -> str:
    """Return what a category means, such as `the model took too long`."""
    return WORDS.get(category, category.replace("_", " "))


def listed(counts: Mapping[str, int]) -> str:
    """Return counts by category, the most frequent first, such as `2 × the model declined to answer`."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} × {in_words(category)}" for category, count in ordered)
