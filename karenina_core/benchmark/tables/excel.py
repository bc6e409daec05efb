"""Excel workbooks, read by openpyxl. Formulas are never computed: what they gave when the file was saved is read."""

from __future__ import annotations

import datetime
import io
import re
import warnings
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from karenina_core.benchmark.tables.archive import Archive
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
    bounded,
    from_rows,
    observed,
    too_long,
)
from karenina_core.errors import KareninaError

_MAX_SHEETS: Final = 100
_MAX_AREAS: Final = 20_000
_MAX_ROW: Final = 2**20  # as in Excel
_MAX_CELLS: Final = 500_000  # each takes 10 to 20 µs
_MOST: Final = f"{_MAX_CELLS:,} cells of a workbook"
_OTHER_MARKS: Final = 200_000  # in parts without cells; there each takes ten times as long
_MARK = re.compile(rb"<[^/]|=\s*[\"']")  # an element or an attribute
_ESCAPE = re.compile(r"_x((?!0000|[Dd][89A-Fa-f])[0-9A-Fa-f]{4})_")
_ROW = re.compile(rb"<(?:\w+:)?row[\s/>]")
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")
_FORMULA = re.compile(rb"<(?:\w+:)?c\s(?:[^>]*?\s)?r=[\"']([A-Z]{1,3}\d{1,7})[\"'][^>]*>\s*<(?:\w+:)?f[\s/>]")
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


def read_excel(
    archive: Archive, *, sheet: str | None = None, header_row: int | None = None, progress: Progress | None = None
) -> Table:
    """Read one sheet: the named one, or the first.

    Numbers stay numbers, dates become ISO texts, and a formula becomes the value that was stored with it.

    Args:
        archive: The workbook.
        sheet: Title of the sheet.
        header_row: Number of the row with the column names.
        progress: Told now and then how many rows are read.

    Raises:
        TableError: There is no such sheet, or the workbook is damaged, refused or too large.
    """
    book = _opened(archive)
    try:
        chosen = next((item for item in book.worksheets if sheet in (None, item.title)), None)
        if chosen is None:
            what = (
                f"The workbook has no sheet {sheet!r} with cells." if sheet else "No sheet of the workbook holds cells."
            )
            raise TableError(what, next="Choose another sheet, or another file.", code="sheet")
        xml = archive.read(chosen._worksheet_path)
        if _holds_more(xml, _CELL, _MAX_CELLS):
            raise too_long(_MOST)
        formulas = {reference.decode() for reference in _FORMULA.findall(xml)}
        read = _rows(chosen, formulas)
        if progress is not None:
            read = observed(read, len(_ROW.findall(xml)), progress)
        rows = {row.number: row for row in bounded(read)}
        areas = [area.decode() for area in _MERGED.findall(xml)[:_MAX_AREAS]]
        notes = [f"Read from the sheet {chosen.title!r}."]
        if areas:
            notes.append(f"The sheet has {len(areas)} merged areas; only the first cell of each holds a value.")
        if formulas:
            notes.append("Formulas are not computed; the values stored with them are read.")
        return from_rows(_with_merged(rows, areas), notes, header_row=header_row)
    except (KareninaError, MemoryError):
        raise
    except Exception as error:  # openpyxl passes on whatever a damaged part leads to
        raise _damaged(error) from error
    finally:
        book.close()


def _opened(archive: Archive) -> Any:
    from openpyxl import load_workbook

    for name in archive.names:
        if not name.lower().endswith((".xml", ".rels", ".vml")):
            continue
        xml = archive.read(name)
        text = xml.replace(b"\0", b"") if b"\0" in xml else xml  # as bytes of UTF-8, also where it is UTF-16
        # No spreadsheet program writes a document type; entities can grow without end.
        if b"<!DOCTYPE" in text:
            raise TableError("The workbook is refused: it declares a document type.", code="entities")
        most = 8 * _MAX_CELLS if name.startswith(("xl/worksheets/", "xl/sharedStrings")) else _OTHER_MARKS
        # The library reads all of a sheet at once that does not tell its size.
        unsized = name.startswith("xl/worksheets/") and b"dimension" not in text[:10_000]
        if _holds_more(text, _MARK, most) or (unsized and _holds_more(text, _CELL, _MAX_CELLS)):
            raise too_long(_MOST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions, which do not matter here
            return load_workbook(io.BytesIO(archive.data), read_only=True, data_only=True, keep_links=False)
    except Exception as error:
        raise _damaged(error) from error


def _holds_more(text: bytes, pattern: re.Pattern[bytes], most: int) -> bool:
    return len(text) > most and next(islice(pattern.finditer(text), most, None), None) is not None


def _damaged(error: Exception) -> TableError:
    reason = str(error).splitlines()[0].strip("\"'. ") if str(error) else "it breaks off"
    next_step = "Open it in a spreadsheet program and save it again as .xlsx."
    why = f"One of its parts is missing or cannot be read: {reason}."
    return TableError("The workbook is damaged.", why, next_step, code="xlsx")


def _rows(sheet: Any, formulas: Container[str]) -> Iterator[Row]:
    """Yield every row that has cells."""
    from openpyxl.cell.read_only import EMPTY_CELL

    # The size a sheet states of itself is not believed.
    sheet.reset_dimensions()
    count, gap = 0, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of dates outside the calendar
        for number, row in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS + 1), start=1):
            if row is gap:  # for rows that are not in the file there is one and the same
                continue
            read = {c.column - 1: _read(c, c.coordinate in formulas) for c in row if c is not EMPTY_CELL}
            gap = None if read else row
            count += len(read)
            if number > _MAX_ROW or count > _MAX_CELLS:
                raise too_long(_MOST)
            marks = {at: mark for at, (_, mark) in read.items() if mark}
            values = {at: value for at, (value, _) in read.items() if at in marks or value is not None}
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
