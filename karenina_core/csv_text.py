"""The one writer of CSV tables: no cell of them is a formula for a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

# What some spreadsheet takes for the beginning of a formula, after blanks and invisible characters.
_FORMULA = re.compile(
    "[\\s\0-\x20\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe0f\ufeff]*[=+\\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n]"
)
_PLAIN_NUMBER = re.compile(r"[+-]?(\d[\d.,]*|[.,]\d+)(e[+-]?\d+)? ?%?", re.IGNORECASE | re.ASCII)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a CSV table (commas, CRLF) whose cells and column names no spreadsheet takes for formulas."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([csv_cell(name) for name in header])
    writer.writerows([csv_cell(cell) for cell in row] for row in rows)
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
