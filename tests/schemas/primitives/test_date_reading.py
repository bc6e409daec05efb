"""How date texts are read: no clock, no machine, no guess."""

from __future__ import annotations

import datetime as standard
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any

import dateutil.parser._parser as parser_module
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.schemas import is_ambiguous, read_date
from karenina_core.schemas.primitives import dates
from karenina_core.schemas.primitives.dates import LONGEST_DATE


@pytest.mark.parametrize(
    "text",
    [
        "2016-04-11",
        " 2016-04-11 ",
        "April 11, 2016",
        "11 April 2016",
        "11th of April, 2016",
        "Mon, 11 Apr 2016",
        "2016/04/11",
        "2016.04.11",
        "20160411",
        "04/11/2016",
        "4/11/16",
        "2016-04-11T23:59:59",
        "2016-04-11 10:00 PM",
        "2016-04-11T23:00:00-05:00",
    ],
)
def test_usual_ways_to_write_one_date(text: str) -> None:
    found = read_date(text)
    assert found is not None
    assert found.parts == (2016, 4, 11)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "N/A",
        "unknown",
        "approved on April 11, 2016",
        "2016-13-04",
        "2016-02-30",
        "February 30, 2016",
        "99999-01-01",
        "9" * 50,
        "9" * 5000,
        "Monday",
        "Monday April 2016",
        "10:00",
        "today",
        "11 avril 2016",
    ],
)
def test_what_is_not_a_date(text: str) -> None:
    assert read_date(text) is None


@pytest.mark.parametrize("value", [None, 2016, 20160411, 3.5, ["2016-04-11"], {}, True])
def test_other_types_are_not_dates(value: Any) -> None:
    assert read_date(value) is None


@pytest.mark.parametrize(
    ("text", "parts", "shown"),
    [
        ("2016", (2016, None, None), "2016"),
        ("2016-04", (2016, 4, None), "2016-04"),
        ("April 2016", (2016, 4, None), "2016-04"),
        ("April 11", (None, 4, 11), "month 4, day 11"),
        ("10", (None, None, 10), "day 10"),
    ],
)
def test_partial_dates_stay_partial(text: str, parts: tuple[int | None, ...], shown: str) -> None:
    found = read_date(text)
    assert found is not None
    assert (found.parts, found.moment, str(found)) == (parts, None, shown)


def test_date_objects_are_dates() -> None:
    assert read_date(date(2016, 4, 11)) == read_date("2016-04-11")
    assert read_date(datetime(2016, 4, 11, 10, tzinfo=UTC)) == read_date("2016-04-11T10:00:00+00:00")


def test_the_day_may_come_first() -> None:
    assert str(read_date("11/04/2016")) == "2016-11-04"
    assert str(read_date("11/04/2016", dayfirst=True)) == "2016-04-11"
    assert str(read_date("2016-11-04", dayfirst=True)) == "2016-11-04"


@pytest.mark.parametrize(("text", "ambiguous"), [("11/04/2016", True), ("13/04/2016", False), ("2016-04-11", False)])
def test_ambiguous_dates_are_known_as_such(text: str, ambiguous: bool) -> None:
    assert is_ambiguous(text) is ambiguous


def test_only_a_text_without_a_format_is_ambiguous() -> None:
    assert is_ambiguous(" 11/04/2016 ")
    assert not is_ambiguous(" 2016-04-11 ")
    assert not is_ambiguous("11/04/2016", "%d/%m/%Y")
    assert not is_ambiguous(date(2016, 4, 11))


