"""Where something similar to a value stands in an answer."""

from __future__ import annotations

import math
from difflib import SequenceMatcher
from functools import lru_cache

from karenina_core.analysis.grounding.limits import KEPT, Effort
from karenina_core.analysis.grounding.places import Place, words_of
from karenina_core.analysis.grounding.spelling import fold

ALIKE = 0.85
"""From this similarity (0 to 1) on, a part of the answer counts as the value written otherwise."""
_COMPARING = 900  # characters of a value that would cost as much as comparing two texts closely
_LONGEST = 12  # words of a value that is compared so
_MOST_SKIPPED = 3  # words of the answer that a value may leave out
_LEAST_WORDS = 3  # of a value that is looked for with words left out


def similar_places(text: str, answer: str, effort: Effort) -> list[Place]:
    """Return the part of the answer most similar to a text, if it is similar enough."""
    wanted, _ = fold(text)
    size = len(wanted.split())
    if len(wanted) < 5 or not 0 < size <= _LONGEST:
        return []
    words = words_of(answer)
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted.strip())
    best, score = None, math.nextafter(ALIKE, 0)
    for length in range(max(1, size - 1), size + 2):
        for at in range(len(words) - length + 1):
            place = Place(words[at].start, words[at + length - 1].end)
            matcher.set_seq1(answer[place.start : place.end].casefold())
            if matcher.real_quick_ratio() <= score or matcher.quick_ratio() <= score:
                continue
            if effort.spend(_COMPARING) and matcher.ratio() > score:
                best, score = place, matcher.ratio()
    return [best] if best else []


def with_words_left_out(text: str, answer: str) -> list[Place]:
    """Return where all words of a text stand in their order, with at most a few others between them."""
    wanted = fold(text)[0].split()
    if len(wanted) < _LEAST_WORDS:
        return []
    words, spans = _folded_words(answer)
    for first, word in enumerate(words):
        if word == wanted[0] and (last := _last_of(wanted, words, first)) is not None:
            return [Place(spans[first].start, spans[last].end)]
    return []


def _last_of(wanted: list[str], words: list[str], first: int) -> int | None:
    """Return where the last of the wanted words stands when the first stands at `first`."""
    reached = 0
    for at in range(first, min(first + len(wanted) + _MOST_SKIPPED, len(words))):
        reached += words[at] == wanted[reached]
        if reached == len(wanted):
            return at
    return None


@lru_cache(KEPT)
def _folded_words(answer: str) -> tuple[list[str], list[Place]]:
    """Return the first words of an answer, in one case and without punctuation, and where each came from."""
    every = [(part, place) for place in words_of(answer) for part in fold(answer[slice(*place)])[0].split()]
    return [part for part, _ in every], [place for _, place in every]
