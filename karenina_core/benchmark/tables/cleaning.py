"""What goes wrong with texts on their way through files and programs, and how it is put right."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable
from typing import Final

from karenina_core.csv_text import csv_cell

_JOINERS = frozenset("\u200c\u200d")  # they hold emoji and some scripts together
_KEPT = frozenset("\n\t\r")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|mrz|mai|okt|dez"
_SHORT_DATE = re.compile(rf"\d{{1,2}}[-. ](?:{_MONTHS})\.?|(?:{_MONTHS})\.?[- ]\d{{2}}", re.IGNORECASE)
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?")
_COMMON_DATE = re.compile(r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})")
_SERIAL_DAYS: Final = range(18_264, 73_051)  # 1950 to 2099
_DAY_ZERO = datetime.date(1899, 12, 30)


def _sloppy_bytes() -> dict[str, int]:
    """Return the byte behind every character that UTF-8 misread as Windows-1252 consists of."""
    table: dict[str, int] = {}
    for code in range(0x80, 0x100):
        byte = bytes([code])
        table[byte.decode("cp1252") if code not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else chr(code)] = code
        table.setdefault(chr(code), code)
    return table


_BYTE_OF = _sloppy_bytes()
_MISREAD = re.compile("[" + re.escape("".join(_BYTE_OF)) + "]{2,}")


def without_apostrophe(text: str) -> str:
    """Return a text without the apostrophe that keeps spreadsheets from taking it for a formula."""
    return text[1:] if text.startswith("'") and csv_cell(text[1:]) == text else text


def without_invisible(text: str) -> str:
    """Return a text without characters nobody sees: control, zero-width and direction characters."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character for character in text if not _is_invisible(character))


def _is_invisible(character: str) -> bool:
    if character in _KEPT or character in _JOINERS:
        return False
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn")


def well_read(text: str) -> str:
    """Return a text with UTF-8 that was read as Windows-1252 put right: `Ã©` becomes `é`."""
    return text if text.isascii() else _MISREAD.sub(_reread, text)


def _reread(found: re.Match[str]) -> str:
    try:
        return bytes(_BYTE_OF[character] for character in found[0]).decode("utf-8")
    except UnicodeDecodeError:
        return found[0]


REPAIRS: Final[dict[str, Callable[[str], str]]] = {
    "apostrophe": without_apostrophe,
    "mojibake": well_read,
    "invisible": without_invisible,
    "blanks": str.strip,
}
"""Automatic repairs of a text by the code of their finding, in the order they are made."""


def is_date(text: str) -> bool:
    """Say whether a text is a whole date, such as `2024-03-01` or `1/3/24`."""
    return bool(_ISO_DATE.fullmatch(text.strip()) or _COMMON_DATE.fullmatch(text.strip()))


def looks_turned_into_date(text: str) -> bool:
    """Say whether a text looks like what a spreadsheet makes of `SEPT2` or `3-5`: `2-Sep`, `05-Mar`."""
    return bool(_SHORT_DATE.fullmatch(text.strip()))


def date_of_serial(value: object) -> str | None:
    """Return the ISO date of a number that can be one: days since 1899-12-30, from 1950 to 2099; else None."""
    text = str(value).strip().removesuffix(".0") if not isinstance(value, bool) else ""
    if not (text.isascii() and text.isdigit() and len(text) == 5) or int(text) not in _SERIAL_DAYS:
        return None
    return (_DAY_ZERO + datetime.timedelta(days=int(text))).isoformat()