@pytest.mark.parametrize(("text", "year"), [("4/11/68", 2068), ("4/11/69", 1969), ("4/11/99", 1999), ("4/11/00", 2000)])
def test_two_digit_years_lie_between_1969_and_2068(text: str, year: int) -> None:
    found = read_date(text)
    assert found is not None
    assert found.year == year


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("2016-04-11T10:00:00Z", 0),
        ("2016-04-11 10:00 GMT", 0),
        ("2016-04-11T10:00:00+02:00", 2),
        ("11 Apr 2016 10:00 -0530", -5.5),
        ("April 11, 2016 10:00 EST", -5),
        ("April 11, 2016 10:00 PDT", -7),
    ],
)
def test_zones_are_read(text: str, hours: float) -> None:
    found = read_date(text)
    assert found is not None
    assert found.instant == datetime(2016, 4, 11, 10, tzinfo=timezone(timedelta(hours=hours)))


def test_a_time_without_a_zone_is_in_utc() -> None:
    found = read_date("2016-04-11 10:00")
    assert found is not None
    assert found.instant == datetime(2016, 4, 11, 10, tzinfo=UTC)


def test_an_unknown_zone_leaves_the_instant_unknown() -> None:
    found = read_date("2016-04-11 10:00 XYZ")
    assert found is not None
    assert (found.parts, found.instant, found.unknown_zone) == ((2016, 4, 11), None, "XYZ")
    assert str(found) == "2016-04-11 10:00:00 XYZ"


def test_iso_dates_are_read_without_dateutil(monkeypatch: pytest.MonkeyPatch) -> None:
    dates._read_text.cache_clear()
    monkeypatch.setitem(sys.modules, "karenina_core.schemas.primitives.flexible_dates", None)
    assert str(read_date("2017-05-12")) == "2017-05-12"
    assert str(read_date("2017-05-12T10:00:00+02:00")) == "2017-05-12 10:00:00+02:00"
    with pytest.raises(ImportError):
        read_date("May 12, 2017")


@given(st.text(max_size=LONGEST_DATE + 5))
def test_no_text_raises(text: str) -> None:
    read_date(text)
    read_date(text, "%d.%m.%Y")


WORDS = ["T", "Z", "am", "pm", "April", "Mon", "UTC", "GMT", "EST", "h", "of", "th", "inf", "nan", "\u00b2", "\x00"]
NUMBERS = ["1", "12", "31", "99", "2016", "10:00", "1e5", "+9999", "-99:99", "9" * 40]
PIECES = st.sampled_from([*WORDS, *NUMBERS, *".,:/-+'% "])


@given(st.lists(PIECES, max_size=8).map("".join))
def test_no_text_that_looks_like_a_date_raises(text: str) -> None:
    found = read_date(text)
    assert found is None or any(part is not None for part in found.parts)


@given(st.dates())
def test_every_iso_date_is_read_back(day: date) -> None:
    found = read_date(day.isoformat())
    assert found is not None
    assert found.parts == (day.year, day.month, day.day)


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_iso_time_is_read_back(moment: datetime) -> None:
    found = read_date(moment.isoformat())
    assert found is not None
    assert found.instant == moment


TEXTS = [
    "April 11",
    "10",
    "2016",
    "April 2016",
    "4/11/16",
    "4/11/99",
    "4/11/68",
    "10:00",
    "Monday",
    "11 Apr 2016 10:00 CET",
]


@pytest.fixture
def another_day_and_place(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Move the machine to New York in the year 2087, where nobody may look at the clock."""
    readings = dates._read_text

    class NoClock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> NoClock:
            raise AssertionError("the clock was read")

    monkeypatch.setattr(time, "localtime", lambda *_: time.struct_time((2087, 3, 31, 12, 0, 0, 0, 90, 0)))
    monkeypatch.setattr(parser_module, "datetime", SimpleNamespace(**{**vars(standard), "datetime": NoClock}))
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    readings.cache_clear()
    yield
    monkeypatch.undo()
    time.tzset()
    readings.cache_clear()


READ_TODAY = {text: read_date(text) for text in TEXTS}


@pytest.mark.usefixtures("another_day_and_place")
def test_the_same_text_is_the_same_date_on_another_day_and_in_another_place() -> None:
    assert {text: read_date(text) for text in TEXTS} == READ_TODAY
