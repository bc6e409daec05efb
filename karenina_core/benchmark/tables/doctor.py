"""The import doctor: a table and what its columns mean, as questions and a list of everything that is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple

from karenina_core.benchmark.benchmark import Benchmark
from karenina_core.benchmark.checkpoint.document import MAX_QUESTIONS
from karenina_core.benchmark.exports import METADATA_PREFIX
from karenina_core.benchmark.question import readable_source
from karenina_core.benchmark.tables.cells import (
    REPAIRS,
    author_of,
    date_of_serial,
    is_date,
    keywords_of,
    looks_turned_into_date,
    sources_of,
    text_of,
    without_apostrophe,
    yes_or_no,
)
from karenina_core.benchmark.tables.columns import ColumnMapping, model_of
from karenina_core.benchmark.tables.table import Cell, Mark, Progress, Row, Table, is_blank, observed
from karenina_core.benchmark.workspaces import check_relative
from karenina_core.errors import InputError, TemplateError
from karenina_core.files import MAX_TEXT
from karenina_core.schemas.entities.question import question_id

Choice = Literal["fix", "keep", "skip"]
"""What is done about a finding: put it right, import the cell as it is, or leave the row out."""

Key = tuple[int | None, str | None, str]
"""Row, column and code: what identifies a finding."""


class Kind(NamedTuple):
    """A kind of finding.

    Attributes:
        what: What is wrong.
        advice: Why it matters and what can be done.
        choices: What can be chosen; the first happens unless another is chosen.
    """

    what: str
    advice: str
    choices: tuple[Choice, ...]


_SKIP: Final = ("skip",)
_FIXABLE: Final = ("skip", "fix")
_REPAIRED: Final = ("fix", "keep", "skip")
_NOTED: Final = ("keep", "skip")
_HERE = "The benchmark has this question already."
_INVISIBLE = "Nobody sees them, but texts that differ in them are not equal."

KINDS: Final[dict[str, Kind]] = {
    "no_question": Kind("There is no question.", "A row without a text cannot be asked. Type the question.", _SKIP),
    "no_answer": Kind("There is no reference answer.", "Nothing could be compared with it. Type the answer.", _SKIP),
    "duplicate": Kind("The same question stands in", "A question is known by its text and asked once.", _SKIP),
    "conflict": Kind("The same question has another answer in", "Only one can be the reference. Change one.", _SKIP),
    "exists": Kind(_HERE, "A question is known by its text and asked once. Leave it out, or change its text.", _SKIP),
    "answers_only": Kind(_HERE, "The models' answers are added to it; the question stays as it is.", _NOTED),
    "id_taken": Kind("Another question has this id.", "Use the id of its text instead, or type another.", _FIXABLE),
    "template": Kind("The template cannot be read:", "Import the question without it, and write one later.", _FIXABLE),
    "workspace": Kind("The workspace path is not usable:", "Import the question without it.", _FIXABLE),
    "finished": Kind("This is neither yes nor no.", "Import the question as unfinished.", ("fix", "skip")),
    "too_long": Kind("The text is too long:", f"Files hold texts of up to {MAX_TEXT:,} characters. Shorten it.", _SKIP),
    "error_value": Kind("The cell shows an error of the spreadsheet.", "Type what was meant.", ("skip", "keep")),
    "no_model": Kind("There is an answer, but no model is named.", "Answers belong to a model. Name it.", _SKIP),
    "repeated_response": Kind("This model has answered this question in", "One answer each is kept.", _SKIP),
    "apostrophe": Kind("An apostrophe guards against a formula.", "It is no part of the text. Remove it.", _REPAIRED),
    "mojibake": Kind("Letters were read in the wrong encoding.", "Put them right: Ã© stands for é.", _REPAIRED),
    "invisible": Kind("There are invisible characters.", f"{_INVISIBLE} Take them out.", _REPAIRED),
    "blanks": Kind("There are blanks before or after the text.", f"{_INVISIBLE} Take them away.", _REPAIRED),
    "lost": Kind("A character was lost (�).", "Some program could not write it. Type what was meant.", _NOTED),
    "merged": Kind("The cell belongs to a merged area and is empty.", "Fill in the value of the area.", _REPAIRED),
    "formula": Kind("The cell holds a formula.", "The value stored last is used. Check it.", _NOTED),
    "uncached": Kind("The cell holds a formula without a stored value.", "Formulas are not computed. Type it.", _NOTED),
    "date_number": Kind("A number stands among dates:", "Programs store dates as numbers. Write a date.", _REPAIRED),
    "date_cell": Kind("A date stands among texts:", "Spreadsheets turn SEPT2 into one. Type what was meant.", _NOTED),
    "extra_cells": Kind("The row has more cells than there are columns.", "Compare it with the file.", _NOTED),
    "edited": Kind("The cell was changed by hand.", "What was typed is imported.", ("fix", "skip")),
    "unmapped": Kind(
        "This column has no meaning yet.", "Keep it as custom metadata of the questions.", ("keep", "fix")
    ),
}


@dataclass(frozen=True)
class Finding:
    """One thing the doctor noticed.

    Attributes:
        row: Number of the row in the file; None when it concerns a whole column.
        column: Name of the column; None when it concerns the whole row.
        code: Stable short name of its kind, a key of `KINDS`.
        what: What is wrong.
        choice: What will be done.
        value: The text of the cell as it will be imported.
    """

    row: int | None
    column: str | None
    code: str
    what: str
    choice: Choice
    value: str = ""

    @property
    def key(self) -> Key:
        """What identifies it."""
        return self.row, self.column, self.code

    @property
    def advice(self) -> str:
        """Why it matters and what can be done."""
        return KINDS[self.code].advice

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What can be chosen."""
        return KINDS[self.code].choices


