"""The import doctor: a table and what its columns mean, as questions and a list of everything that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from karenina_core.benchmark.benchmark import Benchmark
from karenina_core.benchmark.checkpoint.reader import MAX_QUESTIONS
from karenina_core.benchmark.tables.findings import KINDS, Choices, Finding
from karenina_core.benchmark.tables.mapping import ColumnMapping
from karenina_core.benchmark.tables.row_fields import fields_of, responses_of
from karenina_core.benchmark.tables.row_reader import Columns, RowReader
from karenina_core.benchmark.tables.table import Row, Table
from karenina_core.errors import InputError
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
        responses = responses_of(reader, mapping)
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
        if not answer:
            reader.note("no_answer", self._mapping.answer)
        own = {"question_id": self._own_id(own_id, text, reader)}
        fields = {"question": text, "raw_answer": answer} | own | fields_of(reader, self._mapping)
        return {name: value for name, value in fields.items() if value or name == "finished"}

    def _own_id(self, own_id: str, text: str, reader: RowReader) -> str | None:
        if not own_id or own_id == question_id(text):
            return None
        taken = own_id in self._by_id or (self._existing is not None and own_id in self._existing)
        if taken:
            reader.note("id_taken", self._mapping.id, value=own_id)
        return None if taken else own_id

    def _find_repeated(self, name: str, responses: Mapping[str, str], reader: RowReader) -> None:
        for model in responses:
            before = self._responses.get((name, model))
            if before is not None and self._mapping.response is not None:
                reader.note("repeated_response", self._mapping.response, f"row {before}.", value=responses[model][:60])
