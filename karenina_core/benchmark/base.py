"""What the parts of `Benchmark` share: the contents, and the one way to change them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from karenina_core.benchmark.checkpoint.repairs import Repair
from karenina_core.benchmark.contents import Contents
from karenina_core.benchmark.entry import BenchmarkQuestion, Entry
from karenina_core.errors import InputError, validation_message
from karenina_core.schemas import Rubric
from karenina_core.schemas.entities.question import now
from karenina_core.text import check_whole


class UnknownQuestionError(InputError, KeyError):
    """The benchmark has no question of that id."""

    def __init__(self, question_id: object) -> None:
        super().__init__(
            f"The benchmark has no question {question_id!r}.", next="See `get_question_ids()` for those it has."
        )


class BenchmarkBase:
    """A benchmark's contents. Questions are read-only snapshots, replaced as a whole when they change.

    Attributes:
        notices: What adding questions did beyond adding, such as merging a repeated one.
        repairs: What had to be repaired when the file was read.
        renamed: Ids of questions that changed since it was read or saved, old and new, in their order.
    """

    def __init__(self, contents: Contents, repairs: Iterable[Repair] = ()) -> None:
        self._contents = contents
        self._ids_by_text: dict[str, str] = {}
        for question in self._questions():
            self._remember_text(question)
        self._workspace_root: Path | None = None
        self.notices: list[str] = []
        self.repairs = list(repairs)
        self.renamed: list[tuple[str, str]] = []

    def _find(self, question_id: object) -> str | None:
        """Return the stored id of an id, or of the hash of a question's text."""
        if not isinstance(question_id, str):
            return None
        return question_id if question_id in self._contents.entries else self._ids_by_text.get(question_id)

    def _entry(self, question_id: str) -> Entry:
        found = self._find(question_id)
        if found is None:
            raise UnknownQuestionError(question_id)
        return self._contents.entries[found]

    def _questions(self) -> Iterable[BenchmarkQuestion]:
        return (entry.question for entry in self._contents.entries.values())

    def _store(self, entry: Entry) -> None:
        """Put a new or changed question in its place."""
        question = entry.question
        before = self._contents.entries.get(question.id)
        if before is not None and before.question.question != question.question:
            self._forget_text(before.question)
        self._contents.entries[question.id] = entry
        self._remember_text(question)
        self._touch()

    def _remember_text(self, question: BenchmarkQuestion) -> None:
        """Know a question by its text, too; of several with one text the first counts."""
        stored_id, text_id = question.id, question.text_id
        # Most ids are that of the text; one string for both saves a copy for every question.
        self._ids_by_text.setdefault(stored_id if stored_id == text_id else text_id, stored_id)

    def _forget_text(self, question: BenchmarkQuestion) -> None:
        if self._ids_by_text.get(question.text_id) == question.id:
            del self._ids_by_text[question.text_id]

    def _change(self, entry: Entry, fields: Mapping[str, Any]) -> None:
        """Replace some fields of a question."""
        # A file may lack a text; that is no reason to refuse a change of something else.
        changed = make_question({**vars(entry.question), "date_modified": now(), **fields}, required=fields)
        self._store(entry._replace(question=changed, clean=False))

    def _set_rubric(self, entry: Entry, rubric: Rubric | None) -> None:
        self._change(entry._replace(rubric=rubric), {"question_rubric": dumped(rubric)})

    def _touch(self) -> None:
        self._contents.modified_at = now()


_REQUIRED = {"question": "text", "raw_answer": "reference answer (raw_answer)"}


def make_question(fields: Mapping[str, Any], required: Container[str] = _REQUIRED) -> BenchmarkQuestion:
    """Return a question of the given fields.

    Args:
        fields: The fields by name.
        required: Those of `question` and `raw_answer` that must not be blank.

    Raises:
        InputError: A field is unknown, of the wrong kind, or blank, or holds half a surrogate pair.
    """
    check_whole("The question", fields)
    try:
        question = BenchmarkQuestion.model_validate(fields)
    except ValidationError as error:
        raise InputError("The question cannot be used as given.", validation_message(error)) from error
    for field, name in _REQUIRED.items():
        if field in required and not getattr(question, field).strip():
            raise InputError(f"The question has no {name}.", next="Give a text that is not blank.")
    return question


def make_rubric(rubric: Rubric | Mapping[str, Any] | None) -> Rubric | None:
    """Return an independent copy of a rubric, checked again in case its traits were changed meanwhile.

    A rubric that says nothing at all is none.

    Raises:
        InputError: Trait names are repeated, or a trait is not valid or holds half a surrogate pair.
    """
    if rubric is None:
        return None
    check_whole("The rubric", rubric)
    try:
        made = Rubric.model_validate(rubric.model_dump() if isinstance(rubric, Rubric) else rubric)
    except ValidationError as error:
        raise InputError("The rubric cannot be used as given.", validation_message(error)) from error
    return None if made == Rubric() else made


def dumped(rubric: Rubric | None) -> dict[str, Any] | None:
    """Return a rubric as `Question.question_rubric` holds it."""
    return None if rubric is None else rubric.model_dump(mode="json")
