"""Texts, labels, times and keys of widgets: signs stay as written, no two labels are alike, times are local."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import streamlit as st
from hypothesis import given, strategies
from streamlit.testing.v1 import AppTest

from pages.components.text import distinct, local_time, plain, unbroken
from pages.components.widgets import fingerprint

NOTHING = ":small{}"


@pytest.mark.parametrize("sign", ["->", "<-", "<->", "--", ">=", "<=", "!=", "~="])
def test_no_two_characters_that_streamlit_draws_as_one_sign_stand_side_by_side(sign: str) -> None:
    shown = plain(f"a {sign} b")
    assert sign not in shown.replace("\\", "")
    assert shown.replace("\\", "").replace(NOTHING, "") == f"a {sign} b"


def test_no_badge_gets_foreign_text_whose_brackets_streamlit_would_escape_once_more() -> None:
    calls = [
        (path.name, ast.unparse(node))
        for path in (Path(__file__).parents[2] / "pages").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".badge")
    ]
    assert calls, "the pages draw badges"
    assert not [call for call in calls if "plain(" in call[1]]


def test_a_number_and_its_per_cent_sign_stay_on_one_line() -> None:
    assert unbroken(plain("79 %, 95 % interval")) == "79\u00a0\\%\\, 95\u00a0\\% interval"
    assert unbroken("64 % of them, per cent % alone") == "64\u00a0% of them, per cent % alone"
    assert unbroken("39–86 %, a–b") == "39–\u206086\u00a0%, a–b"


def test_equal_labels_are_numbered() -> None:
    assert list(distinct("abc", lambda name: "same" if name in "ab" else name).values()) == ["same", "same (2)", "c"]


@given(strategies.lists(strategies.sampled_from(["a", "a (2)", "a (3)", "b"]), max_size=12))
def test_labels_are_all_different_and_in_order(texts: list[str]) -> None:
    labels = distinct(range(len(texts)), texts.__getitem__)
    assert list(labels) == list(range(len(texts)))
    assert len(set(labels.values())) == len(texts)
    assert all(labels[place].startswith(text) for place, text in enumerate(texts))


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


@pytest.mark.parametrize("stored", ["2026-11-22T23:30:12", "2026-11-22 23:30", "yesterday"])
def test_a_time_without_a_zone_stays_as_it_is(stored: str) -> None:
    assert local_time(stored) == stored[:16].replace("T", " ")


def test_a_text_of_any_kind_has_a_fingerprint_of_its_own() -> None:
    assert fingerprint("a") == fingerprint("a") != fingerprint("b")
    assert len(fingerprint("")) == 16
    assert fingerprint("a", 24).startswith(fingerprint("a"))
    assert fingerprint("\ud800") != fingerprint("?")


def test_a_session_gets_no_number_twice() -> None:
    def page() -> None:
        import streamlit as st

        from pages.components.widgets import next_number

        st.text(f"{next_number()} {next_number()}")

    app = AppTest.from_function(page).run()
    first = app.text[0].value
    assert (first, app.run().text[0].value) == ("1 2", "3 4")