@dataclass(frozen=True)
class Choices:
    """What a person decided.

    Attributes:
        of_findings: What is to be done about some findings; for the others the usual is done.
        edits: Row and column → the text typed in place of the cell.
    """

    of_findings: Mapping[Key, Choice] = field(default_factory=dict)
    edits: Mapping[tuple[int, str], str] = field(default_factory=dict)

    def about(self, key: Key) -> Choice:
        """Return what is done about a finding."""
        choices = KINDS[key[2]].choices
        chosen = self.of_findings.get(key, choices[0])
        return chosen if chosen in choices else choices[0]


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
        findings: Everything noticed, by row.
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
        return dict(Counter(model for draft in self.drafts for model in draft.responses))

    def add_to(self, benchmark: Benchmark) -> Added:
        """Add the questions to a benchmark.

        Raises:
            InputError: It would have too many questions; nothing is then added.
        """
        count = len(benchmark) + sum(draft.existing is None for draft in self.drafts)
        if count > MAX_QUESTIONS:
            what, why = f"The benchmark would have {count:,} questions.", f"At most {MAX_QUESTIONS:,} are kept in one."
            raise InputError(what, why, "Import fewer rows.")
        added = Added([], {})
        for draft in self.drafts:
            identity = draft.existing or benchmark.add_question(**draft.fields)
            if draft.existing is None:
                added.question_ids.append(identity)
            for model, text in draft.responses.items():
                added.answers.setdefault(model, {})[identity] = text
        return added


def apply(
    table: Table,
    mapping: ColumnMapping,
    choices: Choices | None = None,
    existing: Benchmark | None = None,
    progress: Progress | None = None,
) -> Import:
    """Examine every row and make questions of the good ones. Nothing is changed by it.

    Args:
        table: What was read.
        mapping: What its columns mean.
        choices: What a person decided about earlier findings.
        existing: The benchmark the questions are to be added to, None for a new one.
        progress: Told now and then how many rows are examined; long templates take a tenth of a second each.

    Raises:
        InputError: The mapping does not fit the table.
    """
    mapping.check(table)
    return _Doctor(table, mapping, choices or Choices(), existing).examine(progress)


