from hypothesis import given
from hypothesis import strategies as st

from karenina_core.analysis.comparison_text import MOST_WORDS, word_diff


def test_words_that_only_one_answer_has_are_marked():
    before, after = word_diff("It inhibits BCL2.", "It strongly inhibits BRAF.")
    assert [piece.text for piece in before if piece.own] == ["BCL2"]
    assert [piece.text for piece in after if piece.own] == ["strongly ", "BRAF"]


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_pieces_give_both_texts_again(first, second):
    before, after = word_diff(first, second)
    assert "".join(piece.text for piece in before) == first
    assert "".join(piece.text for piece in after) == second
    assert [piece.text for piece in before if not piece.own] == [piece.text for piece in after if not piece.own]


def test_very_long_answers_are_not_compared():
    assert word_diff("word " * (MOST_WORDS + 1), "word") is None
