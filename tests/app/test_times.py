"""Points in time are shown as the clock of the visitor shows them."""

from __future__ import annotations

import pytest
import streamlit as st

from pages.components.text import local_time

STORED = "2026-11-22T23:30:12.345678+00:00"


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("Europe/Zurich", "2026-11-23 00:30"),
        ("America/New_York", "2026-11-22 18:30"),
        (None, "2026-11-22 23:30 UTC"),
        ("../etc/passwd", "2026-11-22 23:30 UTC"),
        ("No/Such_Zone", "2026-11-22 23:30 UTC"),
    ],
)
def test_a_time_is_that_of_the_browser(zone: str | None, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(st.context), "timezone", zone)
    assert local_time(STORED) == shown


@pytest.mark.parametrize("stored", ["2026-11-22T23:30:12", "2026-11-22 23:30"])
def test_a_time_without_a_zone_stays_as_it_is(stored: str) -> None:
    assert local_time(stored) == "2026-11-22 23:30"


def test_what_is_no_time_is_shown_as_it_is() -> None:
    assert local_time("yesterday") == "yesterday"
