"""Two answers side by side: which words only one of them has."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

from karenina_core.benchmark.question_diff import MOST_PAIRS
from karenina_core.text import repetition

MOST_WORDS = 3_000
"""Longer answers are shown without marks: finding them would keep the page waiting."""

# Blanks belong to the word before them: by themselves they would be the most frequent token of all.
_TOKENS = re.compile(r"\w+\s*|[^\w\s]+\s*|\s+")


class Piece(NamedTuple):
    """A stretch of an answer, and whether only this answer has it."""

    text: str
    own: bool


def word_diff(first: str, second: str) -> tuple[list[Piece], list[Piece]] | None:
    """Return both texts in pieces, with marks on the words that only one of them has.

    Args:
        first: One text.
        second: The other.

    Returns:
        The pieces of each, which joined give the text again; None when they are too long to compare.
    """
    before, after = _TOKENS.findall(first), _TOKENS.findall(second)
    if max(len(before), len(after)) > MOST_WORDS or repetition(before, after) > MOST_PAIRS:
        return None
    left: list[Piece] = []
    right: list[Piece] = []
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        left += _piece("".join(before[i:j]), tag != "equal")
        right += _piece("".join(after[k:m]), tag != "equal")
    return left, right


def _piece(text: str, own: bool) -> list[Piece]:
    return [Piece(text, own)] if text else []
