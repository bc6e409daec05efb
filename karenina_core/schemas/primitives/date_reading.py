"""Dates and what is known of them: the same text is the same date on every day and machine."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, NamedTuple

LONGEST_DATE = 100  # characters; longer texts are no dates
_CACHED = 4096  # texts remembered
_ISO_DAY = re.compile(r"\d{4}-..-\d\d")  # means the same whether the day comes first or not


class ReadDate(NamedTuple):
    """A date as it was written.

    Attributes:
        year: None where it was not written, as in "April 11".
        month: None where it was not written.
        day: None where it was not written.
        moment: The point in time as written, at midnight when no time was; None unless the date is full.
        has_time: Whether a time of day was written.
        unknown_zone: The name of a time zone that was written but says nothing, such as "XYZ".
    """

    year: int | None
    month: int | None
    day: int | None
    moment: datetime | None = None
    has_time: bool = False
    unknown_zone: str | None = None

    @property
    def parts(self) -> tuple[int | None, int | None, int | None]:
        """Year, month and day."""
        return self[:3]

    @property
    def known(self) -> tuple[int, ...]:
        """The leading known parts: (2016, 4) for "April 2016"; empty where the year is missing."""
        if self.year is None:
            return ()
        if self.month is None:
            return (self.year,)
        return (self.year, self.month) if self.day is None else (self.year, self.month, self.day)

    @property
    def is_continuous(self) -> bool:
        """Whether the known parts are a year, a year and month, or a full date."""
        return self.year is not None and (self.month is not None or self.day is None)

    @property
    def instant(self) -> datetime | None:
        """The point in time with a zone: UTC where none was written; None where it is not known."""
        if self.moment is None or self.unknown_zone:
            return None
        return self.moment if self.moment.tzinfo else self.moment.replace(tzinfo=UTC)

    def __str__(self) -> str:
        if self.moment is not None:
            if not self.has_time:
                return self.moment.date().isoformat()
            return " ".join(filter(None, (self.moment.isoformat(" "), self.unknown_zone)))
        if self.is_continuous:
            return "-".join([f"{self.year:04d}", *(f"{part:02d}" for part in self.known[1:])])
        named = zip(("year", "month", "day"), self.parts, strict=True)
        return ", ".join(f"{name} {part}" for name, part in named if part is not None)


def read_date(value: Any, format: str | None = None, dayfirst: bool = False) -> ReadDate | None:
    """Read a date.

    Args:
        value: A text, or a `date` or `datetime`.
        format: A `strptime` format; without one, ISO 8601 and the usual ways to write dates are understood.
        dayfirst: Whether 11/04/2016 is in April. ISO dates are not affected.

    Returns:
        The date, or None if `value` is not one. Two-digit years are those from 1969 to 2068.
    """
    if isinstance(value, str):
        return _read_text(value.strip(), format, dayfirst) if len(value) <= LONGEST_DATE else None
    if isinstance(value, datetime):
        return _full(value, has_time=True)
    return _whole_day(value) if isinstance(value, date) else None


def is_ambiguous(value: Any, format: str | None = None) -> bool:
    """Say whether a date text means another day when the day is read first, as 11/04/2016 does."""
    if format is not None or not isinstance(value, str) or _ISO_DAY.fullmatch(value.strip()):
        return False
    return read_date(value) != read_date(value, dayfirst=True)


@lru_cache(maxsize=_CACHED)
def _read_text(text: str, format: str | None, dayfirst: bool) -> ReadDate | None:
    if format is not None:
        return _read_formatted(text, format)
    if len(text) >= 10 and text[4] == text[7] == "-" and text[:4].isdecimal() and text[8:10].isdecimal():
        return _read_iso(text, dayfirst)
    return _read_flexible(text, dayfirst)


def _read_iso(text: str, dayfirst: bool) -> ReadDate | None:
    try:
        day = date.fromisoformat(text[:10])
    except ValueError:
        return None
    if len(text) == 10:
        return _whole_day(day)
    try:
        return _full(datetime.fromisoformat(text), has_time=True)
    except ValueError:
        return _read_flexible(text, dayfirst)


def _read_formatted(text: str, format: str) -> ReadDate | None:
    try:
        moment = datetime.strptime(text, format)  # noqa: DTZ007 - the zone is in the format or unknown
    except (ValueError, OverflowError):
        return None
    return _full(moment, has_time=any(f"%{letter}" in format for letter in "HI"))


def _read_flexible(text: str, dayfirst: bool) -> ReadDate | None:
    from karenina_core.schemas.primitives.flexible_dates import read_flexibly

    reading = read_flexibly(text, dayfirst)
    if reading is None:
        return None
    moment, written = reading
    if (written.year, written.month, written.day) == (None, None, None):
        return None
    if written.weekday is not None and written.day is None:
        return None  # "a Monday in April 2016" is not a date
    has_time = written.hour is not None
    if None in (written.year, written.month, written.day):
        return ReadDate(written.year, written.month, written.day, None, has_time)
    return _full(moment, has_time, written.tzname if moment.tzinfo is None else None)


def _whole_day(day: date) -> ReadDate:
    midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - no zone is known
    return ReadDate(day.year, day.month, day.day, midnight)


def _full(moment: datetime, has_time: bool, unknown_zone: str | None = None) -> ReadDate:
    return ReadDate(moment.year, moment.month, moment.day, moment, has_time, unknown_zone)
