"""Changing and removing questions by hand, in ways that can be taken back."""

from __future__ import annotations

from typing import Any, NamedTuple

from karenina_core.benchmark.entry import Entry
from karenina_core.benchmark.question_metadata import QuestionMetadataMethods
from karenina_core.errors import InputError
from karenina_core.schemas.entities.question import question_id as id_of


class RemovedQuestion(NamedTuple):
    """A question that was taken out, and the place it had."""

    entry: Entry
    position: int


class EditingMethods(QuestionMetadataMethods):
    """What an editor does to questions."""

    def edit_question(self, question_id: str, *, keep_id: bool = False, **fields: Any) -> str:
        """Change fields of a question; with a new text it gets a new id, since results know a text by its id.

        Args:
            question_id: Its id now.
            keep_id: Keep the id although the text changes, as for a typo.
            **fields: As for `update_question`.

        Returns:
            The id it has now. Its place in the benchmark is the same.

        Raises:
            InputError: A field is not usable, or another question has the new id.
            TemplateError: The template cannot be read.
        """
        old = self._entry(question_id).question
        text = fields.get("question", old.question)
        new_id = old.id if keep_id or text == old.question else id_of(text)
        if new_id != old.id and new_id in self._contents.entries:
            raise InputError(
                "Another question of this benchmark has this text.", next="Change the text, or edit the other question."
            )
        self.update_question(old.id, **fields)
        if new_id != old.id:
            self._give_id(old.id, new_id)
        return new_id

    def give_id(self, question_id: str, new_id: str) -> None:
        """Give a question another id, such as the one it had before its text changed. Its place stays the same.

        Raises:
            InputError: There is no such question, or another one has the new id.
        """
        old_id = self._entry(question_id).question.id
        if new_id == old_id:
            return
        if not new_id.strip() or new_id in self._contents.entries:
            raise InputError(f"The id {new_id!r} is taken by another question.", next="Delete that one first.")
        self._give_id(old_id, new_id)

    def take_question(self, question_id: str) -> RemovedQuestion:
        """Remove a question and return what `put_back` needs.

        Raises:
            InputError: There is none of that id.
        """
        entry = self._entry(question_id)
        position = list(self._contents.entries).index(entry.question.id)
        self._forget_text(self._contents.entries.pop(entry.question.id).question)
        self._touch()
        return RemovedQuestion(entry, position)

    def put_back(self, removed: RemovedQuestion) -> str:
        """Put a removed question back in its place and return its id.

        Raises:
            InputError: A question of that id was added meanwhile.
        """
        question = removed.entry.question
        if question.id in self._contents.entries:
            raise InputError("This question is in the benchmark already.")
        entries = list(self._contents.entries.items())
        entries.insert(removed.position, (question.id, removed.entry))
        self._put_all(entries)
        self._ids_by_text.setdefault(question.text_id, question.id)
        return question.id

    def _give_id(self, old_id: str, new_id: str) -> None:
        entry = self._contents.entries[old_id]
        self._forget_text(entry.question)
        renamed = entry._replace(question=entry.question.model_copy(update={"stored_id": new_id}), clean=False)
        self._put_all(
            [(new_id, renamed) if name == old_id else (name, other) for name, other in self._contents.entries.items()]
        )
        self._ids_by_text.setdefault(renamed.question.text_id, new_id)
        self.renamed.append((old_id, new_id))

    def _put_all(self, entries: list[tuple[str, Entry]]) -> None:
        self._contents.entries.clear()
        self._contents.entries.update(entries)
        self._touch()
