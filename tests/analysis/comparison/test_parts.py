import pytest

from karenina_core.analysis import by_field, by_keyword, parts_frame, tallies
from karenina_core.analysis.comparison.parts import NO_KEYWORD
from tests.analysis.comparison.arms import arm, joined, rows

A, B = arm("A"), arm("B")


def test_the_keyword_with_the_largest_difference_comes_first():
    counts = tallies(joined(rows(list("+++-"), "A"), rows(list("+--+"), "B")))
    parts = by_keyword(counts, A, B, {"q0": ["drugs"], "q1": ["genes"], "q2": ["genes", "drugs"], "q3": []})
    table = parts_frame(parts, "keyword").set_index("keyword")
    assert table["difference"].to_dict() == {NO_KEYWORD: 1.0, "genes": -1.0, "drugs": -0.5}
    assert table["questions"].to_dict() == {NO_KEYWORD: 1, "genes": 2, "drugs": 2}
    assert {pair.pairs for pair in parts.values()} == {3}


def test_a_keyword_whose_questions_cannot_be_compared_is_not_shown():
    counts = tallies(joined(rows(["+"], "A"), rows(["0"], "B")))
    assert by_keyword(counts, A, B, {"q0": ["drugs"]}) == {}


def fields(states, model):
    table = rows(["+"] * len(states), model)
    return table.assign(field="target", state=states)


def test_a_field_that_was_not_found_is_not_right_and_an_undecided_one_left_out():
    table = joined(fields(["right", "right", "undecided"], "A"), fields(["not_found", "right", "right"], "B"))
    pair = by_field(table, A, B)["target"]
    assert (pair.questions, pair.worse, pair.undecided) == (2, 1, 1)
    assert pair.difference == pytest.approx(-0.5)


def test_tables_without_parts_have_their_columns():
    assert list(parts_frame({}, "field"))[:2] == ["field", "questions"]
