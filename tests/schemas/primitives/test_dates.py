"""`DateMatch`, `DateTolerance` and `DateRange`."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from karenina_core.schemas.primitives import DateMatch, DateRange, DateTolerance, Step, VerificationPrimitive

DAY = "2016-04-11"
NO_DATES = [None, "", "soon", 2016, ["2016-04-11"], "9" * 400, "2016-02-30"]
RULES = [DateMatch(), DateTolerance(tolerance=10**9), DateRange()]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("value", NO_DATES)
def test_null_and_what_is_no_date_fail(rule: VerificationPrimitive, value: Any) -> None:
    assert not rule.check(value, DAY)
    assert not rule.check(value, value)
    assert not rule.explain(value, DAY).passed


@pytest.mark.parametrize("rule", RULES[:2], ids=lambda rule: type(rule).__name__)
def test_an_expected_value_that_is_no_date_fails(rule: VerificationPrimitive) -> None:
    assert not rule.check(DAY, "N/A")
    assert rule.explain(DAY, "N/A").reason == 'The expected value "N/A" is not a date.'


@pytest.mark.parametrize(
    "value", ["April 11, 2016", "11 Apr 2016", "2016-04-11T23:59", "04/11/2016", date(2016, 4, 11)]
)
def test_match_passes_the_same_day_however_written(value: Any) -> None:
    assert DateMatch().check(value, DAY)


@pytest.mark.parametrize("value", ["2016-04-12", "April 12, 2016", "2015-04-11", "2016-05-11"])
def test_match_fails_another_day(value: str) -> None:
    assert not DateMatch().check(value, DAY)


def test_match_compares_the_day_as_written_whatever_the_zone() -> None:
    assert DateMatch().check("2016-04-11T23:00:00-05:00", DAY)
    assert DateMatch().check("2016-04-11 10:00 XYZ", DAY)


@pytest.mark.parametrize("partial", ["2016", "April 2016", "April 11", "11"])
def test_match_of_partial_dates_needs_the_same_precision(partial: str) -> None:
    assert DateMatch().check(partial, partial)
    assert not DateMatch().check(partial, DAY)
    assert not DateMatch().check(DAY, partial)


def test_match_of_partial_dates_compares_what_is_known() -> None:
    assert DateMatch().check("April 2016", "2016-04")
    assert not DateMatch().check("May 2016", "2016-04")


def test_match_can_read_the_day_first() -> None:
    assert DateMatch().check("11/04/2016", "2016-11-04")
    assert DateMatch(dayfirst=True).check("11/04/2016", DAY)


def test_match_with_a_format_reads_both_sides_by_it() -> None:
    rule = DateMatch(format="%d.%m.%Y")
    assert rule.check("11.04.2016", "11.04.2016")
    assert not rule.check("12.04.2016", "11.04.2016")
    assert not rule.check("2016-04-11", "11.04.2016")
    assert not rule.check("11.04.2016", "2016-04-11")
    assert DateMatch(format="%Y").check("2016", "2016")


@pytest.mark.parametrize("format", ["", "%q", "%", "%Y-%", "%c", "%Z %Y", "%A", "%d.%m.", "%H:%M", 5])
def test_match_refuses_formats_that_cannot_decide(format: Any) -> None:
    with pytest.raises(ValidationError):
        DateMatch(format=format)


def test_match_explains_what_was_read() -> None:
    explained = DateMatch().explain("April 12, 2016", DAY)
    assert explained.reason == "2016-04-12 is not the expected 2016-04-11."
    assert explained.steps == (
        Step("read as a date", '"April 12, 2016"', "2016-04-12"),
        Step("expected, read as a date", '"2016-04-11"', "2016-04-11"),
    )


def test_match_says_how_it_read_an_ambiguous_date() -> None:
    assert DateMatch().explain("11/04/2016", DAY).steps[0].label == "read as a date, month first"
    assert DateMatch(dayfirst=True).explain("11/04/2016", DAY).steps[0].label == "read as a date, day first"
    assert DateMatch(format="%m/%d/%Y").explain("11/04/2016", "11/04/2016").steps[0].label == "read as a date"


def test_match_explains_a_difference_in_precision_and_a_null() -> None:
    assert "same precision" in DateMatch().explain("April 2016", DAY).reason
    assert DateMatch().explain(None, DAY).reason == "Nothing was extracted, which never passes."


@pytest.mark.parametrize(
    ("value", "passes"),
    [("2016-04-25", True), ("2016-05-11", True), ("2016-03-12", True), ("2016-05-12", False), ("2016-06-15", False)],
)
def test_tolerance_in_days_includes_its_bound(value: str, passes: bool) -> None:
    assert DateTolerance(tolerance=30).check(value, DAY) is passes


def test_tolerance_in_days_compares_calendar_dates() -> None:
    assert DateTolerance(tolerance=1).check("2016-04-12 23:00", DAY)
    assert DateTolerance(tolerance=0).check("2016-04-11T23:00:00-10:00", DAY)
    assert not DateTolerance(tolerance=1).check("2016-04-13 00:00", DAY)


@pytest.mark.parametrize(
    ("value", "passes"),
    [
        ("2016-04-11 12:00", True),
        ("2016-04-11 12:00:01", False),
        ("2016-04-11T14:00:00+02:00", True),
        ("2016-04-11 07:00 EST", True),
        ("2016-04-11 12:00 XYZ", False),
        ("2016-04-11", False),
    ],
)
def test_tolerance_in_hours_compares_points_in_time(value: str, passes: bool) -> None:
    assert DateTolerance(tolerance=2, unit="hours").check(value, "2016-04-11T10:00:00Z") is passes


def test_tolerance_in_minutes_takes_midnight_for_a_bare_date() -> None:
    rule = DateTolerance(tolerance=90, unit="minutes")
    assert rule.check("2016-04-11 01:30", DAY)
    assert not rule.check("2016-04-11 01:31", DAY)


@pytest.mark.parametrize("unit", ["days", "hours"])
def test_tolerance_of_partial_dates_is_equality(unit: Any) -> None:
    rule = DateTolerance(tolerance=10**6, unit=unit)
    assert rule.check("April 2016", "2016-04")
    assert not rule.check("May 2016", "2016-04")
    assert not rule.check("April 2016", DAY)


def test_tolerance_works_at_the_ends_of_time() -> None:
    rule = DateTolerance(tolerance=10**12, unit="minutes")
    assert rule.check("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00")


@pytest.mark.parametrize("parameters", [{}, {"tolerance": -1}, {"tolerance": 1.5}, {"tolerance": 1, "unit": "weeks"}])
def test_tolerance_refuses_bad_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DateTolerance(**parameters)


def test_tolerance_explains_the_distance() -> None:
    explained = DateTolerance(tolerance=30).explain("2016-06-15", DAY)
    assert explained.steps[-1] == Step("distance", "2016-06-15 to 2016-04-11", "65 days")
    assert explained.reason == "2016-06-15 is more than 30 days from the expected 2016-04-11."
    hours = DateTolerance(tolerance=1, unit="hours").explain("2016-04-11 00:30", DAY)
    assert hours.steps[-1].after == "0.5 hours"
    assert hours.reason.startswith("2016-04-11 00:30:00 is within 1 hour of")


def test_tolerance_explains_an_unknown_zone() -> None:
    explained = DateTolerance(tolerance=1, unit="hours").explain("2016-04-11 10:00 XYZ", "2016-04-11 10:00")
    assert not explained.passed
    assert "time zone XYZ is not known" in explained.reason


@pytest.mark.parametrize(
    ("value", "passes"),
    [
        ("2015-01-01", True),
        ("June 15, 2015", True),
        ("2015-12-31", True),
        ("2015-12-31 23:59:59", True),
        ("2014-12-31 23:59:59", False),
        ("2016-01-01", False),
        ("June 2015", False),
        ("2015", False),
    ],
)
def test_range_covers_the_whole_of_its_last_day(value: str, passes: bool) -> None:
    assert DateRange(min="2015-01-01", max="2015-12-31").check(value, "N/A") is passes


@pytest.mark.parametrize(
    ("value", "passes"), [("2015-01-01", True), ("2016-12-31", True), ("2017-01-01", False), ("2016", True)]
)
def test_range_covers_whole_years_and_months(value: str, passes: bool) -> None:
    assert DateRange(min="2015", max="2016").check(value, "N/A") is passes
    assert DateRange(min="2015", max="December 2016").check(value, "N/A") is (passes and value != "2016")


def test_range_with_times_compares_points_in_time() -> None:
    rule = DateRange(min="2015-06-01T08:00:00Z", max="2015-06-01T10:00:00Z")
    assert rule.check("2015-06-01 10:00", "N/A")
    assert rule.check("2015-06-01T11:00:00+01:00", "N/A")
    assert not rule.check("2015-06-01T10:00:01", "N/A")
    assert not rule.check("2015-06-01", "N/A")
    assert not rule.check("2015-06-01 09:00 XYZ", "N/A")


def test_range_may_be_open_on_one_side_or_both() -> None:
    assert DateRange(min="2015-01-01").check("2999-01-01", "N/A")
    assert DateRange(max="2015-01-01").check("0001-01-01", "N/A")
    assert DateRange().check("2016", "N/A")


@pytest.mark.parametrize(
    "bounds",
    [
        {"min": "2016-01-01", "max": "2015-12-31"},
        {"min": "2016", "max": "2015-12-31"},
        {"min": "2015-06-01T10:00", "max": "2015-06-01T09:00"},
        {"min": "soon"},
        {"max": ""},
        {"max": "April 11"},
        {"max": "2015-06-01 10:00 XYZ"},
        {"min": 2015},
    ],
)
def test_range_refuses_bounds_that_cannot_decide(bounds: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DateRange(**bounds)


def test_range_explains_with_its_bounds() -> None:
    rule = DateRange(min="2015-01-01", max="Dec 31, 2015")
    assert rule.explain("2016-02-01", "N/A").reason == "2016-02-01 is not between 2015-01-01 and 2015-12-31."
    assert rule.explain("June 15, 2015", "N/A").reason == "2015-06-15 is between 2015-01-01 and 2015-12-31."
    assert rule.explain("June 2015", "N/A").reason == "2015-06 is less exact than the bound 2015-01-01."
