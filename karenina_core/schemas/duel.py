"""Which of two answers to the same question a person finds better, without knowing whose they are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal
from uuid import uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from karenina_core.schemas.annotation import MAX_AUTHOR

Winner = Literal["left", "right", "tie"]


class Duel(BaseModel):
    """One comparison.

    Attributes:
        id: Thirty-two hex digits.
        run_id: The run of both results.
        left_result: The result whose answer stood on the left.
        right_result: The one on the right.
        winner: The better one, or `tie`.
        author: Who says so; empty when nobody said.
        at: When, with its time zone.
        undone: Whether it was taken back.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(default_factory=lambda: uuid4().hex)
    run_id: str
    left_result: str
    right_result: str
    winner: Winner
    author: str = Field(default="", max_length=MAX_AUTHOR)
    at: AwareDatetime = Field(default_factory=lambda: datetime.now(UTC))
    undone: bool = False
