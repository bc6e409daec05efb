"""Changing what belongs to a question, and its finished flag."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, overload

from karenina_core.benchmark.base import BenchmarkBase, dumped, make_rubric
from karenina_core.benchmark.entry import BenchmarkQuestion
from karenina_core.benchmark.sources import checked_source
from karenina_core.benchmark.workspaces import check_relative
from karenina_core.errors import InputError

_FIXED = frozenset({"id", "stored_id", "date_created", "date_modified"})


class QuestionMetadataMethods(BenchmarkBase):
    """Fields, custom properties and finished flags of questions."""

    def update_question(self, question_id: str, **fields: Any) -> None:
        """Change fields of a question; its id stays, also when its text changes.

        Args:
            question_id: The question.
            **fields: Any field of `Question`, `finished`, or `rubric`. None clears an optional field.

        Raises:
            InputError: A field is unknown or its value not usable.
            TemplateError: The new template cannot be read.
        """
        entry = self._entry(question_id)
        fixed = sorted(_FIXED & fields.keys())
        if fixed:
            raise InputError(f"{', '.join(fixed)} of a question cannot be changed.")
        for name in {"rubric", "question_rubric"} & fields.keys():
            rubric = make_rubric(fields.pop(name))
            entry = entry._replace(rubric=rubric)
            fields["question_rubric"] = dumped(rubric)
        if "answer_template" in fields:
            fields["answer_template"] = checked_source(fields["answer_template"])
        if fields.get("workspace_path") is not None:
            check_relative(fields["workspace_path"])
        self._change(entry, fields)

    def update_question_metadata(self, question_id: str, **metadata: Any) -> None:
        """As `update_question`."""
        self.update_question(question_id, **metadata)

    def get_question_metadata(self, question_id: str) -> dict[str, Any]:
        """Return everything known of a question as plain data, with its flags."""
        entry = self._entry(question_id)
        return {
            **entry.question.model_dump(mode="json"),
            "finished": entry.question.finished,
            "has_template": entry.question.answer_template is not None,
            "has_rubric": bool(entry.rubric),
        }

    def get_question_timestamps(self, question_id: str) -> dict[str, str]:
        """Return when a question was `created` and `modified`, as ISO 8601 text."""
        question = self._entry(question_id).question
        return {"created": question.date_created, "modified": question.date_modified}

    def get_question_author(self, question_id: str) -> dict[str, Any] | None:
        """Return who wrote a question."""
        return self._entry(question_id).question.author

    def set_question_author(self, question_id: str, author: dict[str, Any] | None) -> None:
        """Set who wrote a question."""
        self._change(self._entry(question_id), {"author": author})

    def get_question_sources(self, question_id: str) -> list[dict[str, Any]] | None:
        """Return the sources of a question's answer."""
        return self._entry(question_id).question.sources

    def set_question_sources(self, question_id: str, sources: list[dict[str, Any]] | None) -> None:
        """Set the sources of a question's answer."""
        self._change(self._entry(question_id), {"sources": sources})

    def get_question_custom_property(self, question_id: str, name: str, default: Any = None) -> Any:
        """Return one entry of a question's custom metadata."""
        return (self._entry(question_id).question.custom_metadata or {}).get(name, default)

    def set_question_custom_property(self, question_id: str, name: str, value: Any) -> None:
        """Set one entry of a question's custom metadata; any JSON value."""
        entry = self._entry(question_id)
        self._change(entry, {"custom_metadata": {**(entry.question.custom_metadata or {}), name: value}})

    def remove_question_custom_property(self, question_id: str, name: str) -> bool:
        """Remove one entry of a question's custom metadata; False when there is none of that name."""
        entry = self._entry(question_id)
        metadata = dict(entry.question.custom_metadata or {})
        if name not in metadata:
            return False
        del metadata[name]
        self._change(entry, {"custom_metadata": metadata or None})
        return True

    def mark_finished(self, question_id: str) -> None:
        """Let a question take part in runs."""
        self._set_finished(question_id, True)

    def mark_unfinished(self, question_id: str) -> None:
        """Leave a question out of runs."""
        self._set_finished(question_id, False)

    def mark_finished_batch(self, question_ids: Iterable[str]) -> None:
        """Let several questions take part in runs."""
        for question_id in question_ids:
            self._set_finished(question_id, True)

    def mark_unfinished_batch(self, question_ids: Iterable[str]) -> None:
        """Leave several questions out of runs."""
        for question_id in question_ids:
            self._set_finished(question_id, False)

    def toggle_finished(self, question_id: str) -> bool:
        """Change the finished flag of a question and return what it is now."""
        finished = not self._entry(question_id).question.finished
        self._set_finished(question_id, finished)
        return finished

    @overload
    def get_finished_questions(self, ids_only: Literal[False] = False) -> list[BenchmarkQuestion]: ...
    @overload
    def get_finished_questions(self, ids_only: Literal[True]) -> list[str]: ...
    def get_finished_questions(self, ids_only: bool = False) -> list[BenchmarkQuestion] | list[str]:
        """Return the questions that take part in runs, or their ids."""
        chosen = [question for question in self._questions() if question.finished]
        return [question.id for question in chosen] if ids_only else chosen

    @overload
    def get_unfinished_questions(self, ids_only: Literal[False] = False) -> list[BenchmarkQuestion]: ...
    @overload
    def get_unfinished_questions(self, ids_only: Literal[True]) -> list[str]: ...
    def get_unfinished_questions(self, ids_only: bool = False) -> list[BenchmarkQuestion] | list[str]:
        """Return the questions that are left out of runs, or their ids."""
        chosen = [question for question in self._questions() if not question.finished]
        return [question.id for question in chosen] if ids_only else chosen

    def _set_finished(self, question_id: str, finished: bool) -> None:
        entry = self._entry(question_id)
        if entry.question.finished != finished:
            self._store(entry._replace(question=entry.question.model_copy(update={"finished": finished}), clean=False))
