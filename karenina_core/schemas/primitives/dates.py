"""Dates: equality, tolerance, range, and how dates are read.

A date that lacks its day or year is never completed: it matches only a date that is known to the same extent. The same
text is the same date on every day and machine."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, field_validator, model_validator

from karenina_core.schemas.primitives.base import (
    Comparison,
    Explanation,
    FieldKind,
    Step,
    _register_primitive,
)
from karenina_core.schemas.primitives.wording import NOTHING_EXTRACTED, failed, quoted, within
from karenina_core.text import counted

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
        known = takewhile(lambda part: part is not None, self.parts)
        return tuple(part for part in known if part is not None)

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
    return _full(datetime(day.year, day.month, day.day), has_time=False)  # noqa: DTZ001 - no zone is known


def _full(moment: datetime, has_time: bool, unknown_zone: str | None = None) -> ReadDate:
    return ReadDate(moment.year, moment.month, moment.day, moment, has_time, unknown_zone)


_DIRECTIVE = re.compile(r"%(.|\Z)", re.DOTALL)
_DIRECTIVES = frozenset("aAbBdfGHIjmMpSuUVwWyYz%")  # not those that depend on the machine: c, x, X and Z
_FOUND, _WANTED = "read as a date", "expected, read as a date"
_MICROSECONDS = {"hours": 3_600_000_000, "minutes": 60_000_000}


class _Date(Comparison):
    applies_to: ClassVar[tuple[FieldKind, ...]] = ("date", "str")

    if TYPE_CHECKING:  # each rule declares it itself, after its own parameters
        dayfirst: bool

    def _read(self, value: Any) -> ReadDate | None:
        return read_date(value, getattr(self, "format", None), self.dayfirst)

    def _reading(self, label: str, value: Any, read: ReadDate) -> Step:
        if is_ambiguous(value, getattr(self, "format", None)):
            label += f", {'day' if self.dayfirst else 'month'} first"
        return Step(label, quoted(value), str(read))

    def _readings(self, extracted: Any, found: ReadDate, expected: Any, wanted: ReadDate) -> tuple[Step, Step]:
        return self._reading(_FOUND, extracted, found), self._reading(_WANTED, expected, wanted)

    def _unreadable(self, extracted: Any, found: ReadDate | None, expected: Any) -> Explanation:
        if found is None:
            return failed(_no_date(extracted))
        return failed(f"The expected value {quoted(expected)} is not a date.", self._reading("read", extracted, found))


@_register_primitive
class DateMatch(_Date):
    """Passes when both sides are the same calendar date; time of day and zone are ignored.

    Attributes:
        format: A `strptime` format for both sides; if None, the usual ways to write dates are understood.
        dayfirst: Whether 11/04/2016 is in April; without it the month comes first. Not used with a format.
    """

    title: ClassVar[str] = "Same day"

    format: str | None = None
    dayfirst: bool = False

    @field_validator("format")
    @classmethod
    def _known_format(cls, format: str | None) -> str | None:
        if format is None:
            return None
        letters = _DIRECTIVE.findall(format)
        unknown = [f"%{letter}" for letter in letters if letter not in _DIRECTIVES or not letter]
        if unknown:
            raise ValueError(f"{', '.join(unknown)} cannot be used in a date format")
        if not {"Y", "y", "G"} & set(letters):
            raise ValueError("a date format needs a year: %Y, %y or %G")
        return format

    def _passes(self, found: ReadDate, wanted: ReadDate) -> bool:
        return found.parts == wanted.parts

    def _compared(self, extracted: Any, found: ReadDate, expected: Any, wanted: ReadDate) -> Explanation:
        steps = self._readings(extracted, found, expected, wanted)
        return Explanation(found.parts == wanted.parts, steps, _comparison(found, wanted, steps))


@_register_primitive
class DateTolerance(_Date):
    """Passes when the date is near enough to the expected one.

    Attributes:
        tolerance: Greatest distance in units, at least 0.
        unit: `days` compares calendar dates as written. `hours` and `minutes` compare points in time: UTC where no
            zone is written, midnight where no time is.
        dayfirst: Whether 11/04/2016 is in April; without it the month comes first.
    """

    title: ClassVar[str] = "Date near enough"

    tolerance: int = Field(ge=0)
    unit: Literal["days", "hours", "minutes"] = "days"
    dayfirst: bool = False

    def _passes(self, found: ReadDate, wanted: ReadDate) -> bool:
        distance = _distance(found, wanted, self.unit)
        if distance is None:
            return found.moment is None and found.parts == wanted.parts
        if self.unit == "days":
            return distance.days <= self.tolerance
        return distance // timedelta(microseconds=1) <= self.tolerance * _MICROSECONDS[self.unit]

    def _compared(self, extracted: Any, found: ReadDate, expected: Any, wanted: ReadDate) -> Explanation:
        steps = self._readings(extracted, found, expected, wanted)
        distance = _distance(found, wanted, self.unit)
        passed = self._passes(found, wanted)
        if distance is None:
            return Explanation(passed, steps, _zone_fault(found, wanted) or _comparison(found, wanted, steps))
        allowed = counted(self.tolerance, self.unit.removesuffix("s"))
        shown = f"{distance / timedelta(**{self.unit: 1}):.10g} {self.unit}"
        apart = Step("distance", f"{found} to {wanted}", shown)
        relation = f"is within {allowed} of" if passed else f"is more than {allowed} from"
        return Explanation(passed, (*steps, apart), f"{found} {relation} the expected {wanted}.")


@_register_primitive
class DateRange(_Date):
    """Passes when the date lies within the bounds, which belong to it. Ignores the ground truth.

    A bound without a time covers its whole day, "2015-12" its whole month and "2015" its whole year; it is compared
    with the date as written. A bound with a time is compared as a point in time, in UTC where no zone is written.
    A value that is less exact than a bound does not pass.

    Attributes:
        min: Earliest acceptable date; none if None.
        max: Latest acceptable date; none if None.
        dayfirst: Whether 11/04/2016 is in April; without it the month comes first.
    """

    title: ClassVar[str] = "Date within bounds"

    uses_ground_truth: ClassVar[bool] = False

    min: str | None = None
    max: str | None = None
    dayfirst: bool = False

    @model_validator(mode="after")
    def _usable(self) -> DateRange:
        for name, text in (("min", self.min), ("max", self.max)):
            bound = self._read(text)
            if text is not None and (bound is None or bound.unknown_zone or not bound.is_continuous):
                raise ValueError(f"{name} {text!r} is not a date that can be a bound")
        earliest, latest = self._read(self.min), self._read(self.max)
        if earliest and latest and _side(earliest, latest) > 0:
            raise ValueError(f"min {self.min!r} is later than max {self.max!r}, so that nothing could pass")
        return self

    def check(self, extracted: Any, expected: Any) -> bool:
        found = self._read(extracted)
        return found is not None and _lies_within(found, self._read(self.min), self._read(self.max))

    def explain(self, extracted: Any, expected: Any) -> Explanation:
        found = self._read(extracted)
        if found is None:
            return failed(_no_date(extracted))
        bounds = self._read(self.min), self._read(self.max)
        passed = _lies_within(found, *bounds)
        vague = [bound for bound in bounds if bound and len(found.known) < len(bound.known)]
        if vague:
            reason = f"{found} is less exact than the bound {vague[0]}."
        elif found.unknown_zone and not passed:
            reason = _zone_fault(found)
        else:
            shown = within(*(None if bound is None else str(bound) for bound in bounds))
            reason = f"{found} {'is' if passed else 'is not'} {shown}."
        return Explanation(passed, (self._reading(_FOUND, extracted, found),), reason)


def _lies_within(found: ReadDate, earliest: ReadDate | None, latest: ReadDate | None) -> bool:
    return (earliest is None or _reaches(found, earliest, 1)) and (latest is None or _reaches(found, latest, -1))


def _reaches(found: ReadDate, bound: ReadDate, direction: int) -> bool:
    """Say whether a date is exact enough and lies on the bound or beyond it: later for 1, earlier for -1."""
    if len(found.known) < len(bound.known) or (bound.has_time and found.instant is None):
        return False
    return _side(found, bound) * direction >= 0


def _side(found: ReadDate, bound: ReadDate) -> int:
    """Return -1 for a date before the bound, 1 for one after it, 0 for one that the bound covers."""
    if bound.has_time and bound.instant and found.instant:
        return (found.instant > bound.instant) - (found.instant < bound.instant)
    common = min(len(found.known), len(bound.known))
    mine, its = found.known[:common], bound.known[:common]
    return (mine > its) - (mine < its)


def _distance(found: ReadDate, wanted: ReadDate, unit: str) -> timedelta | None:
    """Return how far apart two dates are, or None where one is not full or its time zone not known."""
    if unit == "days":
        return abs(found.moment.date() - wanted.moment.date()) if found.moment and wanted.moment else None
    return abs(found.instant - wanted.instant) if found.instant and wanted.instant else None


def _comparison(found: ReadDate, wanted: ReadDate, readings: tuple[Step, Step]) -> str:
    """Compare two dates in words; their readings hold them as text."""
    shown, shown_wanted = readings[0].after, readings[1].after
    if found.parts == wanted.parts:
        return f"{shown} is the expected date."
    known = [[part is not None for part in each.parts] for each in (found, wanted)]
    if known[0] != known[1]:
        return f"{shown} and the expected {shown_wanted} are not dates of the same precision."
    return f"{shown} is not the expected {shown_wanted}."


def _zone_fault(*dates: ReadDate) -> str:
    zones = [each.unknown_zone for each in dates if each.unknown_zone]
    return f"The time zone {zones[0]} is not known; an offset such as +02:00 would be." if zones else ""


def _no_date(value: Any) -> str:
    return NOTHING_EXTRACTED if value is None else f"{quoted(value)} cannot be read as a date."
