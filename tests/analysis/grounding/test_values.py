from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.analysis import grounding
from karenina_core.analysis.grounding import ground, ungrounded
from karenina_core.analysis.grounding.limits import DEEPEST_VALUE, LONGEST_VALUE, MOST_VALUES
from tests.analysis.grounding.looking import ANSWER, found


def test_a_yes_or_no_need_not_be_quoted() -> None:
    assert found(True) == ("judged", [])


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


@given(value=st.one_of(st.integers(), st.floats(), st.text(), st.lists(st.text())), answer=st.text())
def test_looking_for_anything_anywhere_never_fails(value: object, answer: str) -> None:
    for item in ground({"field": value}, answer):
        assert all(0 <= place.start < place.end <= len(answer) for place in item.places)


def test_a_long_answer_is_searched_to_its_end() -> None:
    answer = "The quick brown fox jumps over the lazy dog. " * 2000
    assert found("a quite different statement about nothing", answer)[0] == "nowhere"


def test_hostile_answers_are_searched_for_so_many_values_only() -> None:
    values = {"n": 7, "d": "3 May 2021", "l": [1.5] * 50} | {f"f{n}": f"word{n} of something" for n in range(300)}
    for answer in ("plain words " * 160_000, "1 22 333 " * 200_000, "3 May 2020 " * 180_000, "a-" * 1_000_000):
        assert len(ground(values, answer)) == MOST_VALUES


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
    (item,) = ground({"field": nested(depth)}, ANSWER)
    assert (item.field, item.value, item.how) == ("field", "a value nested too deep", "judged")
    assert ungrounded((item,)) == frozenset()


def test_what_stands_beside_a_value_nested_too_deep_is_still_looked_for() -> None:
    items = ground({"deep": nested(5_000), "drug": "Venetoclax", "other": "aspirin"}, ANSWER)
    assert [item.how for item in items] == ["judged", "exact", "nowhere"]


def test_a_value_that_holds_itself_comes_to_an_end() -> None:
    endless: list[Any] = ["BCL-2"]
    endless += [endless, endless]
    assert len(ground({"field": endless}, ANSWER)) == MOST_VALUES


def test_choices_are_found_in_a_schema_of_any_depth(result, call) -> None:
    choice = nested(5_000, lambda part: {"anyOf": [part]}, {"enum": ["III"]})
    made = result(fields=[])
    made.template.parsed = {"phase": "III", "drug": "aspirin"}
    made.template.calls = [call("parse", schema_sent={"properties": {"phase": choice, "drug": {"type": "string"}}})]
    assert {item.field: item.how for item in grounding(made)} == {"phase": "judged", "drug": "nowhere"}
