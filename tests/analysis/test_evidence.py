"""Where the values a judge extracted stand in the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from karenina_core.analysis import evidence_spans
from karenina_core.analysis.evidence import DEEPEST_VALUE, LONGEST_ANSWER, LONGEST_VALUE, MOST_VALUES, spans_of
from tests.steps import lines_run

ANSWER = (
    "Venetoclax binds BCL-2 (Bcl-2). Of 1,234 patients with twenty-three pairs, 45 % lived. It was approved on "
    "11 April 2016. Cyclooxigenase-1 is inhibited; the hazard ratio was 0.74, not 12.5."
)


def found(value: object, answer: str = ANSWER) -> tuple[str, list[str]]:
    """Return how a value was found, and the words where it stands."""
    (item,) = spans_of({"field": value}, answer)
    return item.match, [answer[place.start : place.end] for place in item.spans]


@given(before=st.text(), value=st.text(min_size=1), after=st.text())
@example(before="", value="İ", after="")
@example(before="ß", value="SS", after="")
def test_a_quoted_value_is_always_found_where_it_stands(before: str, value: str, after: str) -> None:
    answer = f"{before} {value} {after}"
    (item,) = spans_of({"field": value}, answer)
    assert all(0 <= place.start < place.end <= len(answer) for place in item.spans)
    if value.strip():
        assert item.match == "exact"
        assert any(answer[place.start : place.end] == value.strip() for place in item.spans)


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
    assert lines_run(lambda: spans_of({"field": value}, answer)) < 10_000_000


@pytest.mark.parametrize("value", ["bcl 2", "bcl2", "BCL 2", "bCl--2"])
def test_case_punctuation_and_blanks_do_not_count(value: str) -> None:
    assert found(value) == ("normalised", ["BCL-2", "Bcl-2"])


def test_words_written_together_still_begin_and_end_where_words_do() -> None:
    assert found("bcl2", "Abcl-2 and BCL-23") == ("nowhere", [])


@pytest.mark.parametrize("value", ["", " ", "?!"])
def test_what_has_no_letters_stands_nowhere(value: str) -> None:
    assert found(value, "It is short.") == ("nowhere", [])


@pytest.mark.parametrize(
    ("value", "how", "places"),
    [
        ("1234", "normalised", ["1,234"]),
        (1234, "normalised", ["1,234"]),
        (23, "normalised", ["twenty-three"]),
        (0.45, "normalised", ["45"]),
        (0.74, "exact", ["0.74"]),
    ],
)
def test_a_number_is_found_however_it_is_written(value: object, how: str, places: list[str]) -> None:
    assert found(value) == (how, places)


@pytest.mark.parametrize("value", ["ben", "2016-04-12"], ids=["within a longer word", "another date"])
def test_what_is_not_there_stands_nowhere(value: str) -> None:
    assert found(value) == ("nowhere", [])


def test_digits_within_a_longer_number_do_not_count() -> None:
    assert found(12) == ("nowhere", [])


def test_a_number_of_many_digits_is_no_trouble() -> None:
    assert found(10**5000, "It is large.")[0] == "nowhere"


def test_a_date_is_found_however_it_is_written() -> None:
    assert found("2016-04-11") == ("normalised", ["11 April 2016"])


@pytest.mark.parametrize("written", ["3 May 2021", "3rd of May 2021", "May 3, 2021", "2021-05-03", "03.05.2021"])
def test_each_way_of_writing_a_date_is_read(written: str) -> None:
    assert found("3rd May 2021", f"It was on {written} in Rome.") == ("normalised", [written])


def test_a_month_is_found_in_its_days_and_not_the_other_way_round() -> None:
    assert found("May 2021", "It was on 2021-05-03.")[0] == "normalised"
    assert found("2021-05-03", "It was in May 2021.")[0] == "nowhere"


@pytest.mark.parametrize(
    ("value", "how", "places"),
    [
        ("cyclooxygenase-1", "fuzzy", ["Cyclooxigenase-1"]),
        ("Venetocla", "fuzzy", ["Venetoclax"]),
        ("aspirin", "nowhere", []),
    ],
)
def test_what_is_written_nearly_so_is_similar(value: object, how: str, places: list[str]) -> None:
    assert found(value) == (how, places)


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


def test_a_yes_or_no_need_not_be_quoted() -> None:
    assert found(True) == ("judged", [])


def test_every_item_of_a_list_stands_for_itself() -> None:
    items = spans_of({"names": ["BCL-2", "CLL"], "paper": {"year": 2016, "authors": ["X"]}}, ANSWER)
    assert [(item.field, item.value, item.match) for item in items] == [
        ("names", "BCL-2", "exact"),
        ("names", "CLL", "nowhere"),
        ("paper.year", "2016", "exact"),
        ("paper.authors", "X", "nowhere"),
    ]


def test_a_choice_from_a_list_need_not_be_quoted(result, call) -> None:
    schema = {
        "properties": {"phase": {"anyOf": [{"enum": ["I", "III"]}, {"type": "null"}]}, "drug": {"type": "string"}}
    }
    made = result(fields=[])
    made.template.parsed = {"phase": "III", "drug": "aspirin"}
    made.template.calls = [call("parse", schema_sent=schema)]
    assert {item.field: item.match for item in evidence_spans(made)} == {"phase": "judged", "drug": "nowhere"}


@given(value=st.one_of(st.integers(), st.floats(), st.text(), st.lists(st.text())), answer=st.text())
def test_looking_for_anything_anywhere_never_fails(value: object, answer: str) -> None:
    for item in spans_of({"field": value}, answer):
        assert all(0 <= place.start < place.end <= len(answer) for place in item.spans)


def test_hostile_answers_are_searched_for_so_many_values_only() -> None:
    values = {"n": 7, "d": "3 May 2021", "l": [1.5] * 50} | {f"f{n}": f"word{n} of something" for n in range(300)}
    for answer in ("plain words " * 160_000, "1 22 333 " * 200_000, "3 May 2020 " * 180_000, "a-" * 1_000_000):
        assert len(spans_of(values, answer)) == MOST_VALUES


def test_what_could_not_be_looked_at_in_full_is_not_told_to_stand_nowhere() -> None:
    assert found("b" * (LONGEST_VALUE + 1), "It is short.") == ("judged", [])
    assert found("a" * 300, "a" * 200_000) == ("judged", [])
    assert found("b" * LONGEST_VALUE, "It is short.") == ("nowhere", [])


def nested(depth: int, wrap: Callable[[Any], Any] = lambda value: [value], value: Any = "BCL-2") -> Any:
    """Return a value within so many lists, or whatever else it is wrapped in."""
    for _ in range(depth):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"part": value}], ids=["lists", "objects"])
def test_a_value_is_looked_for_as_deep_as_files_can_hold_it(wrap: Callable[[Any], Any]) -> None:
    assert found(nested(DEEPEST_VALUE, wrap))[0] == "exact"


@pytest.mark.parametrize("depth", [DEEPEST_VALUE + 1, 50_000])
def test_a_value_nested_deeper_is_told_to_be_so_and_not_to_stand_nowhere(depth: int) -> None:
    (item,) = spans_of({"field": nested(depth)}, ANSWER)
    assert (item.field, item.value, item.match) == ("field", "a value nested too deep", "judged")


def test_a_value_that_holds_itself_comes_to_an_end() -> None:
    endless: list[Any] = ["BCL-2"]
    endless += [endless, endless]
    assert len(spans_of({"field": endless}, ANSWER)) == MOST_VALUES


def test_choices_are_found_in_a_schema_of_any_depth(result, call) -> None:
    choice = nested(5_000, lambda part: {"anyOf": [part]}, {"enum": ["III"]})
    made = result(fields=[])
    made.template.parsed = {"phase": "III", "drug": "aspirin"}
    made.template.calls = [call("parse", schema_sent={"properties": {"phase": choice, "drug": {"type": "string"}}})]
    assert {item.field: item.match for item in evidence_spans(made)} == {"phase": "judged", "drug": "nowhere"}
