"""Changing and removing questions by hand, in ways that can be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from karenina_core.benchmark.entry import Entry
from karenina_core.benchmark.question_metadata import QuestionMetadataMethods
from karenina_core.errors import InputError
from karenina_core.schemas.entities.question import question_id as id_of
from karenina_core.text import check_whole


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
            self._give_ids({old.id: new_id})
        return new_id

    def give_id(self, question_id: str, new_id: str) -> None:
        """Give a question another id, such as the one it had before its text changed. Its place stays the same.

        Raises:
            InputError: There is no such question, or another one has the new id.
        """
        self.give_ids({self._entry(question_id).question.id: new_id})

    def give_ids(self, ids: Mapping[str, str]) -> None:
        """Give questions other ids, one after the other, in the time it takes for one. Their places stay the same.

        Args:
            ids: New ids by those now.

        Raises:
            InputError: There is no such question, or another one has the new id; all have the ids they had then.
        """
        taken = set(self._contents.entries)
        moves = [(old, new) for old, new in ids.items() if old != new]
        for old, new in moves:
            self._entry(old)
            check_whole("The question's id", new)
            if not new.strip() or new in taken:
                raise InputError(f"The id {new!r} is taken by another question.", next="Delete that one first.")
            taken.discard(old)
            taken.add(new)
        self._give_ids(dict(moves))

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
        self._remember_text(question)
        return question.id

    def _give_ids(self, moves: Mapping[str, str]) -> None:
        entries = []
        for name, entry in self._contents.entries.items():
            if name in moves:
                self._forget_text(entry.question)
                question = entry.question.model_copy(update={"stored_id": moves[name]})
                entry = entry._replace(question=question, clean=False)
            entries.append((moves.get(name, name), entry))
        self._put_all(entries)
        for new_id in moves.values():
            self._remember_text(self._contents.entries[new_id].question)
        self.renamed += moves.items()

    def _put_all(self, entries: list[tuple[str, Entry]]) -> None:
        self._contents.entries.clear()
        self._contents.entries.update(entries)
        self._touch()
