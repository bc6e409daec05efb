"""Excel workbooks, read by openpyxl. Formulas are never computed: what they gave when the file was saved is read."""

from __future__ import annotations

import datetime
import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from karenina_core.benchmark.tables.archive import Archive
from karenina_core.benchmark.tables.table import (
    MAX_CELLS,
    MAX_COLUMNS,
    MAX_ROWS,
    Cell,
    Mark,
    Row,
    Table,
    TableError,
    from_rows,
)

_MAX_SHEETS: Final = 100
_MAX_AREAS: Final = 20_000
_MAX_ROW: Final = 2**20  # as in Excel
_ESCAPE = re.compile(r"_x((?!0000|[Dd][89A-Fa-f])[0-9A-Fa-f]{4})_")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=[\"']([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})[\"']")


def is_workbook(archive: Archive) -> bool:
    """Say whether an archive is an Excel workbook."""
    return "xl/workbook.xml" in archive and "[Content_Types].xml" in archive


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


def read_excel(archive: Archive, *, sheet: str | None = None, header_row: int | None = None) -> Table:
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
        xml = archive.read(chosen._worksheet_path)
        formulas = _formulas(archive, chosen.title) if _FORMULA.search(xml) else frozenset()
        rows = {row.number: row for row in _rows(chosen, formulas)}
    except (TableError, MemoryError):
        raise
    except Exception as error:  # openpyxl passes on whatever a damaged part leads to
        raise _damaged(error) from error
    finally:
        book.close()
    areas = [area.decode() for area in _MERGED.findall(xml)[:_MAX_AREAS]]
    notes = [f"Read from the sheet {chosen.title!r}."]
    if areas:
        notes.append(f"The sheet has {len(areas)} merged areas; only the first cell of each holds a value.")
    if formulas:
        notes.append("Formulas are not computed; the values stored with them are read.")
    return from_rows(_with_merged(rows, areas), notes, header_row=header_row)


def _opened(archive: Archive, *, data_only: bool = True) -> Any:
    from openpyxl import load_workbook

    for name in archive.names:
        # As bytes of UTF-8 and of UTF-16. No spreadsheet program writes a document type; entities can grow without end.
        if name.lower().endswith((".xml", ".rels", ".vml")) and b"<!DOCTYPE" in archive.read(name).replace(b"\0", b""):
            raise TableError("The workbook is refused: it declares a document type.", code="entities")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions, which do not matter here
            return load_workbook(io.BytesIO(archive.data), read_only=True, data_only=data_only, keep_links=False)
    except Exception as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> TableError:
    next_step = "Open it in a spreadsheet program and save it again as .xlsx."
    return TableError("The workbook is damaged.", f"{type(error).__name__}: {error}", next_step, code="xlsx")


def _formulas(archive: Archive, title: str) -> frozenset[tuple[int, int]]:
    """Return the row and the column of every formula of a sheet."""
    book = _opened(archive, data_only=False)
    try:
        found = (
            (number, cell.column) for number, cells in _cells(book[title]) for cell in cells if cell.data_type == "f"
        )
        return frozenset(found)
    finally:
        book.close()


def _cells(sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    """Yield the number and the cells of every row that has some."""
    from openpyxl.cell.read_only import EMPTY_CELL

    # The size a sheet states of itself is not believed.
    sheet.reset_dimensions()
    count, gap = 0, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of dates outside the calendar
        for number, row in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS + 1), start=1):
            if row is gap:  # for rows that are not in the file there is one and the same
                continue
            cells = [cell for cell in row if cell is not EMPTY_CELL]
            gap = None if cells else row
            count += len(cells)
            if number > _MAX_ROW or count > MAX_CELLS:
                why = f"At most {MAX_CELLS:,} cells are read."
                raise TableError("The sheet is too large.", why, "Keep the rows you need.", code="rows")
            if cells:
                yield number, cells


def _rows(sheet: Any, formulas: frozenset[tuple[int, int]]) -> Iterator[Row]:
    for number, cells in _cells(sheet):
        read = {cell.column - 1: _read(cell, (number, cell.column) in formulas) for cell in cells}
        values = {at: value for at, (value, mark) in read.items() if mark or value is not None}
        marks = {at: mark for at, (_, mark) in read.items() if mark}
        if values:
            yield Row(number, tuple(map(values.get, range(max(values) + 1))), marks)


def _read(cell: Any, is_formula: bool) -> tuple[Cell, Mark | None]:
    value, mark = cell.value, None
    if isinstance(value, datetime.datetime):
        value, mark = value.isoformat(sep=" ").removesuffix(" 00:00:00"), Mark("date")
    elif isinstance(value, datetime.date | datetime.time):
        value, mark = value.isoformat(), Mark("date")
    elif cell.data_type == "e":
        value, mark = str(value), Mark("error")
    elif value is not None and not isinstance(value, bool | int | float):
        value = _ESCAPE.sub(lambda code: chr(int(code[1], 16)), str(value))
    if is_formula:
        mark = Mark("uncached" if value is None else "formula")
    return value, mark


def _with_merged(rows: Mapping[int, Row], areas: Sequence[str]) -> Iterator[Row]:
    """Yield rows in which the blank cells of merged areas are marked with the value that is shown across them."""
    from openpyxl.utils.cell import range_boundaries

    marks: dict[int, dict[int, Mark]] = {}
    budget = MAX_CELLS
    for left, top, right, bottom in map(range_boundaries, areas):
        bottom, right = min(bottom, top + MAX_ROWS), min(right, MAX_COLUMNS)
        cells = rows[top].cells if top in rows else ()
        value = cells[left - 1] if left <= len(cells) else None
        budget -= max(0, bottom - top + 1) * max(0, right - left + 1)
        for number in range(top, bottom + 1) if value is not None and budget >= 0 else ():
            for column in range(left, right + 1):
                # Only downwards: what is merged across columns is rarely meant for each of them.
                marks.setdefault(number, {})[column - 1] = Mark("merged", value if column == left else None)
    for number, row in rows.items():
        merged = {at: mark for at, mark in marks.get(number, {}).items() if not row.has(at)}
        yield replace(row, marks={**merged, **row.marks}) if merged else row
