"""Excel workbooks. Formulas are never computed: what they gave when the file was saved is read."""

from __future__ import annotations

import datetime
import io
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final

from karenina_core.archives import Archive
from karenina_core.benchmark.tables.sheet_xml import Area, SheetFacts, damaged, facts, refuse_entities
from karenina_core.benchmark.tables.table import (
    MAX_CELLS,
    MAX_COLUMNS,
    MAX_ROWS,
    Cell,
    Mark,
    Progress,
    Row,
    Table,
    TableError,
    counting,
    from_rows,
)

CONTENT: Final = "xl/workbook.xml"
_MAX_SHEETS: Final = 100
_MAX_ROW: Final = 2**20  # as in Excel
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")


def is_workbook(archive: Archive) -> bool:
    """Say whether an archive is an Excel workbook."""
    return CONTENT in archive and "[Content_Types].xml" in archive


def sheet_names(archive: Archive) -> list[str]:
    """Return the titles of the sheets that hold cells, in order.

    Raises:
        TableError: The workbook is damaged or refused.
    """
    book = _opened(archive)
    try:
        return [sheet.title for sheet in book.worksheets][:_MAX_SHEETS]
    finally:
        book.close()


def read_excel(
    archive: Archive, *, sheet: str | None = None, header_row: int | None = None, progress: Progress | None = None
) -> Table:
    """Read one sheet: the named one, or the first.

    Numbers stay numbers, dates become ISO texts, and a formula becomes the value that was stored with it.

    Raises:
        TableError: There is no such sheet, or the workbook is damaged, refused or too large.
    """
    book = _opened(archive)
    try:
        chosen = next((item for item in book.worksheets if sheet in (None, item.title)), None)
        if chosen is None:
            raise TableError(f"The workbook has no sheet {sheet!r} with cells.", code="sheet")
        found = facts(archive.read(chosen._worksheet_path))
        rows = list(counting(_rows(chosen, found), progress))
    except (TableError, MemoryError):
        raise
    except Exception as error:  # openpyxl passes on whatever a damaged part leads to
        raise damaged(f"{type(error).__name__}: {error}") from error
    finally:
        book.close()
    return from_rows(_with_merged(rows, found.merged), _notes(chosen.title, found), header_row=header_row)


def _opened(archive: Archive) -> Any:
    from openpyxl import load_workbook

    refuse_entities(archive)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions, which do not matter here
            return load_workbook(io.BytesIO(archive.data), read_only=True, data_only=True, keep_links=False)
    except Exception as error:
        raise damaged(f"{type(error).__name__}: {error}") from error


def _rows(sheet: Any, found: SheetFacts) -> Iterator[Row]:
    cells = 0
    # The size a sheet states of itself is not believed.
    sheet.reset_dimensions()
    rows = sheet.iter_rows(max_col=max(1, min(found.width, MAX_COLUMNS + 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of dates outside the calendar
        for number, row in enumerate(rows, start=1):
            if number > _MAX_ROW:
                raise TableError(f"The sheet has more than {_MAX_ROW:,} rows.", code="rows")
            if number not in found.rows:
                continue
            read = [_read(cell, found.formulas.get((number, at))) for at, cell in enumerate(row, start=1)]
            while read and read[-1] == (None, None):
                read.pop()
            if not read:
                continue
            cells += len(read)
            if cells > MAX_CELLS:
                raise TableError("The sheet has too many cells.", f"At most {MAX_CELLS:,} are read.", code="rows")
            yield Row(number, tuple(value for value, _ in read), {at: m for at, (_, m) in enumerate(read) if m})


def _read(cell: Any, stored: bool | None) -> tuple[Cell, Mark | None]:
    value = cell.value
    if stored is not None:
        value = _plain(value)[0]
        return value, Mark("formula" if stored and value is not None else "uncached")
    if value is None:
        return None, None
    if cell.data_type == "e":
        return str(value), Mark("error")
    return _plain(value)


def _plain(value: Any) -> tuple[Cell, Mark | None]:
    if isinstance(value, datetime.datetime):
        whole_day = value.time() == datetime.time()
        return (value.date().isoformat() if whole_day else value.isoformat(sep=" ")), Mark("date")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat(), Mark("date")
    if value is None or isinstance(value, bool | int | float):
        return value, None
    return _ESCAPE.sub(_unescaped, str(value)), None


def _unescaped(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return found[0] if code == 0 or 0xD800 <= code < 0xE000 else chr(code)


def _with_merged(rows: list[Row], areas: list[Area]) -> Iterator[Row]:
    """Mark the blank cells of merged areas with the value that is shown across them."""
    by_number = {row.number: row for row in rows}
    marks: dict[int, dict[int, Mark]] = {}
    budget = MAX_CELLS
    for area in areas:
        top = by_number.get(area.top)
        value = top.cells[area.left - 1] if top and area.left <= len(top.cells) else None
        budget -= (min(area.bottom, area.top + MAX_ROWS) - area.top + 1) * (area.right - area.left + 1)
        if value is None or budget < 0:
            continue
        for number in range(area.top, min(area.bottom, area.top + MAX_ROWS) + 1):
            for column in range(area.left, min(area.right, MAX_COLUMNS) + 1):
                if number in by_number and (number, column) != (area.top, area.left):
                    # Only downwards: what is merged across columns is rarely meant for each of them.
                    marks.setdefault(number, {})[column - 1] = Mark("merged", value if column == area.left else None)
    for row in rows:
        yield _marked(row, marks[row.number]) if row.number in marks else row


def _marked(row: Row, merged: Mapping[int, Mark]) -> Row:
    width = max(len(row.cells), max(merged) + 1)
    return Row(row.number, row.cells + (None,) * (width - len(row.cells)), {**merged, **row.marks})


def _notes(title: str, found: SheetFacts) -> list[str]:
    notes = [f"Read from the sheet {title!r}."]
    if found.merged:
        notes.append(f"The sheet has {len(found.merged)} merged areas; only the first cell of each holds a value.")
    if found.formulas:
        notes.append("Formulas are not computed; the values stored with them are read.")
    return notes
