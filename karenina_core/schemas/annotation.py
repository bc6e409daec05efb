"""What people say about a result. It stands beside the machine's verdict and never changes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Literal, get_args
from uuid import uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from karenina_core.schemas.results import Verdict

Cause = Literal["answer_wrong", "judge_misread", "rule_too_strict", "unparseable", "abstained", "technical"]

CAUSES: tuple[Cause, ...] = get_args(Cause)
"""All causes, in the order of the keys 1 to 6."""

CAUSE_WORDS: Mapping[Cause, str] = {
    "answer_wrong": "The answer is wrong",
    "judge_misread": "The judge misread it",
    "rule_too_strict": "The rule is too strict",
    "unparseable": "The judge's reply could not be read",
    "abstained": "The model did not answer",
    "technical": "A technical failure",
}
"""What each cause means, in words."""

MAX_NOTE = 4_000
MAX_AUTHOR = 200
_NOT_DECIDED = frozenset({"unparseable", "abstained", "technical"})


class Annotation(BaseModel):
    """One person's opinion of one result, or of one field of it.

    Attributes:
        id: Thirty-two hex digits.
        run_id: The run.
        result_id: The result in it.
        field: The template field it is about; None for the result as a whole.
        agrees: Whether the person finds the machine's verdict right.
        cause: What the result comes from, in the person's eyes.
        note: Free text, at most 4,000 characters.
        author: Who says so, at most 200 characters; empty when nobody said.
        at: When, with its time zone.
        undone: Whether it was taken back; it stays in the history.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(default_factory=lambda: uuid4().hex)
    run_id: str
    result_id: str
    field: str | None = None
    agrees: bool
    cause: Cause | None = None
    note: str = Field(default="", max_length=MAX_NOTE)
    author: str = Field(default="", max_length=MAX_AUTHOR)
    at: AwareDatetime = Field(default_factory=lambda: datetime.now(UTC))
    undone: bool = False

    @property
    def who(self) -> str:
        """The author in a sentence; `Somebody` when nobody said."""
        return self.author or "Somebody"


def agrees_with(verdict: Verdict, cause: Cause) -> bool:
    """Return whether naming this cause means that the machine's verdict is right.

    A fail is right when the answer is wrong. Without a verdict, it is right that there is none where nothing could be
    decided. A pass with any of these causes is not right.
    """
    if verdict == "not_evaluated":
        return cause in _NOT_DECIDED
    return verdict == "fail" and cause == "answer_wrong"


def latest_reviews(annotations: Iterable[Annotation]) -> dict[str, Annotation]:
    """Return by result the last opinion about it as a whole that was not taken back."""
    standing = (item for item in annotations if not item.undone and item.field is None)
    return {item.result_id: item for item in sorted(standing, key=lambda item: item.at)}
