"""The one writer of tables for spreadsheets, as CSV and as Excel workbooks: text stays text, nothing is a formula."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

MAX_CELL: Final = 32_767  # characters; Excel calls a workbook with a longer text damaged
MAX_NUMBER: Final = 2**53  # larger whole numbers lose digits in a spreadsheet
XLSX_MIME: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

# What some spreadsheet takes for the beginning of a formula, after blanks and invisible characters.
_FORMULA = re.compile(
    "[\\s\0-\x20\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe0f\ufeff]*[=+\\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n]"
)
_PLAIN_NUMBER = re.compile(r"[+-]?(\d[\d.,]*|[.,]\d+)(e[+-]?\d+)? ?%?", re.IGNORECASE | re.ASCII)
_CUT = " … [cut here: a cell holds no more]"
_UNSTORABLE = re.compile("[\0\ud800-\udfff\ufffe\uffff]")
# XML cannot hold control characters; workbooks write them, and what looks like it, as `_x0007_`.
_ESCAPED = re.compile("[\x01-\x08\x0b-\x1f]|_(?=x[0-9A-Fa-f]{4}_)")
_NOT_IN_TITLES = re.compile(r"[\0-\x1f\\/*?:\[\]\ud800-\udfff\ufffe\uffff]")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a CSV table (commas, CRLF) whose cells and column names no spreadsheet takes for formulas."""
    buffer = io.StringIO()
    csv.writer(buffer).writerows([csv_cell(cell) for cell in row] for row in (header, *rows))
    return buffer.getvalue()


def csv_cell(value: Any) -> str:
    """Return a value as cell text that no spreadsheet takes for a formula; None is blank.

    An apostrophe is put before text that begins, after blanks, with `=`, `+`, `-`, `@` or a wide form of them,
    or that begins with a tab or line break. Numbers, also as text (`-3.5`, `1e-5`, `-12%`), stay as they are.
    """
    text = "" if value is None else str(value)
    if isinstance(value, bool | int | float) or _PLAIN_NUMBER.fullmatch(text) or not _FORMULA.match(text):
        return text
    return f"'{text}"


class Sheet(NamedTuple):
    """The content of one sheet.

    Attributes:
        header: Names of the columns.
        rows: Cells: text, numbers, True or False, or None for an empty cell.
    """

    header: Sequence[str]
    rows: Iterable[Sequence[Any]]


def xlsx_bytes(sheets: Mapping[str, Sheet]) -> bytes:
    """Return a workbook of one or more sheets, by title.

    A text too long for a cell is cut, and says so at its end.
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    book.properties.creator = "Karenina Workbench"
    titles: set[str] = set()
    for name, (header, rows) in sheets.items():
        # Excel accepts titles that differ by more than the case of their letters.
        plain = _NOT_IN_TITLES.sub(" ", name).strip(" '")[:28] or "Sheet"
        title = next(
            title
            for title in (plain, *(f"{plain} {number}" for number in range(2, len(sheets) + 2)))
            if title.casefold() not in titles
        )
        titles.add(title.casefold())
        sheet = book.create_sheet(title)
        sheet.freeze_panes = "A2"
        for row in (header, *rows):
            cells = [WriteOnlyCell(sheet, _stored(value)) for value in row]
            for cell in cells:
                if isinstance(cell.value, str):
                    cell.data_type = "s"  # also what openpyxl would take for an error, such as "#N/A"
            sheet.append(cells)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _stored(value: Any) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= MAX_NUMBER:
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    text = _UNSTORABLE.sub("�", csv_cell(value))
    escaped = _ESCAPED.sub(lambda match: f"_x{ord(match[0]):04X}_", text)
    return escaped if len(escaped) <= MAX_CELL else escaped[: MAX_CELL - len(_CUT)] + _CUT
