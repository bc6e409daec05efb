from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from karenina_core.analysis.grounding import ground
from karenina_core.analysis.grounding.limits import LONGEST_ANSWER
from tests.analysis.grounding.looking import found
from tests.steps import lines_run


def test_a_value_is_found_in_so_many_words() -> None:
    assert found("BCL-2") == ("exact", ["BCL-2"])


def test_a_value_within_a_longer_word_does_not_stand_there() -> None:
    assert found("ben") == ("nowhere", [])


@given(before=st.text(), value=st.text(min_size=1), after=st.text())
@example(before="", value="İ", after="")
@example(before="ß", value="SS", after="")
def test_a_quoted_value_is_always_found_where_it_stands(before: str, value: str, after: str) -> None:
    answer = f"{before} {value} {after}"
    (item,) = ground({"field": value}, answer)
    assert all(0 <= place.start < place.end <= len(answer) for place in item.places)
    if value.strip():
        assert item.how == "exact"
        assert any(answer[place.start : place.end] == value.strip() for place in item.places)


def test_of_a_very_long_answer_only_the_very_words_are_told_to_be_nowhere() -> None:
    answer = "plain words " * (LONGEST_ANSWER // 10) + "Bcl-2"
    assert found("Bcl-2", answer)[0] == "exact"
    assert found("something else altogether", answer)[0] == "judged"


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("a" * 300, "a" * 200_000),
        ("ha" * 1000, "ha" * 50_000 + "x"),
        (["a" * (300 + n) for n in range(200)], "a" * 200_000),
        ("a" * 100_000, "a" * 200_000),
        (["ab" * 500 + f"b{n}" for n in range(200)], "ab" * 100_000),
        (["Aa" * n for n in range(800, 1000)], "aA" * 50_000),
        (["-" * n + "a" for n in range(1, 200)], "-ab" * 66_000),
        (list(range(200)), "1 " * 60_000),
        (["w " * n + "x" for n in range(3, 203)], "w " * 50_000),
    ],
    ids=["one", "period", "many", "half", "prefix", "case", "dashes", "numbers", "words"],
)
def test_an_answer_that_repeats_itself_is_searched_soon(value: object, answer: str) -> None:
    # Two hundred values in a hundred thousand places would be twenty million pairs, each of several lines.
    assert lines_run(lambda: ground({"field": value}, answer)) < 10_000_000
