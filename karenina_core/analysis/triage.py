"""Whose fault a result without a pass is: suggestions from the evidence, for a person to confirm."""

from __future__ import annotations

from typing import NamedTuple

from karenina_core.analysis.grounding import ground, grounding
from karenina_core.schemas.annotation import Cause
from karenina_core.schemas.results import FieldEvidence, VerificationResult


class Suggestion(NamedTuple):
    """A likely cause, and the evidence for it in one sentence."""

    cause: Cause
    why: str


def suggest(result: VerificationResult, near_miss: str = "", right_today: bool = False) -> Suggestion | None:
    """Return the likely cause of a result that did not pass; None for one that did.

    Args:
        result: The evaluation.
        near_miss: The change of a rule that would make it pass, in words; empty where there is none.
        right_today: Whether it passes by the rules of today, which are gentler than those of its run.
    """
    if result.verdict == "pass":
        return None
    if result.failure is not None:
        return _of_failure(result)
    if right_today:
        return Suggestion("rule_too_strict", "It passes by the rules of today. Re-verify the run to see that.")
    if near_miss:
        return Suggestion("rule_too_strict", f"It would pass if one were to {near_miss}.")
    return _of_values(result)


def _of_failure(result: VerificationResult) -> Suggestion:
    failure = result.failure
    assert failure is not None
    if failure.group == "abstained" or failure.category == "refused":
        return Suggestion("abstained", failure.reason)
    if failure.category == "parsing":
        return Suggestion("unparseable", failure.reason)
    return Suggestion("technical", failure.reason)


def _of_values(result: VerificationResult) -> Suggestion:
    wrong = [item for item in (result.template.fields if result.template else ()) if item.result is not True]
    nowhere = {item.field.partition(".")[0] for item in grounding(result) if item.how == "nowhere"}
    for item in wrong:
        if item.is_trace:
            continue
        if item.extracted is None and _is_there(item, result):
            return Suggestion("judge_misread", f"{item.name}: the truth stands in the answer, but was not extracted.")
        if item.name in nowhere:
            return Suggestion("judge_misread", f"{item.name}: the extracted value stands nowhere in the answer.")
        if item.extracted is not None and _is_there(item, result) and not _mentions_extracted(item, result):
            return Suggestion("judge_misread", f"{item.name}: the answer has the truth, not what was extracted.")
    names = ", ".join(item.name for item in wrong)
    said = f"{names}: the answer says something else than the truth." if names else "No field explains it."
    return Suggestion("answer_wrong", said)


def _is_there(item: FieldEvidence, result: VerificationResult) -> bool:
    """Return whether the truth of a field stands in the answer; a yes or no never does."""
    if item.expected is None or isinstance(item.expected, bool) or result.answer is None:
        return False
    found = ground({item.name: item.expected}, result.answer.text)
    return bool(found) and all(part.how in ("exact", "normalised") for part in found)


def _mentions_extracted(item: FieldEvidence, result: VerificationResult) -> bool:
    assert result.answer is not None
    return any(part.how != "nowhere" for part in ground({item.name: item.extracted}, result.answer.text))
