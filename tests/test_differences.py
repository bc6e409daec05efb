"""What is different between two versions of a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from karenina_core.differences import MOST_WORDS, line_diff, side_by_side, word_diff

WORDS = st.lists(st.sampled_from(["Bcl", "2", "-", " ", "\n", "is", "."]), max_size=12).map("".join)


def test_words_are_compared_one_by_one() -> None:
    pieces = word_diff("The target is BCL2.", "The target is BAX.")
    assert [(piece.kind, piece.text) for piece in pieces] == [
        ("same", "The target is "),
        ("removed", "BCL2"),
        ("added", "BAX"),
        ("same", "."),
    ]


def test_very_long_texts_are_compared_as_a_whole() -> None:
    long = "word " * 3_000
    assert [piece.kind for piece in word_diff(long, f"{long}more")] == ["removed", "added"]
    assert [piece.kind for piece in word_diff(long, long)] == ["same"]


def test_lines_are_shown_with_their_neighbours() -> None:
    assert line_diff("a\nb\nc", "a\nB\nc").splitlines() == ["@@ -1,3 +1,3 @@", " a", "-b", "+B", " c"]


def test_a_removed_line_that_looks_like_a_file_name_is_kept() -> None:
    assert "--- x" in line_diff("-- x\na", "a").splitlines()


@given(WORDS, WORDS)
def test_both_versions_can_be_put_together_again(before: str, after: str) -> None:
    pieces = word_diff(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == after


def test_texts_of_equal_lines_are_compared_as_blocks() -> None:
    import random

    chosen = random.Random(1)
    before, after = ("\n".join(chosen.choices("abcdefgh", k=20_000)) for _ in range(2))
    lines = line_diff(f"same\n{before}", f"same\n{after}").splitlines()
    assert lines[0].startswith("@@ -") and {line[0] for line in lines[1:]} == {"-", "+"}
    assert line_diff(before, before) == ""


def test_very_long_sides_are_not_compared() -> None:
    assert side_by_side("word " * (MOST_WORDS + 1), "word") is None
