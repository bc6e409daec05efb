"""`Table`: columns and rows of any file, with the number every row has there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, dropwhile, islice
from typing import Any, Final, Literal, NamedTuple, TypeVar

from karenina_core.errors import CheckpointError
from karenina_core.files import MAX_BYTES
from karenina_core.text import first_free

MAX_ROWS: Final = 100_000
MAX_COLUMNS: Final = 200
MAX_CELLS: Final = 2_000_000
MAX_CHARACTERS: Final = 2 * MAX_BYTES  # of all texts together, as often as rows repeat them

Cell = Any
"""A JSON value: text, a number, True or False, None for an empty cell; a list or an object in files that have them."""

Progress = Callable[[int, int], object]
"""Is told how many rows of how many are done, about as often as a person looks; a `KareninaError` it raises stops."""

MarkKind = Literal["formula", "uncached", "merged", "date", "error", "extra", ""]


class Mark(NamedTuple):
    """What a file says of a cell beyond its value.

    Attributes:
        kind: `formula` (the value is what a formula last gave), `uncached` (a formula whose value is not stored),
            `merged` (part of a merged area, hence empty), `date`, `error` (such as `#N/A`), or `extra` (beyond the
            last column of the header); empty when there is nothing to say.
        value: The value of the merged area.
    """

    kind: MarkKind = ""
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

    def has(self, position: int) -> bool:
        """Whether there is a value or a mark at a position."""
        return position in self.marks or (position < len(self.cells) and not is_blank(self.cells[position]))

    def width(self) -> int:
        """Return the number of cells up to the last that is not blank."""
        return next((at for at in range(len(self.cells), 0, -1) if not is_blank(self.cells[at - 1])), 0)


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


T = TypeVar("T")


def observed(rows: Iterable[T], total: int, progress: Progress) -> Iterator[T]:
    """Pass on rows and tell `progress` how many of `total` there were, every quarter of a second and at the end."""
    last_report = time.monotonic()
    for done, row in enumerate(rows):
        if time.monotonic() - last_report > 0.25:
            progress(min(done, total), total)
            last_report = time.monotonic()
        yield row
    progress(total, total)


def bounded(rows: Iterable[Row]) -> Iterator[Row]:
    """Pass on rows until their cells, or the texts in them, are more than is read.

    Raises:
        TableError: They are.
    """
    cells = characters = 0
    for row in rows:
        cells += len(row.cells)
        values = chain(row.cells, (mark.value for mark in row.marks.values()))
        characters += sum(len(value) for value in values if isinstance(value, str))
        if cells > MAX_CELLS + MAX_ROWS:
            raise too_long()
        if characters > MAX_CHARACTERS:
            raise too_much_text()
        yield row


def from_rows(rows: Iterable[Row], notes: Sequence[str] = (), *, header_row: int | None = None) -> Table:
    """Return the table of rows of which the first is the header.

    Args:
        rows: All rows, in order; blank ones too, of any length.
        notes: What is to be noted of the file.
        header_row: Number of the row with the column names; when not given the first that is not blank, passing over
            titles of a single cell.

    Raises:
        TableError: There is no header, or there are too many rows or columns.
    """
    header, below = _header(bounded(rows), header_row)
    filled, blank, named = [], 0, header.width()
    width = named
    for row in below:
        own_width = row.width()
        if not own_width and not row.marks:
            blank += 1
            continue
        filled.append(row)
        width = max(width, own_width)
        check_size(len(filled), width)
    used = [at for at in range(width) if header.has(at) or any(row.has(at) for row in filled)]
    given = {at: str(header.cells[at]).strip() for at in used if header.has(at)}
    columns = unique(given.get(at, f"Column {at + 1}") for at in used)
    all_notes = [*notes, *([f"Column names are taken from row {header.number}."] if header.number > 1 else [])]
    if blank:
        all_notes.append(f"{blank} blank {'row was' if blank == 1 else 'rows were'} passed over.")
    renamed = [name for name, at in zip(columns, used, strict=True) if name != given.get(at)]
    if renamed:
        listed = ", ".join(renamed[:5]) + (" …" if len(renamed) > 5 else "")
        all_notes.append(f"Columns without a name of their own are called {listed}.")
    return Table(tuple(columns), tuple(_fitted(row, used, named) for row in filled), tuple(all_notes))


def from_records(records: Iterable[tuple[int, Mapping[str, Cell]]], notes: Sequence[str] = ()) -> Table:
    """Return the table of objects with named values; its columns are all names, as they first appear.

    Raises:
        TableError: There are none, or too many rows or names.
    """
    columns: dict[str, None] = {}
    filled = []
    for number, record in records:
        columns |= dict.fromkeys(record)
        if not all(map(is_blank, record.values())):
            filled.append((number, record))
        check_size(len(filled), len(columns))
    if not filled:
        raise _empty()
    rows = (Row(number, tuple(record.get(name) for name in columns)) for number, record in filled)
    return Table(tuple(columns), tuple(rows), tuple(notes))


def unique(names: Iterable[str]) -> list[str]:
    """Return names of which none is repeated: the second `Answer` becomes `Answer (2)`."""
    result: dict[str, None] = {}
    for name in names:
        free = first_free(partial("{} ({})".format, name), result, start=2) if name in result else name
        result[free] = None
    return list(result)


def check_size(rows: int, columns: int) -> None:
    """Refuse a table that is too long or too wide."""
    if columns > MAX_COLUMNS:
        what = f"The table has more than {MAX_COLUMNS} columns."
        raise TableError(what, next="Keep the columns you need.", code="columns")
    if rows > MAX_ROWS or rows * columns > MAX_CELLS:
        raise too_long()


def too_much_text() -> TableError:
    """Return the error for a table whose texts, written out, are more than is read."""
    what, why = (
        "The table unpacks to far more than it should.",
        f"At most {MAX_CHARACTERS / 1e6:.0f} MB of text are read.",
    )
    return TableError(what, why, "Split it into several files.", code="zip_bomb")


def too_long(most: str = f"{MAX_ROWS:,} rows and {MAX_CELLS:,} cells") -> TableError:
    """Return the error for a table with more rows or cells than are read."""
    why = f"At most {most} are read."
    return TableError("The table is too long.", why, "Split it into several files.", code="rows")


def _header(rows: Iterator[Row], number: int | None) -> tuple[Row, Iterator[Row]]:
    """Return the row with the column names, and the rows below it."""
    if number is not None:
        first = list(islice(dropwhile(lambda row: row.number < number, rows), 1))
        if not first or not first[0].width():
            raise TableError("It holds no column names.", next="Choose another row.", code="header", row=number)
    else:
        first = list(islice(dropwhile(lambda row: not row.width(), rows), 10))
        if not first:
            raise _empty()
        # A single cell above a table is its title; there may be a few.
        at = next((at for at, row in enumerate(first) if sum(map(row.has, range(len(row.cells)))) > 1), 0)
        first = first[at:]
    check_size(0, first[0].width())
    return first[0], chain(first[1:], rows)


def _empty() -> TableError:
    next_step = "Choose a file with a row of column names and rows below."
    return TableError("The table is empty.", next=next_step, code="empty")


def _fitted(row: Row, used: Sequence[int], width: int) -> Row:
    """Return a row with the used cells only; those beyond the header are marked."""
    cells = tuple(row.cells[at] if at < len(row.cells) else None for at in used)
    marks = {new: row.marks[old] for new, old in enumerate(used) if old in row.marks} if row.marks else {}
    extra = {new: Mark("extra") for new, old in enumerate(used) if old >= width and not is_blank(cells[new])}
    return Row(row.number, cells, {**marks, **extra})
