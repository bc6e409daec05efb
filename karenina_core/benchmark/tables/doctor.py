"""The import doctor: a table and what its columns mean, as questions and a list of everything that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from karenina_core.benchmark.benchmark import Benchmark
from karenina_core.benchmark.checkpoint.reader import MAX_QUESTIONS
from karenina_core.benchmark.question_sheet import METADATA_PREFIX
from karenina_core.benchmark.sources import checked_source
from karenina_core.benchmark.tables.findings import KINDS, Choices, Finding
from karenina_core.benchmark.tables.mapping import ColumnMapping, model_of
from karenina_core.benchmark.tables.row_reader import Columns, RowReader
from karenina_core.benchmark.tables.table import Cell, Row, Table, is_blank
from karenina_core.benchmark.tables.values import author_of, keywords_of, sources_of, text_of, yes_or_no
from karenina_core.benchmark.workspaces import check_relative
from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas.entities.question import question_id

_PREVIEWED = 10


@dataclass
class Draft:
    """A question to be.

    Attributes:
        row: The row it comes from.
        fields: Its fields, as for `Benchmark.add_question`.
        existing: The id of the question of a benchmark that it is, None when it is new.
        responses: The answers of models to it, by model.
    """

    row: int
    fields: dict[str, Any]
    existing: str | None = None
    responses: dict[str, str] = field(default_factory=dict)


class Added(NamedTuple):
    """What an import did: the ids of the new questions, and model → question id → answer."""

    question_ids: list[str]
    answers: dict[str, dict[str, str]]


@dataclass(frozen=True)
class Import:
    """What would be imported, and what is wrong with the rest.

    Attributes:
        total: Number of rows in the table.
        drafts: The good rows as questions; rows with further answers to one are part of its draft.
        findings: Everything found, by row.
        left_out: Numbers of the rows that will not be imported.
    """

    total: int
    drafts: tuple[Draft, ...]
    findings: tuple[Finding, ...]
    left_out: frozenset[int]

    @property
    def good(self) -> int:
        """Number of rows that will be imported."""
        return self.total - len(self.left_out)

    @property
    def models(self) -> dict[str, int]:
        """The models answers are brought from, with the number of their answers."""
        counts: dict[str, int] = {}
        for draft in self.drafts:
            for model in draft.responses:
                counts[model] = counts.get(model, 0) + 1
        return counts

    def add_to(self, benchmark: Benchmark) -> Added:
        """Add the questions to a benchmark.

        Raises:
            InputError: It would have too many questions; nothing is then added.
        """
        new = [draft for draft in self.drafts if draft.existing is None]
        if len(benchmark) + len(new) > MAX_QUESTIONS:
            raise InputError(
                f"The benchmark would have {len(benchmark) + len(new):,} questions.",
                f"At most {MAX_QUESTIONS:,} are kept in one.",
                "Import fewer rows.",
            )
        answers: dict[str, dict[str, str]] = {}
        added = []
        for draft in self.drafts:
            identity = draft.existing
            if identity is None:
                identity = benchmark.add_question(**draft.fields)
                added.append(identity)
            for model, text in draft.responses.items():
                answers.setdefault(model, {})[identity] = text
        return Added(added, answers)


def apply(
    table: Table, mapping: ColumnMapping, choices: Choices | None = None, existing: Benchmark | None = None
) -> Import:
    """Examine every row and make questions of the good ones. Nothing is changed by it.

    Args:
        table: What was read.
        mapping: What its columns mean.
        choices: What a person decided about earlier findings.
        existing: The benchmark the questions are to be added to, None for a new one.

    Raises:
        InputError: The mapping does not fit the table.
    """
    mapping.check(table)
    return _Doctor(table, mapping, choices or Choices(), existing).examine()


def preview(table: Table, mapping: ColumnMapping, rows: int = _PREVIEWED) -> Import:
    """As `apply`, of the first rows only."""
    return apply(replace(table, rows=table.rows[:rows]), mapping)


class _Doctor:
    def __init__(self, table: Table, mapping: ColumnMapping, choices: Choices, existing: Benchmark | None) -> None:
        self._table = table
        self._choices = choices
        self._existing = existing
        self._findings = [self._of_column(name) for name in mapping.unassigned(table)]
        kept = tuple(finding.column for finding in self._findings if finding.choice == "fix" and finding.column)
        self._mapping = replace(mapping, metadata=mapping.metadata + kept)
        examined = [name for name in (mapping.answer, *self._mapping.metadata) if name]
        self._columns = Columns(table, examined)
        self._by_text: dict[str, Draft] = {}
        self._by_id: dict[str, Draft] = {}
        self._responses: dict[tuple[str, str], int] = {}

    def examine(self) -> Import:
        left_out = set()
        drafts: dict[int, Draft] = {}
        for row in self._table.rows:
            reader = RowReader(row, self._columns, self._choices)
            draft = self._row(row, reader)
            self._findings += reader.findings
            if draft is None or reader.left_out:
                left_out.add(row.number)
            else:
                drafts[id(draft)] = draft
        return Import(len(self._table.rows), tuple(drafts.values()), tuple(self._findings), frozenset(left_out))

    def _of_column(self, name: str) -> Finding:
        kind = KINDS["unmapped"]
        return Finding(
            None, name, "unmapped", kind.what, kind.why, kind.fix, self._choices.about((None, name, "unmapped"))
        )

    def _row(self, row: Row, reader: RowReader) -> Draft | None:
        """Return the question of a row: a new one, or the one an earlier row made."""
        mapping = self._mapping
        text = reader.text(mapping.question)
        answer = reader.text(mapping.answer, dates=True)
        own_id = reader.text(mapping.id)
        responses = self._responses_of(reader)
        known = self._known(own_id, text)
        if not text and not (known and responses):
            reader.note("no_question", mapping.question)
            return None
        earlier = self._by_text.get(text) if text else self._by_id.get(own_id)
        if earlier is not None:
            draft = self._repeated(earlier, answer, reader)
        elif known is not None:
            reader.note("answers_only" if responses else "exists", mapping.question, value=text)
            draft = Draft(row.number, {"question": text, "raw_answer": answer}, existing=known)
        else:
            draft = Draft(row.number, self._fields(text, answer, own_id, reader))
        self._find_repeated(text or own_id, responses, reader)
        if not reader.left_out:
            draft.responses.update(responses)
            self._by_text.setdefault(text, draft)
            self._by_id.setdefault(own_id or question_id(text), draft)
            for model in responses:
                self._responses[text or own_id, model] = row.number
        return draft

    def _known(self, own_id: str, text: str) -> str | None:
        """Return the id of the question the existing benchmark has already."""
        if self._existing is None:
            return None
        if text:
            identity = question_id(text)
            return self._existing.get_question(identity).id if identity in self._existing else None
        return own_id if own_id and own_id in self._existing else None

    def _repeated(self, earlier: Draft, answer: str, reader: RowReader) -> Draft:
        same = answer == earlier.fields.get("raw_answer", "") or (not answer and self._mapping.brings_answers)
        if not same:
            reader.note("conflict", self._mapping.question, f"row {earlier.row}.")
        elif self._mapping.response is None:
            reader.note("duplicate", self._mapping.question, f"row {earlier.row}.")
        return earlier

    def _fields(self, text: str, answer: str, own_id: str, reader: RowReader) -> dict[str, Any]:
        mapping = self._mapping
        if not answer:
            reader.note("no_answer", mapping.answer)
        fields = {
            "question": text,
            "raw_answer": answer,
            "question_id": self._own_id(own_id, text, reader),
            "answer_notes": reader.text(mapping.notes) or None,
            "answer_template": self._template(reader),
            "workspace_path": self._workspace(reader),
            "keywords": self._keywords(reader),
            "author": author_of(*(self._raw(reader, column) for column in self._author_columns())),
            "sources": sources_of(self._raw(reader, mapping.sources)),
            "custom_metadata": self._metadata(reader) or None,
        }
        # What is made by hand in the workbench is unfinished until somebody says otherwise.
        return {**{name: value for name, value in fields.items() if value}, "finished": self._finished(reader)}

    def _author_columns(self) -> tuple[str | None, ...]:
        return self._mapping.author, self._mapping.author_email, self._mapping.author_affiliation

    def _raw(self, reader: RowReader, column: str | None) -> Cell:
        """Return a list or object as it is, anything else as text that was put right."""
        if column is None:
            return None
        value = reader.peek(column)
        return value if isinstance(value, list | dict) else reader.text(column)

    def _own_id(self, own_id: str, text: str, reader: RowReader) -> str | None:
        if not own_id or own_id == question_id(text):
            return None
        taken = own_id in self._by_id or (self._existing is not None and own_id in self._existing)
        if taken:
            reader.note("id_taken", self._mapping.id, value=own_id)
        return None if taken else own_id

    def _template(self, reader: RowReader) -> str | None:
        column = self._mapping.template
        source = reader.source(column)
        try:
            return checked_source(source)
        except TemplateError as error:
            reader.note("template", column, str(error), value=source)
            return None

    def _workspace(self, reader: RowReader) -> str | None:
        column = self._mapping.workspace
        path = reader.text(column)
        if not path:
            return None
        try:
            check_relative(path)
        except InputError as error:
            reader.note("workspace", column, error.why, value=path)
            return None
        return path

    def _keywords(self, reader: RowReader) -> list[str]:
        found: dict[str, None] = {}
        for column, separator in self._mapping.keywords:
            found.update(dict.fromkeys(keywords_of(self._raw(reader, column), separator)))
        return list(found)

    def _metadata(self, reader: RowReader) -> dict[str, Cell]:
        kept: dict[str, Cell] = {}
        for column in self._mapping.metadata:
            value = reader.peek(column)
            if not isinstance(value, bool | list | dict):
                text = reader.text(column, dates=True)
                value = value if not isinstance(value, str) and text_of(value) == text else text
            if not is_blank(value):
                name = column[len(METADATA_PREFIX) :] if column.casefold().startswith(METADATA_PREFIX) else column
                kept[name] = value
        address = reader.text(self._mapping.url)
        return {**kept, "url": address} if address else kept

    def _finished(self, reader: RowReader) -> bool:
        column = self._mapping.finished
        if self._mapping.finish_all:
            return True
        if column is None:
            return False
        value = reader.cell(column)
        said = yes_or_no(value)
        if said is None and not is_blank(value):
            reader.note("finished", column, value=str(value))
        return bool(said)

    def _responses_of(self, reader: RowReader) -> dict[str, str]:
        mapping = self._mapping
        if mapping.response is not None:
            text = reader.text(mapping.response, faithful=True)
            model = reader.text(mapping.model) if mapping.model else "manual"
            if text and not model:
                reader.note("no_model", mapping.model)
            return {model: text} if text and model else {}
        texts: Mapping[str, str] = {
            model_of(column): reader.text(column, faithful=True) for column in mapping.model_columns
        }
        return {model: text for model, text in texts.items() if text}

    def _find_repeated(self, name: str, responses: Mapping[str, str], reader: RowReader) -> None:
        for model in responses:
            before = self._responses.get((name, model))
            if before is not None and self._mapping.response is not None:
                reader.note("repeated_response", self._mapping.response, f"row {before}.", value=responses[model][:60])
