"""Where a number stands in an answer, in digits or in words."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import Any

from karenina_core.analysis.grounding.limits import KEPT, LONGEST_ANSWER, MOST_PLACES, Effort
from karenina_core.analysis.grounding.places import How, Place, occurrences, words_of
from karenina_core.models import numbers
from karenina_core.schemas import read_number

_MOST_NUMBERS = 2_000  # of an answer
_DIGITS = re.compile(
    r"(?<![\w.])[-−+]?\d{1,3}(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?(?!\d)|[-−+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?"
)


def number_places(text: str, answer: str, effort: Effort) -> list[Place]:
    """Return where the number that a text is stands; nothing for a text that is none."""
    wanted = read_number(text)
    return [] if wanted is None else find_number(wanted, answer, effort)[1]


def find_number(wanted: int | float, answer: str, effort: Effort) -> tuple[How, list[Place]]:
    """Return how and where a number stands."""
    written = spelled(wanted)
    if exact := [place for place in occurrences(written, answer, effort) if _is_whole(place, answer)]:
        return "exact", exact
    answer = answer[:LONGEST_ANSWER]
    same = (place for place, values in _numbers_in(answer) if any(_equal(value, wanted) for value in values))
    places = list(islice(same, MOST_PLACES)) or _in_words(wanted, answer)
    if places:
        return "normalised", places[:MOST_PLACES]
    return ("judged" if len(_numbers_in(answer)) == _MOST_NUMBERS else "nowhere"), []


def _is_whole(place: Place, answer: str) -> bool:
    """Return whether digits are a number of their own, not a part of a longer one such as the 12 of 12.5."""
    before, after = answer[max(place.start - 2, 0) : place.start], answer[place.end : place.end + 2]
    continues = after[:1] in (".", ",") and after[1:].isdigit()
    return not continues and not (before[1:] in (".", ",") and before[:1].isdigit())


@lru_cache(KEPT)
def _numbers_in(answer: str) -> list[tuple[Place, list[int | float]]]:
    """Return the numbers in digits in an answer, each with what it may mean."""
    found = islice(_DIGITS.finditer(answer), _MOST_NUMBERS)
    return [(Place(*match.span()), _meanings(match.group(), answer, match.end())) for match in found]


def _meanings(text: str, answer: str, end: int) -> list[int | float]:
    """Return what digits may mean: with thousands separated, a decimal comma, or as a percentage of 1."""
    plain = text.replace("−", "-").replace("+", "")
    spellings = {re.sub("[,\u00a0\u202f ]", "", plain), plain.replace(",", ".")}
    values = [value for spelling in spellings if (value := read_number(spelling)) is not None and abs(value) < 1e300]
    if answer[end : end + 2].lstrip().startswith("%"):
        values += [value / 100 for value in values]
    return values


def _equal(value: int | float, wanted: int | float) -> bool:
    return abs(wanted) < 1e300 and abs(value - wanted) <= 1e-9 * max(1.0, abs(wanted))


def _in_words(wanted: int | float, answer: str) -> list[Place]:
    if wanted not in _spoken(answer):
        return []
    words = words_of(answer)
    for size in range(1, 7):
        spans = [Place(words[at].start, words[at + size - 1].end) for at in range(len(words) - size + 1)]
        if places := [place for place in spans if numbers(answer[place.start : place.end]) == [wanted]]:
            return places
    return []


@lru_cache(KEPT)
def _spoken(answer: str) -> frozenset[float]:
    words = words_of(answer)
    return frozenset(numbers(answer[: words[-1].end] if words else ""))


def spelled(value: Any) -> str:
    """Return a value as text, also where Python prints none."""
    try:
        return str(value)
    except ValueError:  # an int of more digits than Python prints
        return "a very long number"
