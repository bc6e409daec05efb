"""Foreign text that no file and no hash can hold."""

from __future__ import annotations

import time
import unicodedata
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.errors import InputError
from karenina_core.text import check_whole, normal_form

HALF = "a\ud800b"
HOLDS_ITSELF: dict[str, Any] = {"name": "é"}
HOLDS_ITSELF["self"] = [HOLDS_ITSELF]


@pytest.mark.parametrize(
    "value",
    [HALF, "\udfff", "\ud83d\ude00", [HALF], {"k": (1, HALF)}, {HALF: 1}, SimpleNamespace(trait=HALF)],
    ids=["high", "low", "two halves", "list", "value", "key", "object"],
)
def test_half_a_surrogate_pair_is_refused_wherever_it_is(value: object) -> None:
    with pytest.raises(InputError, match="The note holds half a surrogate pair"):
        check_whole("The note", value)


def test_the_error_says_where_it_is_in_text_that_can_be_printed() -> None:
    with pytest.raises(InputError) as caught:
        check_whole("The note", HALF)
    assert caught.value.why == r"Character 2 is only a part of a sign, as in 'a\ud800b'."
    assert caught.value.next
    str(caught.value).encode()


@pytest.mark.parametrize("value", [None, 1.5, "", "😀🧬", "a\0b", HOLDS_ITSELF, [True, {"k": None}]], ids=repr)
def test_everything_else_passes(value: object) -> None:
    check_whole("The note", value)


@given(st.text(st.characters()))
def test_what_passes_can_be_written(text: str) -> None:
    try:
        check_whole("The note", text)
    except InputError:
        with pytest.raises(UnicodeEncodeError):
            text.encode()
    else:
        text.encode()


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_runs_of_combining_marks_are_normalised_at_once(form: Literal["NFC", "NFKC"]) -> None:
    started = time.perf_counter()
    once = normal_form(form, "\u0301\u0316" * 100_000)
    assert time.perf_counter() - started < 1
    assert normal_form(form, once) == once


@given(st.text(st.sampled_from("e\u0301\u0316\u00e9ﬁ가 A"), max_size=30))
def test_ordinary_text_is_normalised_as_usual(text: str) -> None:
    assert normal_form("NFC", text) == unicodedata.normalize("NFC", text)
