"""Where the very words of a value stand in an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from karenina_core.analysis.grounding.limits import KEPT, MOST_PLACES, MOST_WORDS, Effort

How = Literal["exact", "normalised", "fuzzy", "nowhere", "judged"]
"""`judged`: a choice or a yes or no, which need not stand in the answer in so many words; or too much to look for."""

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")


class Place(NamedTuple):
    """A part of the answer: from `start`, up to but not including `end`."""

    start: int
    end: int


def occurrences(text: str, answer: str, effort: Effort) -> list[Place]:
    """Return where a text stands as words of its own, not within longer ones."""
    places = (Place(start, start + len(text)) for start in starts_of(text, answer, effort))
    return list(islice((place for place in places if is_apart(place, answer)), MOST_PLACES))


def starts_of(text: str, answer: str, effort: Effort) -> Iterator[int]:
    """Yield where a text begins, also within words, as long as there is effort left."""
    start = answer.find(text)
    while start >= 0 and effort.spend(len(text)):
        yield start
        start = answer.find(text, start + 1)


def is_apart(place: Place, answer: str) -> bool:
    """Return whether a place begins and ends where words do."""
    return not (_joined(answer, place.start - 1, place.start) or _joined(answer, place.end - 1, place.end))


def _joined(text: str, left: int, right: int) -> bool:
    return left >= 0 and right < len(text) and text[left].isalnum() and text[right].isalnum()


@lru_cache(KEPT)
def words_of(answer: str) -> list[Place]:
    """Return where the first words of an answer stand."""
    return [Place(*match.span()) for match in islice(_WORD.finditer(answer), MOST_WORDS)]
