"""What is different between two versions of a text, line by line or word by word."""

from __future__ import annotations

import difflib
import re
from typing import Literal, NamedTuple

from karenina_core.text import repetition

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
    if repetition(old, new) > MOST_PAIRS:
        return "\n".join(_block(old, new))
    return "\n".join(list(difflib.unified_diff(old, new, lineterm=""))[2:])


def _block(old: list[str], new: list[str]) -> list[str]:
    """Return what differs as one block, between what both have at their beginning and end."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
    if not removed and not added:
        return []
    title = f"@@ -{head + 1},{len(removed)} +{head + 1},{len(added)} @@"
    return [title, *(f"-{line}" for line in removed), *(f"+{line}" for line in added)]


def word_diff(before: str, after: str) -> list[Piece]:
    """Return what is the same, removed and added, word by word; texts of thousands of words as a whole."""
    if before == after:
        return [Piece("same", before)] if before else []
    found = _by_words(before, after)
    if found is None:
        return [piece for piece in (Piece("removed", before), Piece("added", after)) if piece.text]
    return found


def side_by_side(before: str, after: str) -> tuple[list[Piece], list[Piece]] | None:
    """Return the pieces of each version, which joined give it again; None when they are too long to compare."""
    found = _by_words(before, after)
    if found is None:
        return None
    return [piece for piece in found if piece.kind != "added"], [piece for piece in found if piece.kind != "removed"]


def _by_words(before: str, after: str) -> list[Piece] | None:
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) + len(new) > MOST_WORDS or repetition(old, new) > MOST_PAIRS:
        return None
    pieces: list[Piece] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(old[i:j])))
            continue
        if i < j:
            pieces.append(Piece("removed", "".join(old[i:j])))
        if k < m:
            pieces.append(Piece("added", "".join(new[k:m])))
    return pieces
