"""Cells: what goes wrong with them on their way through programs, and what they are needed for."""

from __future__ import annotations

import datetime
import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any, Final

from karenina_core.benchmark.checkpoint.nodes import plain, source_of
from karenina_core.benchmark.tables.table import Cell, is_blank
from karenina_core.sheets import csv_cell

_VISIBLE = frozenset("\n\t\r\u200c\u200d")  # the last two hold emoji and some scripts together
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|mrz|mai|okt|dez"
_SHORT_DATE = re.compile(rf"\d{{1,2}}[-. ](?:{_MONTHS})\.?|(?:{_MONTHS})\.?[- ]\d{{2}}", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d\d)")
_SERIAL_DAYS: Final = range(18_264, 73_051)  # 1950 to 2099
_DAY_ZERO = datetime.date(1899, 12, 30)
# The byte behind every character that UTF-8 misread as Windows-1252 consists of; five bytes have none there.
_BYTE_OF = {chr(byte): byte for byte in range(0x80, 0x100)}
_BYTE_OF |= {bytes([byte]).decode("cp1252", "replace"): byte for byte in range(0x80, 0x100)}
_BYTE_OF.pop("\ufffd")
_MISREAD = re.compile(f"[{re.escape(''.join(_BYTE_OF))}]{{2,}}")
_YES = frozenset({"yes", "y", "true", "1", "x", "done", "finished", "ready", "ja", "wahr", "✓", "✔"})
_NO = frozenset({"no", "n", "false", "0", "draft", "unfinished", "open", "nein", "falsch", "✗"})


def without_apostrophe(text: str) -> str:
    """Return a text without the apostrophe that keeps spreadsheets from taking it for a formula."""
    return text[1:] if text.startswith("'") and csv_cell(text[1:]) == text else text


def without_invisible(text: str) -> str:
    """Return a text without characters nobody sees: control, zero-width and direction characters."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign for sign in text if sign in _VISIBLE or unicodedata.category(sign)[0] != "C")


def well_read(text: str) -> str:
    """Return a text with UTF-8 that was read as Windows-1252 put right: `Ã©` becomes `é`."""

    def reread(match: re.Match[str]) -> str:
        try:
            return bytes(_BYTE_OF[character] for character in match[0]).decode("utf-8")
        except UnicodeDecodeError:
            return match[0]

    return text if text.isascii() else _MISREAD.sub(reread, text)


REPAIRS: Final[dict[str, Callable[[str], str]]] = {
    "apostrophe": without_apostrophe,
    "mojibake": well_read,
    "invisible": without_invisible,
    "blanks": str.strip,
}
"""Automatic repairs of a text by the code of their finding, in the order they are made."""


def is_date(text: str) -> bool:
    """Say whether a text is a whole date, such as `2024-03-01` or `1/3/24`."""
    return bool(_DATE.fullmatch(text.strip()))


def looks_turned_into_date(text: str) -> bool:
    """Say whether a text looks like what a spreadsheet makes of `SEPT2` or `3-5`: `2-Sep`, `05-Mar`."""
    return bool(_SHORT_DATE.fullmatch(text.strip()))


def date_of_serial(value: object) -> str | None:
    """Return the ISO date of a number that can be one: days since 1899-12-30, from 1950 to 2099; else None."""
    text = str(value).strip().removesuffix(".0")
    if not (text.isascii() and text.isdigit() and len(text) == 5) or int(text) not in _SERIAL_DAYS:
        return None
    return (_DAY_ZERO + datetime.timedelta(days=int(text))).isoformat()


def text_of(value: Cell) -> str:
    """Return a cell as text: whole numbers without a decimal point, lists and objects as JSON, nothing as blank."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)


def keywords_of(value: Cell, separator: str) -> list[str]:
    """Return the keywords in a cell, in order; an empty separator takes the cell as one."""
    text = text_of(value)
    items = value if isinstance(value, list) else text.split(separator) if separator else [text]
    return [keyword for item in items if (keyword := text_of(item).strip())]


def yes_or_no(value: Cell) -> bool | None:
    """Return what a cell says; None when it says something else."""
    word = text_of(value).strip().casefold()
    return True if word in _YES else False if word in _NO else None


def author_of(name: Cell, email: Cell, affiliation: Cell) -> dict[str, Any] | None:
    """Return an author as benchmark files hold one, None when there is none."""
    if isinstance(whole := plain(name), dict):
        return whole
    cells = {"name": name, "email": email, "affiliation": affiliation}
    given = {field: text_of(value).strip() for field, value in cells.items() if not is_blank(value)}
    return {"@type": "Person", **given} if given else None


def sources_of(value: Cell) -> list[dict[str, Any]]:
    """Return sources as benchmark files hold them: one for every line, or for every part between semicolons."""
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    items = value if isinstance(value, list) else [value]
    lines = (line.strip(" ;\r\t") for item in items for line in text_of(item).replace("; ", "\n").split("\n"))
    sources = (plain(line) for line in lines if line)
    return [source if isinstance(source, dict) else source_of(str(source)) for source in sources]
