"""The cells of one row: read, examined and put right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from karenina_core.benchmark.tables.cleaning import (
    REPAIRS,
    date_of_serial,
    is_date,
    looks_turned_into_date,
    without_apostrophe,
)
from karenina_core.benchmark.tables.findings import KINDS, Choices, Finding
from karenina_core.benchmark.tables.table import Cell, Mark, Row, Table, is_blank
from karenina_core.benchmark.tables.values import text_of
from karenina_core.files import MAX_TEXT

_FAITHFUL = ("apostrophe", "mojibake")  # an answer of a model is evidence; its blanks stay
_SHOWN = 60


class Columns:
    """What is known of the columns of a table.

    Attributes:
        position: Where a column is.
        dates: Columns of which at least half of the cells are dates.
    """

    def __init__(self, table: Table, examined: Iterable[str]) -> None:
        self.position = {name: at for at, name in enumerate(table.columns)}
        self.dates = {name for name in examined if _holds_dates(table, self.position[name])}


class RowReader:
    """Reads the cells of one row and gathers what is found on the way.

    Args:
        row: The row.
        columns: What is known of its columns.
        choices: What a person decided.
    """

    def __init__(self, row: Row, columns: Columns, choices: Choices) -> None:
        self.number = row.number
        self.findings: list[Finding] = []
        self._row = row
        self._columns = columns
        self._choices = choices
        if any(mark.kind == "extra" for mark in row.marks.values()):
            self.note("extra_cells")

    @property
    def left_out(self) -> bool:
        """Whether the row will not be imported."""
        return any(finding.choice == "skip" for finding in self.findings)

    def note(self, code: str, column: str | None = None, detail: str = "", value: str = "") -> str:
        """Add a finding and return what is done about it."""
        kind = KINDS[code]
        choice = self._choices.about((self.number, column, code))
        what = f"{kind.what} {detail}" if detail else kind.what
        self.findings.append(Finding(self.number, column, code, what, kind.why, kind.fix, choice, value))
        return choice

    def text(self, column: str | None, *, faithful: bool = False, dates: bool = False) -> str:
        """Return a cell as text, examined and put right.

        Args:
            column: Its column; blank when None.
            faithful: Leave blanks and invisible characters as they are.
            dates: Look for dates that became numbers, and texts that became dates.
        """
        if column is None:
            return ""
        value = self.cell(column, dates=dates)
        text = text_of(value)
        for code, repair in REPAIRS.items():
            repaired = repair(text) if text and (not faithful or code in _FAITHFUL) else text
            if repaired != text and self.note(code, column, value=repaired) == "fix":
                text = repaired
        if "�" in text:
            self.note("lost", column, value=text)
        if len(text) > MAX_TEXT:
            self.note("too_long", column, f"{len(text):,} characters.", value=text[:_SHOWN])
        return "" if is_blank(text) else text

    def peek(self, column: str) -> Cell:
        """Return a cell as it is in the file, without examining it; None where something was typed instead."""
        if (self.number, column) in self._choices.edits:
            return None
        return self._row.cells[self._columns.position[column]]

    def source(self, column: str | None) -> str:
        """Return a cell with source code: nothing but the guard of exports is taken away."""
        if column is None:
            return ""
        return without_apostrophe(text_of(self.cell(column)))

    def cell(self, column: str, *, dates: bool = False) -> Cell:
        """Return a cell as it is in the file, or as it was typed, with what its kind asks for put right."""
        edit = self._choices.edits.get((self.number, column))
        if edit is not None:
            self.note("edited", column, value=edit)
            return edit
        position = self._columns.position[column]
        value = self._row.cells[position]
        mark = self._row.marks.get(position)
        if mark is not None:
            value = self._marked(column, value, mark)
        return self._dated(column, value, mark) if dates else value

    def _marked(self, column: str, value: Cell, mark: Mark) -> Cell:
        match mark.kind:
            case "merged" if is_blank(value) and not is_blank(mark.value):
                if self.note("merged", column, value=text_of(mark.value)) == "fix":
                    return mark.value
            case "error":
                self.note("error_value", column, value=text_of(value))
            case "formula":
                self.note("formula", column, value=text_of(value))
            case "uncached":
                self.note("uncached", column)
        return value

    def _dated(self, column: str, value: Cell, mark: Mark | None) -> Cell:
        if column in self._columns.dates:
            date = date_of_serial(value)
            if date and self.note("date_number", column, f"{value} is the day {date}.", value=date) == "fix":
                return date
        elif (mark and mark.kind == "date") or (isinstance(value, str) and looks_turned_into_date(value)):
            self.note("date_cell", column, f"{text_of(value)[:_SHOWN]}.", value=text_of(value))
        return value


def _holds_dates(table: Table, position: int) -> bool:
    filled = [row for row in table.rows if not is_blank(row.cells[position])]
    dates = sum(_is_date_cell(row.cells[position], row.marks, position) for row in filled)
    return dates >= 1 and 2 * dates >= len(filled)


def _is_date_cell(value: Cell, marks: Mapping[int, Mark], position: int) -> bool:
    mark = marks.get(position)
    return (mark is not None and mark.kind == "date") or (isinstance(value, str) and is_date(value))