class _Row:
    """The cells of one row: read, examined and put right; what is noticed on the way is gathered in `findings`.

    Args:
        row: The row.
        positions: Where every column is.
        dates: Columns of which at least half of the cells are dates.
        choices: What a person decided.
    """

    def __init__(self, row: Row, positions: Mapping[str, int], dates: set[str], choices: Choices) -> None:
        self.findings: list[Finding] = []
        self._row, self._positions, self._dates, self._choices = row, positions, dates, choices
        if any(mark.kind == "extra" for mark in row.marks.values()):
            self.note("extra_cells")

    @property
    def left_out(self) -> bool:
        """Whether the row will not be imported."""
        return any(finding.choice == "skip" for finding in self.findings)

    def note(self, code: str, column: str | None = None, detail: str = "", value: str = "") -> Choice:
        """Add a finding and return what is done about it."""
        choice = self._choices.about((self._row.number, column, code))
        what = f"{KINDS[code].what} {detail}".rstrip()
        self.findings.append(Finding(self._row.number, column, code, what, choice, value))
        return choice

    def text(self, column: str | None, *, faithful: bool = False, dates: bool = False) -> str:
        """Return a cell as text, examined and put right.

        Args:
            column: Its column; blank when None.
            faithful: Leave blanks and invisible characters as they are: an answer of a model is evidence.
            dates: Look for dates that became numbers, and texts that became dates.
        """
        if column is None:
            return ""
        text = text_of(self.cell(column, dates=dates))
        for code, repair in REPAIRS.items():
            repaired = repair(text) if text and (not faithful or code in ("apostrophe", "mojibake")) else text
            if repaired != text and self.note(code, column, value=repaired) == "fix":
                text = repaired
        if "�" in text:
            self.note("lost", column, value=text)
        if len(text) > MAX_TEXT:
            self.note("too_long", column, f"{len(text):,} characters.", value=text[:60])
        return "" if is_blank(text) else text

    def value(self, column: str | None, *, dates: bool = False) -> Cell:
        """Return a list, an object or a truth value as it is, a number that needs no repair too, else the text."""
        if column is None:
            return None
        edited = (self._row.number, column) in self._choices.edits
        stored = None if edited else self._row.cells[self._positions[column]]
        if isinstance(stored, bool | list | dict):
            return stored
        text = self.text(column, dates=dates)
        return stored if isinstance(stored, int | float) and text_of(stored) == text else text

    def cell(self, column: str, *, dates: bool = False) -> Cell:
        """Return a cell as it is in the file, or as it was typed, with what its kind asks for put right."""
        edit = self._choices.edits.get((self._row.number, column))
        if edit is not None:
            self.note("edited", column, value=edit)
            return edit
        position = self._positions[column]
        value, mark = self._row.cells[position], self._row.marks.get(position, Mark())
        if mark.kind == "merged" and is_blank(value) and not is_blank(mark.value):
            if self.note("merged", column, value=text_of(mark.value)) == "fix":
                value = mark.value
        elif mark.kind in ("error", "formula", "uncached"):
            self.note("error_value" if mark.kind == "error" else mark.kind, column, value=text_of(value))
        if dates and column in self._dates:
            date = date_of_serial(value)
            if date and self.note("date_number", column, f"{value} is the day {date}.", value=date) == "fix":
                value = date
        elif dates and (mark.kind == "date" or (isinstance(value, str) and looks_turned_into_date(value))):
            self.note("date_cell", column, f"{text_of(value)[:60]}.", value=text_of(value))
        return value


