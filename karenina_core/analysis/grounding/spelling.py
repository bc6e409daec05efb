"""Where a value stands in an answer when case, punctuation and blanks do not count."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import islice

from karenina_core.analysis.grounding.limits import KEPT, MOST_PLACES, Effort
from karenina_core.analysis.grounding.places import Place, is_apart, occurrences, starts_of

_SHORTEST = 3  # characters of a value that is looked for without its blanks


def normalised_places(text: str, answer: str, effort: Effort) -> list[Place]:
    """Return where a text stands when case, punctuation and blanks do not count, so that `BCL2` is in `Bcl-2`."""
    wanted, _ = fold(text[: len(answer) + 1])
    folded, origins = _folded_answer(answer)
    wanted = wanted.strip()
    if not wanted:
        return []
    if places := [_origin(at, origins) for at in occurrences(wanted, folded, effort)]:
        return places
    wanted, (folded, origins) = wanted.replace(" ", ""), _joined_answer(answer)
    starts = starts_of(wanted, folded, effort) if len(wanted) >= _SHORTEST else ()
    found = (_origin(Place(start, start + len(wanted)), origins) for start in starts)
    return list(islice((at for at in found if is_apart(at, answer)), MOST_PLACES))


def _origin(place: Place, origins: list[int]) -> Place:
    return Place(origins[place.start], origins[place.end - 1] + 1)


@lru_cache(KEPT)
def _joined_answer(answer: str) -> tuple[str, list[int]]:
    """Return the folded answer without blanks."""
    text, origins = _folded_answer(answer)
    kept = [at for at, character in enumerate(text) if character != " "]
    return "".join(text[at] for at in kept), [origins[at] for at in kept]


@lru_cache(KEPT)
def _folded_answer(answer: str) -> tuple[str, list[int]]:
    """Return what `fold` does, remembered for the answers looked at last."""
    return fold(answer)


def fold(text: str) -> tuple[str, list[int]]:
    """Return a text in one case without punctuation, and for each of its characters where it came from."""
    kept: list[str] = []
    origins: list[int] = []
    for place, character in enumerate(text):
        plain = unicodedata.normalize("NFKC", character).casefold()
        if not any(part.isalnum() for part in plain):
            plain = " "
        if plain == " " and (not kept or kept[-1] == " "):
            continue
        kept += plain
        origins += [place] * len(plain)
    return "".join(kept), origins
