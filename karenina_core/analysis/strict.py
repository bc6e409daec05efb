"""What a result from a file must keep to beyond its schema, so that every table and page can show it."""

from __future__ import annotations

from collections.abc import Iterator

from karenina_core.analysis.frames import calls_of
from karenina_core.errors import InputError
from karenina_core.schemas import FieldEvidence, Usage, VerificationResult

MOST = 2**53
"""The largest whole number that every table and every JSON reader keeps."""
MOST_REPEATS = 1_000_000


def check_row(number: int, result: VerificationResult) -> None:
    """Refuse a result that no table could hold.

    Args:
        number: Its place in the file, from 1.
        result: As read.

    Raises:
        InputError: It names the place and what is wrong.
    """
    for problem in _problems(result):
        raise InputError(f"Result {number} in the file is damaged.", why=problem, next="Export the run again.")


def _problems(result: VerificationResult) -> Iterator[str]:
    if not 1 <= result.replicate <= MOST_REPEATS:
        yield f"Repeats are counted from 1 to {MOST_REPEATS:,}."
    if any(abs(score) > MOST for score in result.rubric.scores.values()):
        yield "A score is larger than any that a trait can have."
    if any(field.rule is not None and not isinstance(field.rule.get("type"), str) for field in _fields(result)):
        yield "A rule does not say of which type it is."
    calls = list(calls_of(result))
    if any(not {"role", "content"} <= message.keys() for call in calls for message in call.messages):
        yield "A message lacks its role or its content."
    if any(count > MOST for usage in (result.usage, *(call.usage for call in calls)) for count in _counts(usage)):
        yield "A number of tokens is larger than any reply."


def _fields(result: VerificationResult) -> list[FieldEvidence]:
    return result.template.fields if result.template else []


def _counts(usage: Usage) -> Iterator[int]:
    for count in (usage.input_tokens, usage.output_tokens, usage.calls, usage.cached_calls):
        yield abs(count or 0)
