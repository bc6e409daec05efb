"""`Table`: columns and rows of any file, with the number every row has there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, dropwhile, islice
from typing import Any, Final, Literal, NamedTuple

from karenina_core.errors import CheckpointError

MAX_ROWS: Final = 100_000
MAX_COLUMNS: Final = 200
MAX_CELLS: Final = 2_000_000
_REPORT_EVERY: Final = 1_000
_TITLE_ROWS: Final = 10

Cell = Any
"""A JSON value: text, a number, True or False, None for an empty cell; a list or an object in files that have them."""

Progress = Callable[[int], None]
"""Called now and then with the number of rows read."""

MarkKind = Literal["formula", "uncached", "merged", "date", "error", "extra"]


class Mark(NamedTuple):
    """What a file says of a cell beyond its value.

    Attributes:
        kind: `formula` (the value is what a formula last gave), `uncached` (a formula whose value is not stored),
            `merged` (part of a merged area, hence empty), `date`, `error` (such as `#N/A`), or `extra` (beyond the
            last column of the header).
        value: The formula, or the value of the merged area.
    """

    kind: MarkKind
    value: Cell = None


class TableError(CheckpointError):
    """A table cannot be read.

    Args:
        row: Number of the row in the file, counted from 1, if the trouble has one.
        code: Stable short name of the reason.
    """

    def __init__(
        self, what: str, why: str = "", next: str = "", *, code: str = "table", row: int | None = None
    ) -> None:
        super().__init__(f"Row {row}: {what}" if row else what, why, next, code=code)
        self.row = row


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        number: Its number in the file: as a spreadsheet shows it, or the place in a list, counted from 1.
        cells: One value for every column.
        marks: What the file says of some cells, by position.
    """

    number: int
    cells: tuple[Cell, ...]
    marks: Mapping[int, Mark] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """What a file holds, before anything is made of it.

    Attributes:
        columns: Names of the columns, each different.
        rows: The rows that are not blank.
        notes: What was guessed or left out while reading, in sentences.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def column(self, name: str) -> Iterator[Cell]:
        """Yield the cells of a column."""
        position = self.columns.index(name)
        return (row.cells[position] for row in self.rows)


def is_blank(value: Cell) -> bool:
    """Say whether a cell holds nothing: no value, no text but blanks, no list entries."""
    return value is None or (isinstance(value, str) and not value.strip()) or value in ([], {})


def from_rows(rows: Iterable[Row], notes: Sequence[str] = (), *, header_row: int | None = None) -> Table:
    """Return the table of rows of which the first is the header.

    Args:
        rows: All rows, in order; blank ones too, of any length.
        notes: What is to be said of the file.
        header_row: Number of the row with the column names; when not given the first that is not blank, passing over
            titles of a single cell.

    Raises:
        TableError: There is no header, or there are too many rows or columns.
    """
    header, remaining = _header(rows, header_row)
    kept, blank, width = [], 0, len(header.cells)
    for row in remaining:
        if _is_empty(row) and not row.marks:
            blank += 1
            continue
        kept.append(row)
        width = max(width, _filled(row.cells))
        _check_size(len(kept), width)
    names = list(header.cells) + [None] * (width - len(header.cells))
    used = [
        position
        for position in range(width)
        if not is_blank(names[position]) or any(_is_used(row, position) for row in kept)
    ]
    columns = unique(str(names[at]).strip() if not is_blank(names[at]) else f"Column {at + 1}" for at in used)
    said = [*notes, *_said(header, blank, columns, names, used)]
    return Table(tuple(columns), tuple(_fitted(row, used, len(header.cells)) for row in kept), tuple(said))


def from_records(records: Iterable[tuple[int, Mapping[str, Cell]]], notes: Sequence[str] = ()) -> Table:
    """Return the table of objects with named values; its columns are all names, as they first appear.

    Raises:
        TableError: There are none, or too many rows or names.
    """
    columns: dict[str, int] = {}
    found: list[tuple[int, Mapping[str, Cell]]] = []
    for number, record in records:
        for name in record:
            columns.setdefault(str(name), len(columns))
        if not all(is_blank(value) for value in record.values()):
            found.append((number, record))
        _check_size(len(found), len(columns))
    if not found:
        raise _no_rows()
    rows = (Row(number, tuple(record.get(name) for name in columns)) for number, record in found)
    return Table(tuple(columns), tuple(rows), tuple(notes))


def counting(rows: Iterable[Row], progress: Progress | None) -> Iterator[Row]:
    """Pass rows on and report how many there were."""
    for count, row in enumerate(rows, start=1):
        if progress is not None and count % _REPORT_EVERY == 0:
            progress(count)
        yield row


def unique(names: Iterable[str]) -> list[str]:
    """Return names of which none is repeated: the second `Answer` becomes `Answer (2)`."""
    taken: dict[str, None] = {}
    for name in names:
        free, number = name, 1
        while free in taken:
            number += 1
            free = f"{name} ({number})"
        taken[free] = None
    return list(taken)


def _header(rows: Iterable[Row], number: int | None) -> tuple[Row, Iterator[Row]]:
    """Return the row with the column names, cut to what is filled, and the rows below it."""
    remaining = iter(rows)
    if number is None:
        remaining = dropwhile(_is_empty, remaining)
        first = list(islice(remaining, _TITLE_ROWS))
        # A single cell above a table is its title.
        at = next((at for at, row in enumerate(first) if _width(row) > 1), 0)
        first, remaining = first[at:], chain(first[at + 1 :], remaining)
    else:
        first = [row for row in islice(dropwhile(lambda row: row.number < number, remaining), 1) if not _is_empty(row)]
    if first:
        _check_size(0, _filled(first[0].cells))
        return Row(first[0].number, first[0].cells[: _filled(first[0].cells)]), remaining
    if number is not None:
        raise TableError("It holds no column names.", next="Choose another row as header.", code="header", row=number)
    raise _no_rows()


def _is_empty(row: Row) -> bool:
    return all(is_blank(cell) for cell in row.cells)


def _width(row: Row) -> int:
    return sum(not is_blank(cell) for cell in row.cells)


def _no_rows() -> TableError:
    return TableError(
        "The table is empty.", next="Choose a file with a row of column names and rows below.", code="empty"
    )


def _check_size(rows: int, columns: int) -> None:
    if columns > MAX_COLUMNS:
        raise TableError(
            f"The table has more than {MAX_COLUMNS} columns.", next="Keep the columns you need.", code="columns"
        )
    if rows > MAX_ROWS or rows * columns > MAX_CELLS:
        most = f"At most {MAX_ROWS:,} rows and {MAX_CELLS:,} cells are read."
        raise TableError("The table is too long.", most, "Split it into several files.", code="rows")


def _filled(cells: Sequence[Cell]) -> int:
    """Return the number of cells up to the last that is not blank."""
    return next((at for at in range(len(cells), 0, -1) if not is_blank(cells[at - 1])), 0)


def _is_used(row: Row, position: int) -> bool:
    return position in row.marks or (position < len(row.cells) and not is_blank(row.cells[position]))


def _fitted(row: Row, used: Sequence[int], width: int) -> Row:
    cells = tuple(row.cells[at] if at < len(row.cells) else None for at in used)
    marks = {new: row.marks[old] for new, old in enumerate(used) if old in row.marks} if row.marks else {}
    for new, old in enumerate(used):
        if old >= width and not is_blank(cells[new]):
            marks[new] = Mark("extra")
    return Row(row.number, cells, marks)


def _said(header: Row, blank: int, columns: Sequence[str], names: Sequence[Cell], used: Sequence[int]) -> Iterator[str]:
    if header.number > 1:
        yield f"Column names are taken from row {header.number}."
    if blank:
        yield f"{blank} blank {'row was' if blank == 1 else 'rows were'} passed over."
    renamed = [
        name for name, at in zip(columns, used, strict=True) if is_blank(names[at]) or name != str(names[at]).strip()
    ]
    if renamed:
        listed = ", ".join(renamed[:5]) + (" …" if len(renamed) > 5 else "")
        yield f"Columns without a name of their own are called {listed}."
