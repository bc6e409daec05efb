"""Variants of truths that can be measured: numbers, dates, lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any, Literal, NamedTuple

from karenina_core.authoring.reading import spoken
from karenina_core.schemas import read_date
from karenina_core.schemas.primitives import (
    DateMatch,
    DateRange,
    DateTolerance,
    NumericExact,
    NumericRange,
    NumericTolerance,
    TraceLength,
)
from karenina_core.templates import FieldSpec

Expected = Literal["pass", "fail", "either"]
"""What an author will want; `either` where that is a matter of taste."""
NOT_IT = "something else entirely"
_MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
]  # fmt: skip


class Variant(NamedTuple):
    """A value a judge may extract, or a response for rules that read it.

    Attributes:
        label: How it differs from the truth, in words.
        value: The value.
        expected: What an author will want of it.
    """

    label: str
    value: Any
    expected: Expected


def number_variants(item: FieldSpec, rule: NumericExact | NumericTolerance) -> Iterator[Variant]:
    """Yield numbers around the truth."""
    truth = item.ground_truth
    yield Variant("the truth itself", truth, "pass")
    if isinstance(truth, bool) or not isinstance(truth, int | float):
        return
    allowed = _allowed(rule, truth)
    yield Variant("as a text", f"{truth}", "pass")
    if float(truth).is_integer() and abs(truth) < 1e15:
        yield Variant("with decimals", f"{truth:.1f}", "pass")
        if abs(truth) >= 1000:
            yield Variant("with thousands separators", f"{int(truth):,}", "either")
        if 0 <= truth < 100:
            yield Variant("in words", spoken(int(truth)), "either")
    yield Variant("with a unit", f"{truth} units", "either")
    if allowed:
        yield from _edges(item, truth, allowed)
    one: Expected = "fail" if allowed < 1 else "either"
    yield Variant("one more", truth + 1, one)
    yield Variant("one less", truth - 1, one)
    if truth:
        far: Expected = "fail" if allowed < abs(truth) * 0.5 else "either"
        yield from (
            Variant("ten times as much", _exact(truth, truth * 9), far),
            Variant("with the other sign", -truth, far),
        )
        yield Variant("zero", 0, far)


def _allowed(rule: NumericExact | NumericTolerance, truth: float) -> float:
    if isinstance(rule, NumericExact):
        return 0.0
    return rule.tolerance * abs(truth) if rule.mode == "relative" else rule.tolerance


def _edges(item: FieldSpec, truth: float, allowed: float) -> Iterator[Variant]:
    whole = item.type == "int"
    inside, beyond = (int(allowed), int(allowed) + 1) if whole else (allowed, allowed * 1.01)
    if inside:
        yield Variant("at the upper edge of the tolerance", _exact(truth, inside), "pass")
        yield Variant("at the lower edge of the tolerance", _exact(truth, -inside), "pass")
    yield Variant("just above the tolerance", _exact(truth, beyond), "fail")
    yield Variant("just below the tolerance", _exact(truth, -beyond), "fail")


def _exact(number: float, shift: float) -> Any:
    """Add as on paper: 0.72 and 0.05 are 0.77."""
    whole = isinstance(number, int) and isinstance(shift, int)
    return number + shift if whole else float(f"{number + shift:.12g}")


def bound_variants(item: FieldSpec, rule: NumericRange) -> Iterator[Variant]:
    """Yield numbers on and beyond the bounds of a range."""
    step = 1 if item.type == "int" else max(abs(rule.min or 0), abs(rule.max or 0), 1) * 0.01
    for bound, name, side in ((rule.min, "least", -1), (rule.max, "greatest", 1)):
        if bound is not None:
            value = int(bound) if item.type == "int" and float(bound).is_integer() else bound
            yield Variant(f"the {name} number", value, "pass")
            yield Variant(f"beyond the {name} number", _exact(value, side * step), "fail")
    if rule.min is not None and rule.max is not None:
        middle = (rule.min + rule.max) / 2
        if item.type != "int" or middle.is_integer():
            yield Variant("in the middle", int(middle) if item.type == "int" else middle, "pass")


def date_variants(truth: Any, rule: DateMatch | DateTolerance) -> Iterator[Variant]:
    """Yield dates around the truth, and the truth in other writing."""
    yield Variant("the truth itself", truth, "pass")
    format = rule.format if isinstance(rule, DateMatch) else None
    read = read_date(truth, format, rule.dayfirst)
    if read is None or read.moment is None:
        return
    day = read.moment.date()
    free: Expected = "pass" if format is None else "either"
    for label, text in _written(day):
        if text != truth:
            yield Variant(label, text, free)
    yield Variant("in numbers, month first", f"{day.month:02}/{day.day:02}/{day.year}", "either")
    yield Variant("in numbers, day first", f"{day.day:02}/{day.month:02}/{day.year}", "either")
    yield Variant("with a time", f"{day.isoformat()} 10:30", "either")
    yield from _neighbours(day, rule, format)
    yield Variant("only the month", f"{day:%Y-%m}", "fail")
    yield Variant("only the year", str(day.year), "fail")


def _written(day: date) -> Sequence[tuple[str, str]]:
    month = _MONTHS[day.month - 1]
    return (
        ("as year-month-day", day.isoformat()),
        ("month in words", f"{month} {day.day}, {day.year}"),
        ("day before the month in words", f"{day.day} {month} {day.year}"),
        ("month abbreviated", f"{month[:3]} {day.day}, {day.year}"),
    )


def _neighbours(day: date, rule: DateMatch | DateTolerance, format: str | None) -> Iterator[Variant]:
    days = rule.tolerance if isinstance(rule, DateTolerance) and rule.unit == "days" else 0
    edge: Expected = "pass" if days else "fail"
    if isinstance(rule, DateTolerance) and rule.unit != "days":
        return
    for label, shift, expected in (
        (f"{days} days later" if days else "one day later", days or 1, edge),
        (f"{days} days earlier" if days else "one day earlier", -(days or 1), edge),
        ("one day beyond the tolerance", days + 1, "fail"),
    ):
        other = _shifted(day, shift)
        if other is not None and (days or "tolerance" not in label):
            text = other.strftime(format) if format else other.isoformat()
            yield Variant(label, text, expected)
    other = _shifted(day, 365 + 2 * days)
    if other is not None:
        yield Variant("another year", other.strftime(format) if format else other.isoformat(), "fail")


def _shifted(day: date, days: int) -> date | None:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def date_bound_variants(rule: DateRange) -> Iterator[Variant]:
    """Yield dates on and beyond the bounds of a range."""
    for text, name, side in ((rule.min, "earliest", -1), (rule.max, "latest", 1)):
        read = read_date(text, None, rule.dayfirst)
        if read is not None and read.moment is not None:
            yield Variant(f"the {name} date", text, "pass")
            beyond = _shifted(read.moment.date(), side)
            if beyond is not None:
                yield Variant(f"a day beyond the {name} date", beyond.isoformat(), "fail")
    yield Variant("no date", NOT_IT, "fail")


def length_variants(rule: TraceLength, right: Expected, wrong: Expected) -> Iterator[Variant]:
    """Yield responses on and beyond the bounds of a length."""
    unit = "words" if rule.unit == "words" else "characters"

    def response(length: int) -> str:
        return " ".join(["word"] * length) if rule.unit == "words" else "x" * length

    for bound, name, side in ((rule.min, "least", -1), (rule.max, "greatest", 1)):
        if bound is not None and bound <= 10_000:
            yield Variant(f"the {name} length, {bound} {unit}", response(bound), right)
            if bound + side >= 0:
                yield Variant(f"beyond the {name} length, {bound + side} {unit}", response(bound + side), wrong)
