"""Files for the readers, built as a person's programs would build them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
from openpyxl import Workbook

from karenina_core.benchmark import Opened, Options, Table, open_file, read_table

HEADER = ("Question", "Answer")


def read(data: bytes, name: str, **options: Any) -> Table:
    """Return the table in a file."""
    opened = open_file(data, name)
    assert isinstance(opened, Opened)
    return read_table(opened, Options(**options))


def csv_file(*rows: str, header: str = "Question,Answer") -> bytes:
    """Return a CSV file of the given lines."""
    return "\r\n".join([header, *rows]).encode()


def csv_table(*rows: str, header: str = "Question,Answer") -> Table:
    """Return the table of the given lines of CSV."""
    return read(csv_file(*rows, header=header), "table.csv")


def workbook(*sheets: Sequence[Sequence[Any]], merged: Sequence[str] = ()) -> bytes:
    """Return a workbook as openpyxl writes it; the first sheet gets the merged areas."""
    book = Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets, start=1):
        sheet = book.create_sheet(f"Sheet {number}")
        for row in rows:
            sheet.append(list(row))
    for area in merged:
        book.worksheets[0].merge_cells(area)
    return saved(book)


def saved(book: Workbook) -> bytes:
    """Return the bytes of a workbook."""
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def members(data: bytes) -> dict[str, bytes]:
    """Return the members of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def repacked(data: bytes, **changed: bytes) -> bytes:
    """Return a workbook with some parts replaced; `sheet1=b"…"` replaces `xl/worksheets/sheet1.xml`."""
    parts = members(data)
    for stem, content in changed.items():
        parts[next(name for name in parts if name.endswith(f"/{stem}.xml"))] = content
    return zipped(parts)


def parquet_file(**columns: Any) -> bytes:
    """Return a Parquet file of the given columns."""
    buffer = io.BytesIO()
    parquet.write_table(arrow.table(columns), buffer)
    return buffer.getvalue()
