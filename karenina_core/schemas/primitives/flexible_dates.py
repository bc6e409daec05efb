"""Dates as people write them, read by python-dateutil with everything that depends on today taken out.

Imported where it is first needed.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any

from dateutil.parser import parser, parserinfo

_ANY_DAY = datetime(2000, 1, 1)  # noqa: DTZ001 - a leap year to fill gaps with; what filled them is never used
_ZONES = {"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}  # RFC 5322, 4.3
_PIVOT = 69  # POSIX: 69 to 99 are 1969 to 1999, 00 to 68 are 2000 to 2068


class _Reading(parserinfo):
    """The vocabulary of one reading, which also keeps what was actually written."""

    written: Any = None

    def convertyear(self, year: int, century_specified: bool = False) -> int:
        if year >= 100 or century_specified:
            return year
        return year + (1900 if year >= _PIVOT else 2000)

    def validate(self, res: Any) -> bool:
        self.written = res
        return super().validate(res)


def read_flexibly(text: str, dayfirst: bool) -> tuple[datetime, Any] | None:
    """Return a point in time and which of its parts were written, or None if the text is not a date."""
    info = _Reading()
    try:
        moment = parser(info).parse(text, default=_ANY_DAY, dayfirst=dayfirst, tzinfos=_zone)
    except (ValueError, OverflowError, TypeError, ArithmeticError, LookupError, AttributeError):
        # Beside its own error the parser lets those of its internals escape on odd texts.
        return None
    return moment, info.written


def _zone(name: str | None, offset: int | None) -> tzinfo | None:
    # Only fixed names: others would depend on the zone of the machine.
    if offset is not None:
        return timezone(timedelta(seconds=offset))
    return timezone(timedelta(hours=_ZONES[name])) if name in _ZONES else None
