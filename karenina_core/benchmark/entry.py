"""`BenchmarkQuestion`, a question as a member of a benchmark, and what the benchmark keeps beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ConfigDict, Field, computed_field

from karenina_core.schemas import Rubric, share_layout
from karenina_core.schemas.entities.question import Question, question_id

_NO_NODE: Mapping[str, Any] = {}


class BenchmarkQuestion(Question):
    """A question as a member of a benchmark. Read-only; it changes through the methods of `Benchmark`.

    Files may hold questions without a text or a reference answer; those are kept, and `Benchmark.check` names them.

    Attributes:
        finished: Whether the question takes part in runs.
        stored_id: The id it has in its file, where that differs from the hash of its text.
    """

    model_config = ConfigDict(frozen=True)

    question: str
    raw_answer: str = ""
    finished: bool = Field(default=True, exclude=True)
    stored_id: str = Field(default="", exclude=True, repr=False)

    def model_post_init(self, context: Any, /) -> None:
        """Take little memory."""
        share_layout(self)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def id(self) -> str:
        """The id in the benchmark and in results."""
        return self.stored_id or self.text_id

    @property
    def text_id(self) -> str:
        """The MD5 of the text, the same in every benchmark."""
        return question_id(self.question)

    def __eq__(self, other: object) -> bool:
        """Compare content; the plain `Question` of the same content is equal."""
        if not isinstance(other, Question):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in Question.model_fields)


class Entry(NamedTuple):
    """What a benchmark holds of one question.

    Attributes:
        question: Everything known of it.
        rubric: Its own rubric, None when it has none.
        node: The `DataFeedItem` of its file; keeps what this program does not know. Never changed.
        clean: Whether the node says exactly what the other two say.
    """

    question: BenchmarkQuestion
    rubric: Rubric | None = None
    node: Mapping[str, Any] = _NO_NODE
    clean: bool = False
