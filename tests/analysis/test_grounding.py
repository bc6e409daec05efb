from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from karenina_core.analysis.grounding import LONGEST_ANSWER, LONGEST_VALUE, MOST_VALUES, ground, grounding, ungrounded

ANSWER = (
    "Venetoclax binds BCL-2 (Bcl-2). Of 1,234 patients with twenty-three pairs, 45 % lived. It was approved on "
    "11 April 2016. Cyclooxigenase-1 is inhibited; the hazard ratio was 0.74, not 12.5."
)


def found(value: object, answer: str = ANSWER) -> tuple[str, list[str]]:
    (item,) = ground({"field": value}, answer)
    return item.how, [answer[place.start : place.end] for place in item.places]


@pytest.mark.parametrize(
    ("value", "how", "places"),
    [
        ("BCL-2", "exact", ["BCL-2"]),
        ("bcl 2", "normalised", ["BCL-2", "Bcl-2"]),
        ("bcl2", "normalised", ["BCL-2", "Bcl-2"]),
        ("ben", "nowhere", []),
        ("2016-04-11", "normalised", ["11 April 2016"]),
        ("cyclooxygenase-1", "fuzzy", ["Cyclooxigenase-1"]),
        ("1234", "normalised", ["1,234"]),
        (1234, "normalised", ["1,234"]),
        (23, "normalised", ["twenty-three"]),
        (0.45, "normalised", ["45"]),
        (0.74, "exact", ["0.74"]),
        (12, "nowhere", []),
        ("Venetocla", "fuzzy", ["Venetoclax"]),
        ("aspirin", "nowhere", []),
        ("", "nowhere", []),
        (True, "judged", []),
    ],
)
def test_a_value_is_found_as_it_is_or_written_otherwise(value: object, how: str, places: list[str]) -> None:
    assert found(value) == (how, places)


def test_what_is_not_extracted_is_not_looked_for() -> None:
    assert ground({"field": None}, ANSWER) == ()


def test_every_item_of_a_list_stands_for_itself() -> None:
    items = ground({"names": ["BCL-2", "CLL"], "paper": {"year": 2016, "authors": ["X"]}}, ANSWER)
    assert [(item.field, item.value, item.how) for item in items] == [
        ("names", "BCL-2", "exact"),
        ("names", "CLL", "nowhere"),
        ("paper.year", "2016", "exact"),
        ("paper.authors", "X", "nowhere"),
    ]
    assert ungrounded(items) == {"names", "paper"}


def test_a_choice_from_a_list_need_not_be_quoted(result, call) -> None:
    schema = {
        "properties": {"phase": {"anyOf": [{"enum": ["I", "III"]}, {"type": "null"}]}, "drug": {"type": "string"}}
    }
    made = result(fields=[])
    made.template.parsed = {"phase": "III", "drug": "aspirin"}
    made.template.calls = [call("parse", schema_sent=schema)]
    assert {item.field: item.how for item in grounding(made)} == {"phase": "judged", "drug": "nowhere"}


def test_without_an_answer_nothing_is_grounded(result) -> None:
    assert grounding(result(verdict="not_evaluated")) == ()


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


@given(value=st.one_of(st.integers(), st.floats(), st.text(), st.lists(st.text())), answer=st.text())
def test_looking_for_anything_anywhere_never_fails(value: object, answer: str) -> None:
    for item in ground({"field": value}, answer):
        assert all(0 <= place.start < place.end <= len(answer) for place in item.places)


def test_a_number_of_many_digits_is_no_trouble() -> None:
    assert found(10**5000, "It is large.")[0] == "nowhere"


def test_a_long_answer_is_searched_to_its_end() -> None:
    answer = "The quick brown fox jumps over the lazy dog. " * 2000
    assert found("a quite different statement about nothing", answer)[0] == "nowhere"


def test_of_a_very_long_answer_only_the_very_words_are_told_to_be_nowhere() -> None:
    answer = "plain words " * (LONGEST_ANSWER // 10) + "Bcl-2"
    assert found("Bcl-2", answer)[0] == "exact"
    assert found("something else altogether", answer)[0] == "judged"


def test_hostile_answers_are_searched_for_so_many_values_only() -> None:
    values = {"n": 7, "d": "3 May 2021", "l": [1.5] * 50} | {f"f{n}": f"word{n} of something" for n in range(300)}
    for answer in ("plain words " * 160_000, "1 22 333 " * 200_000, "3 May 2020 " * 180_000, "a-" * 1_000_000):
        assert len(ground(values, answer)) == MOST_VALUES


def test_a_number_nobody_means_is_no_error() -> None:
    assert ground({"a": 5}, "1" + ",111" * 3000 + "x")[0].how == "nowhere"


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
    began = time.process_time()
    ground({"field": value}, answer)
    assert time.process_time() - began < 3  # about 0.5 s; minutes if every place were looked at


def test_what_could_not_be_looked_at_in_full_is_not_told_to_stand_nowhere() -> None:
    assert found("b" * (LONGEST_VALUE + 1), "It is short.") == ("judged", [])
    assert found("a" * 300, "a" * 200_000) == ("judged", [])
    assert found("b" * LONGEST_VALUE, "It is short.") == ("nowhere", [])


@pytest.mark.parametrize(
    ("value", "how"),
    [
        ("patients with twenty-three pairs lived", "fuzzy"),
        ("Of 1,234 patients with pairs", "fuzzy"),
        ("inhibited hazard ratio was 12.5", "nowhere"),
        ("lived patients of", "nowhere"),
    ],
)
def test_a_value_that_leaves_out_a_few_words_is_found(value: str, how: str) -> None:
    assert found(value)[0] == how


def test_the_words_left_out_lie_within_what_is_marked() -> None:
    assert found("the hazard was 0.74") == ("fuzzy", ["the hazard ratio was 0.74"])