class _Doctor:
    def __init__(self, table: Table, mapping: ColumnMapping, choices: Choices, existing: Benchmark | None) -> None:
        self._table, self._choices, self._existing = table, choices, existing
        self._findings = [
            Finding(None, name, "unmapped", KINDS["unmapped"].what, choices.about((None, name, "unmapped")))
            for name in mapping.unassigned(table)
        ]
        added = tuple(finding.column for finding in self._findings if finding.choice == "fix" and finding.column)
        self._mapping = replace(mapping, metadata=mapping.metadata + added)
        self._by_text: dict[str, Draft] = {}
        self._by_id: dict[str, Draft] = {}
        self._responses: dict[tuple[str, str], int] = {}

    def examine(self, progress: Progress | None) -> Import:
        rows, positions = self._table.rows, {name: at for at, name in enumerate(self._table.columns)}
        examined = [name for name in (self._mapping.answer, *self._mapping.metadata) if name]
        dates = {name for name in examined if _holds_dates(rows, positions[name])}
        left_out = set()
        drafts: dict[int, Draft] = {}
        for row in rows if progress is None else observed(rows, len(rows), progress):
            reader = _Row(row, positions, dates, self._choices)
            draft = self._draft(row.number, reader)
            self._findings += reader.findings
            if draft is None or reader.left_out:
                left_out.add(row.number)
            else:
                drafts[id(draft)] = draft
        return Import(len(rows), tuple(drafts.values()), tuple(self._findings), frozenset(left_out))

    def _draft(self, number: int, row: _Row) -> Draft | None:
        """Return the question of a row: a new one, or the one an earlier row made."""
        mapping = self._mapping
        text, answer = row.text(mapping.question), row.text(mapping.answer, dates=True)
        own_id, responses = row.text(mapping.id), self._responses_of(row)
        known = self._known(own_id, text)
        if not text and not (known and responses):
            row.note("no_question", mapping.question)
            return None
        draft = self._by_text.get(text) if text else self._by_id.get(own_id)
        if draft is not None:
            same = answer == draft.fields.get("raw_answer", "") or (not answer and mapping.brings_answers)
            if not same or mapping.response is None:
                row.note("duplicate" if same else "conflict", mapping.question, f"row {draft.row}.")
        elif known is not None:
            row.note("answers_only" if responses else "exists", mapping.question, value=text)
            draft = Draft(number, {"question": text, "raw_answer": answer}, existing=known)
        else:
            draft = Draft(number, self._fields(text, answer, own_id, row))
        for model in responses if mapping.response is not None else ():
            if before := self._responses.get((text or own_id, model)):
                row.note("repeated_response", mapping.response, f"row {before}.", value=responses[model][:60])
        if not row.left_out:
            draft.responses.update(responses)
            self._by_text.setdefault(text, draft)
            self._by_id.setdefault(own_id or question_id(text), draft)
            self._responses |= {(text or own_id, model): number for model in responses}
        return draft

    def _known(self, own_id: str, text: str) -> str | None:
        """Return the id of the question the existing benchmark has already."""
        identity = question_id(text) if text else own_id
        if self._existing is None or identity not in self._existing:
            return None
        return self._existing.get_question(identity).id

    def _responses_of(self, row: _Row) -> dict[str, str]:
        """Return the answers of models to the question, by model."""
        mapping = self._mapping
        if mapping.response is None:
            texts = {model_of(column): row.text(column, faithful=True) for column in mapping.model_columns}
            return {model: text for model, text in texts.items() if text}
        text = row.text(mapping.response, faithful=True)
        model = row.text(mapping.model) if mapping.model else "manual"
        if text and not model:
            row.note("no_model", mapping.model)
        return {model: text} if text and model else {}

    def _fields(self, text: str, answer: str, own_id: str, row: _Row) -> dict[str, Any]:
        """Return the fields of a new question; those the row says nothing about are left out."""
        mapping = self._mapping
        if not answer:
            row.note("no_answer", mapping.answer)
        if own_id and (own_id in self._by_id or (self._existing is not None and own_id in self._existing)):
            row.note("id_taken", mapping.id, value=own_id)
            own_id = ""
        author = (mapping.author, mapping.author_email, mapping.author_affiliation)
        keywords = (word for column, sign in mapping.keywords for word in keywords_of(row.value(column), sign))
        fields = {
            "question": text,
            "raw_answer": answer,
            "question_id": own_id if own_id != question_id(text) else None,
            "answer_notes": row.text(mapping.notes),
            "answer_template": _template(row, mapping.template),
            "workspace_path": _workspace(row, mapping.workspace),
            "keywords": list(dict.fromkeys(keywords)),
            "author": author_of(*map(row.value, author)),
            "sources": sources_of(row.value(mapping.sources)),
            "custom_metadata": _metadata(row, mapping),
        }
        # What is made by hand in the workbench is unfinished until somebody says otherwise.
        return {name: value for name, value in fields.items() if value} | {"finished": _finished(row, mapping)}


def _holds_dates(rows: Iterable[Row], position: int) -> bool:
    filled = [row for row in rows if not is_blank(row.cells[position])]
    dates = sum(
        (isinstance(value := row.cells[position], str) and is_date(value))
        or row.marks.get(position, Mark()).kind == "date"
        for row in filled
    )
    return dates >= 1 and 2 * dates >= len(filled)


def _template(row: _Row, column: str | None) -> str | None:
    # Of source code nothing but the guard of exports is taken away.
    source = "" if column is None else without_apostrophe(text_of(row.cell(column)))
    try:
        return readable_source(source)
    except TemplateError as error:
        row.note("template", column, str(error), value=source)
        return None


def _workspace(row: _Row, column: str | None) -> str | None:
    path = row.text(column)
    try:
        return "/".join(check_relative(path)) if path else None
    except InputError as error:
        row.note("workspace", column, error.why, value=path)
        return None


def _metadata(row: _Row, mapping: ColumnMapping) -> dict[str, Cell]:
    metadata = {}
    for column in mapping.metadata:
        value = row.value(column, dates=True)
        if not is_blank(value):
            prefixed = column.casefold().startswith(METADATA_PREFIX)
            metadata[column[len(METADATA_PREFIX) :] if prefixed else column] = value
    address = row.text(mapping.url)
    return {**metadata, "url": address} if address else metadata


def _finished(row: _Row, mapping: ColumnMapping) -> bool:
    if mapping.finish_all or mapping.finished is None:
        return mapping.finish_all
    value = row.cell(mapping.finished)
    answer = yes_or_no(value)
    if answer is None and not is_blank(value):
        row.note("finished", mapping.finished, value=str(value))
    return bool(answer)
