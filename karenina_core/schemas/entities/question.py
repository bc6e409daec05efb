"""`Question`: a prompt with its reference answer and everything that travels with it."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, computed_field, model_validator

from karenina_core.text import check_whole


def now() -> str:
    """Return the present moment as ISO 8601 text in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat()


def question_id(text: str) -> str:
    """Return the identity of a question text: the MD5 of its UTF-8 bytes, 32 lower-case hex digits.

    MD5 is a label here, never a security boundary.

    Raises:
        InputError: The text holds half a surrogate pair.
    """
    check_whole("The question's text", text)
    return hashlib.md5(text.encode("utf-8"), usedforsecurity=False).hexdigest()


class FewShotExample(BaseModel):
    """An example question and answer, shown to the answering model only."""

    model_config = ConfigDict(extra="forbid")

    question: str
    answer: str


class Question(BaseModel):
    """The minimal unit of evaluation.

    Unknown fields are refused. The legacy key `tags` is read as `keywords`, unless both are given.
    Only `question` (and few-shot examples, when enabled) reach the answering model; `raw_answer` never leaves
    the machine.
    """

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    question: str = Field(min_length=1)
    raw_answer: str = Field(min_length=1)
    keywords: list[str] = Field(default_factory=list)
    date_created: str = Field(default_factory=now)
    date_modified: str = Field(default_factory=now)
    answer_notes: str | None = None
    author: dict[str, Any] | None = None
    sources: list[dict[str, Any]] | None = None
    answer_template: str | None = None
    workspace_path: str | None = None
    question_rubric: dict[str, Any] | None = None
    few_shot_examples: list[FewShotExample] | None = None
    custom_metadata: dict[str, Any] | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def id(self) -> str:
        """The identity of the prompt; nothing but the question text enters it."""
        return question_id(self.question)

    @model_validator(mode="before")
    @classmethod
    def _read_legacy_keys(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = dict(data)
        tags = data.pop("tags", None)
        if tags is not None and data.get("keywords") is None:
            data["keywords"] = tags
        # A dumped question carries its computed id; accept it back only when it is the right one.
        if "id" in data and data["id"] == question_id(str(data.get("question", ""))):
            del data["id"]
        return data
