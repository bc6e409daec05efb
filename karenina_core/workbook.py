"""The one writer of Excel workbooks: text stays text, numbers stay numbers, nothing is a formula."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from karenina_core.csv_text import csv_cell

MAX_CELL: Final = 32_767  # characters; Excel calls a workbook with a longer text damaged
MAX_NUMBER: Final = 2**53  # larger whole numbers lose digits in a spreadsheet
MIME: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

_CUT = " … [cut here: a cell holds no more]"
_UNSTORABLE = re.compile("[\0\ud800-\udfff\ufffe\uffff]")
# XML cannot hold control characters; workbooks write them, and what looks like it, as `_x0007_`.
_ESCAPED = re.compile("[\x01-\x08\x0b-\x1f]|_(?=x[0-9A-Fa-f]{4}_)")
_NO_TITLE = re.compile(r"[\0-\x1f\\/*?:\[\]\ud800-\udfff\ufffe\uffff]")


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
    for title, name in _titles(sheets).items():
        sheet = book.create_sheet(title)
        sheet.freeze_panes = "A2"
        header, rows = sheets[name]
        for row in (header, *rows):
            sheet.append([_cell(WriteOnlyCell(sheet), value) for value in row])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _titles(sheets: Mapping[str, Sheet]) -> dict[str, str]:
    """Return the titles Excel accepts, each different from the others, with the given ones."""
    titles: dict[str, str] = {}
    for name in sheets:
        plain = _NO_TITLE.sub(" ", name).strip(" '")[:28] or "Sheet"
        title, number = plain, 1
        while title.casefold() in {taken.casefold() for taken in titles}:
            number += 1
            title = f"{plain} {number}"
        titles[title] = name
    return titles


def _cell(cell: Any, value: Any) -> Any:
    cell.value = _stored(value)
    if isinstance(cell.value, str):
        cell.data_type = "s"  # also what openpyxl would take for an error, such as "#N/A"
    return cell


def _stored(value: Any) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= MAX_NUMBER:
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    text = _UNSTORABLE.sub("�", csv_cell(value))
    written = _escaped(text)
    if len(written) <= MAX_CELL:
        return written
    room = MAX_CELL - len(_CUT)
    # At worst every character takes seven.
    return (_escaped(text[:room]) if len(_escaped(text[:room])) <= room else _escaped(text[: room // 7])) + _CUT


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
