"""The answer templates of a benchmark's questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from karenina_core.benchmark.base import BenchmarkBase
from karenina_core.benchmark.sources import checked_source
from karenina_core.errors import InputError
from karenina_core.files import json_bytes, read_json_file, write_atomic
from karenina_core.schemas import BaseAnswer


class TemplateMethods(BenchmarkBase):
    """Setting, reading and copying templates."""

    def add_answer_template(self, question_id: str, template: str | type[BaseAnswer]) -> None:
        """Give a question its template.

        Args:
            question_id: The question.
            template: Source of a class named `Answer`, or the class itself.

        Raises:
            InputError: There is no such question, or the template is empty.
            TemplateError: It cannot be read; says why and in which line.
        """
        entry = self._entry(question_id)
        source = checked_source(template)
        if source is None:
            raise InputError("The template is empty.", next="Use `remove_template` to take a template away.")
        self._change(entry, {"answer_template": source})

    def update_template(self, question_id: str, template: str | type[BaseAnswer]) -> None:
        """As `add_answer_template`."""
        self.add_answer_template(question_id, template)

    def remove_template(self, question_id: str) -> bool:
        """Take a question's template away; False when it has none."""
        entry = self._entry(question_id)
        if entry.question.answer_template is None:
            return False
        self._change(entry, {"answer_template": None})
        return True

    def has_template(self, question_id: str) -> bool:
        """Whether a question has a template, readable or not."""
        return self._entry(question_id).question.answer_template is not None

    def get_template(self, question_id: str) -> str | None:
        """Return the source of a question's template, None when it has none."""
        return self._entry(question_id).question.answer_template

    def copy_template(self, from_question_id: str, to_question_id: str) -> None:
        """Give a question the template of another.

        Raises:
            InputError: The other question has none.
        """
        source = self.get_template(from_question_id)
        if source is None:
            raise InputError(f"The question {from_question_id!r} has no template to copy.")
        self.add_answer_template(to_question_id, source)

    def apply_global_template(self, template: str | type[BaseAnswer]) -> list[str]:
        """Give the template to all questions without one and return their ids."""
        missing = self.get_missing_templates()
        for question_id in missing:
            self.add_answer_template(question_id, template)
        return missing

    def get_finished_templates(self, question_ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return the templates of finished questions by question id.

        Args:
            question_ids: Only of these questions; of all when not given.
        """
        entries = self._contents.entries
        chosen = entries.values() if question_ids is None else [self._entry(wanted) for wanted in question_ids]
        return {
            entry.question.id: entry.question.answer_template
            for entry in chosen
            if entry.question.finished and entry.question.answer_template
        }

    def get_missing_templates(self) -> list[str]:
        """Return the ids of questions without a template."""
        return [question.id for question in self._questions() if question.answer_template is None]

    def export_generated_templates(self, path: str | Path) -> None:
        """Write all templates to a JSON file, by question id."""
        write_atomic(path, json_bytes({q.id: q.answer_template for q in self._questions() if q.answer_template}))

    def import_generated_templates(self, path: str | Path, *, force_overwrite: bool = True) -> dict[str, bool]:
        """Read templates from a JSON file, by question id.

        Args:
            path: The file.
            force_overwrite: Whether to replace existing templates.

        Returns:
            By id, whether the template was taken. Questions the benchmark does not have are passed over.

        Raises:
            InputError: The file does not hold texts by id.
            TemplateError: A template cannot be read; then none is taken.
        """
        sources = read_json_file(path)
        if not isinstance(sources, Mapping) or not all(isinstance(source, str) for source in sources.values()):
            raise InputError(f"{path} does not hold template sources by question id.")
        taken = {
            key: key in self._contents.entries and (force_overwrite or not self.has_template(key)) for key in sources
        }
        wanted = {key: checked_source(sources[key]) for key in sources if taken[key]}
        for question_id, source in wanted.items():
            self._change(self._entry(question_id), {"answer_template": source})
        return taken
