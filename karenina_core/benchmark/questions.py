"""Adding, reading and removing questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, overload

from karenina_core.benchmark.base import BenchmarkBase, dumped, make_question, make_rubric
from karenina_core.benchmark.checkpoint.entries import free_id
from karenina_core.benchmark.entry import BenchmarkQuestion, Entry
from karenina_core.benchmark.merging import merge_fields, merge_traits
from karenina_core.benchmark.sources import checked_source
from karenina_core.benchmark.workspaces import check_relative
from karenina_core.errors import InputError
from karenina_core.schemas import BaseAnswer, Rubric
from karenina_core.schemas.entities.question import FewShotExample, Question, now, question_id

_ALIASES = {"rubric": "question_rubric", "tags": "keywords", "id": "question_id"}


class QuestionMethods(BenchmarkBase):
    """The questions of a benchmark."""

    def add_question(
        self,
        question: str | Mapping[str, Any] | Question,
        raw_answer: str | None = None,
        answer_template: str | type[BaseAnswer] | None = None,
        question_id: str | None = None,
        finished: bool | None = None,
        author: dict[str, Any] | None = None,
        sources: list[dict[str, Any]] | None = None,
        custom_metadata: dict[str, Any] | None = None,
        few_shot_examples: Sequence[FewShotExample | dict[str, str]] | None = None,
        answer_notes: str | None = None,
        *,
        rubric: Rubric | Mapping[str, Any] | None = None,
        keywords: Sequence[str] | None = None,
        workspace_path: str | None = None,
    ) -> str:
        """Add a question.

        A text that is there already is not added again: a new rubric, template or keywords are merged into the
        existing question, and `notices` says so. An explicit `question_id` always makes a question of its own.

        Args:
            question: The text, or a whole question as `Question` or dict. Other arguments override its fields.
            raw_answer: The reference answer. Required unless `question` holds it.
            answer_template: Source of an `Answer` class, or the class itself.
            question_id: The id; the MD5 of the text when not given.
            finished: Whether it takes part in runs; True when neither this nor the question says.
            author: Who wrote it.
            sources: Where the answer comes from.
            custom_metadata: Anything else.
            few_shot_examples: Example questions and answers for the answering model.
            answer_notes: Remarks on edge cases, used when templates are generated.
            rubric: The question's own traits.
            keywords: For filtering and grouping.
            workspace_path: Folder of the question, relative to the workspace root.

        Returns:
            The id of the new or the existing question.

        Raises:
            InputError: The id is taken, or a field is not usable.
            TemplateError: The template cannot be read.
        """
        arguments = {
            "raw_answer": raw_answer,
            "answer_template": answer_template,
            "finished": finished,
            "author": author,
            "sources": sources,
            "custom_metadata": custom_metadata,
            "few_shot_examples": few_shot_examples,
            "answer_notes": answer_notes,
            "question_rubric": rubric,
            "keywords": None if keywords is None else list(keywords),
            "workspace_path": workspace_path,
        }
        given = {name: value for name, value in arguments.items() if value is not None}
        fields, own_id = _fields_of(question)
        return self._add({**fields, **given}, question_id or own_id)

    def add_question_from_object(self, question: Question, **arguments: Any) -> str:
        """Add a `Question`; as `add_question`."""
        return self.add_question(question, **arguments)

    def add_questions(self, questions: Iterable[str | Mapping[str, Any] | Question], **arguments: Any) -> list[str]:
        """Add several questions, with the same further arguments; as `add_question`. Returns their ids."""
        return [self.add_question(question, **arguments) for question in questions]

    def add_questions_batch(
        self, questions: Iterable[str | Mapping[str, Any] | Question], **arguments: Any
    ) -> list[str]:
        """As `add_questions`."""
        return self.add_questions(questions, **arguments)

    def get_question(self, question_id: str) -> BenchmarkQuestion:
        """Return a question by its id, or by the MD5 of its text.

        Raises:
            InputError: There is none.
        """
        return self._entry(question_id).question

    def get_question_as_object(self, question_id: str) -> BenchmarkQuestion:
        """As `get_question`."""
        return self.get_question(question_id)

    def get_question_ids(self) -> list[str]:
        """Return the ids of all questions, in order."""
        return list(self._contents.entries)

    @overload
    def get_all_questions(self, ids_only: Literal[False] = False) -> list[BenchmarkQuestion]: ...
    @overload
    def get_all_questions(self, ids_only: Literal[True]) -> list[str]: ...
    def get_all_questions(self, ids_only: bool = False) -> list[BenchmarkQuestion] | list[str]:
        """Return all questions, or their ids."""
        return self.get_question_ids() if ids_only else list(self._questions())

    def get_all_questions_as_objects(self) -> list[BenchmarkQuestion]:
        """Return all questions."""
        return self.get_all_questions()

    def remove_question(self, question_id: str) -> bool:
        """Remove a question; False when there is none of that id."""
        found = self._find(question_id)
        if found is None:
            return False
        self._forget_text(self._contents.entries.pop(found).question)
        self._touch()
        return True

    def clear_questions(self) -> int:
        """Remove all questions and return how many there were."""
        count = len(self._contents.entries)
        self._contents.entries.clear()
        self._ids_by_text.clear()
        self._touch()
        return count

    def _add(self, fields: dict[str, Any], explicit: str | None) -> str:
        text_id = question_id(fields["question"])
        preferred = fields.pop("stored_id", None)
        rubric = make_rubric(fields.pop("question_rubric", None))
        fields["answer_template"] = checked_source(fields.get("answer_template"))
        if fields.get("workspace_path") is not None:
            check_relative(fields["workspace_path"])
        if explicit is None and text_id in self._ids_by_text:
            return self._merge(self._entry(text_id), fields, rubric)
        if explicit in self._contents.entries:
            raise InputError(
                f"The id {explicit!r} is taken by another question.", next="Choose another id, or give none."
            )
        free = preferred if preferred not in self._contents.entries else None
        return self._insert(explicit or free or free_id(text_id, self._contents.entries), fields, rubric)

    def _insert(self, stored_id: str, fields: Mapping[str, Any], rubric: Rubric | None) -> str:
        finished = fields.get("finished") is not False
        question = make_question(
            {**fields, "finished": finished, "stored_id": stored_id, "question_rubric": dumped(rubric)}
        )
        self._store(Entry(question, rubric))
        return stored_id

    def _merge(self, entry: Entry, fields: Mapping[str, Any], rubric: Rubric | None) -> str:
        old = entry.question
        merged = merge_fields(old, fields)
        if rubric is not None:
            entry = entry._replace(rubric=merge_traits(entry.rubric, rubric, merged))
        if merged.changes:
            self._change(entry, merged.changes)
        self.notices.append(f"The question {old.question[:60]!r} is there already (id {old.id}): {merged.in_words()}.")
        return old.id


def _fields_of(question: str | Mapping[str, Any] | Question) -> tuple[dict[str, Any], str | None]:
    """Return the fields of whatever `add_question` accepts as a question, and the id it insists on."""
    if isinstance(question, str):
        moment = now()
        return {"question": question, "date_created": moment, "date_modified": moment}, None
    if isinstance(question, Question):
        return {name: value for name, value in vars(question).items() if value is not None}, None
    fields = {_ALIASES.get(name, name): value for name, value in question.items()}
    if not isinstance(fields.get("question"), str):
        raise InputError("The question has no text.", next="Give it as 'question'.")
    explicit = fields.pop("question_id", None)
    # A dumped question carries the hash of its text; that is no wish for an id of its own.
    return fields, None if explicit == question_id(fields["question"]) else explicit
