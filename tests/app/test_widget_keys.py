from __future__ import annotations

from streamlit.testing.v1 import AppTest

from pages.components.widgets import fingerprint


def test_equal_texts_have_one_fingerprint_and_others_another() -> None:
    assert fingerprint("a") == fingerprint("a") != fingerprint("b")
    assert len(fingerprint("")) == 16


def test_a_longer_fingerprint_begins_like_a_short_one() -> None:
    assert fingerprint("a", 24).startswith(fingerprint("a"))


def test_any_text_has_a_fingerprint() -> None:
    assert fingerprint("\ud800") != fingerprint("?")


def test_a_session_gets_no_number_twice() -> None:
    def page() -> None:
        import streamlit as st

        from pages.components.widgets import next_number

        st.text(f"{next_number()} {next_number()}")

    app = AppTest.from_function(page).run()
    first = app.text[0].value
    assert (first, app.run().text[0].value) == ("1 2", "3 4")
