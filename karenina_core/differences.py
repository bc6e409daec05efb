"""What is different between two versions of a text, line by line or word by word."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

MOST_PAIRS = 400_000
"""Equal pairs up to which texts are compared in detail; more would keep a page waiting."""
# Blanks belong to the word before them: as pieces of their own, being the most frequent, they would slow it down.
_WORD = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")
MOST_WORDS = 6_000
"""Words and signs of both versions up to which they are compared in detail."""


class Piece(NamedTuple):
    """A stretch of text that both versions have, or one of them."""

    kind: Literal["same", "removed", "added"]
    text: str

    @property
    def own(self) -> bool:
        """Whether only one version has it."""
        return self.kind != "same"


def line_diff(before: str, after: str) -> str:
    """Return a unified diff with three lines of context, without file names; empty where nothing is different."""
    old, new = before.splitlines(), after.splitlines()
    if old != new and _is_slow(old, new):
        return "\n".join([f"@@ -1,{len(old)} +1,{len(new)} @@", *(f"-{x}" for x in old), *(f"+{x}" for x in new)])
    return "\n".join(list(difflib.unified_diff(old, new, lineterm=""))[2:]) if old != new else ""


def word_diff(before: str, after: str) -> list[Piece]:
    """Return what is the same, removed and added, word by word; texts of thousands of words as a whole."""
    whole = [Piece("same", before)] if before == after else [Piece("removed", before), Piece("added", after)]
    pieces = None if before == after else _by_words(before, after)
    return [piece for piece in (whole if pieces is None else pieces) if piece.text]


def side_by_side(before: str, after: str) -> tuple[list[Piece], list[Piece]] | None:
    """Return the pieces of each version, which joined give it again; None when they are too long to compare."""
    pieces = _by_words(before, after)
    if pieces is None:
        return None
    return [piece for piece in pieces if piece.kind != "added"], [piece for piece in pieces if piece.kind != "removed"]


def _by_words(before: str, after: str) -> list[Piece] | None:
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) + len(new) > MOST_WORDS or _is_slow(old, new):
        return None
    pieces: list[Piece] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(old[i:j])))
        else:
            pieces += [Piece("removed", "".join(old[i:j])), Piece("added", "".join(new[k:m]))]
    return [piece for piece in pieces if piece.text]


def _is_slow(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether there are too many pairs of equal items, which a matcher looks at one by one."""
    there = Counter(after)
    return sum(number * there[item] for item, number in Counter(before).items()) > MOST_PAIRS
