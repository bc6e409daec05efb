"""Where the values a judge extracted stand in the answer. A value that stands nowhere may be the judge's own."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple

from karenina_core.models.local.spoken_numbers import numbers
from karenina_core.schemas.primitives.date_reading import read_date
from karenina_core.schemas.primitives.numeric import read_number
from karenina_core.schemas.results import VerificationResult

How = Literal["exact", "normalised", "fuzzy", "nowhere", "judged"]
"""`judged`: a choice or a yes or no, which need not stand in the answer in so many words."""

ALIKE = 0.85
"""From this similarity (0 to 1) on, a part of the answer counts as the value written otherwise."""

LONGEST_ANSWER = 100_000
"""Characters of an answer that are searched for what is written otherwise; all of it for the very words."""
MOST_VALUES = 200
"""Further values are not looked for."""
LONGEST_VALUE = 2_000
"""A value of more characters is not looked for, and so never told to stand nowhere."""
_MOST_EFFORT = 30_000  # for all values of a result: one for each place looked at, more for long values
_EFFORT_SIZE = 100  # characters of a value that cost one more
_COMPARING = 900  # characters of a value that would cost as much as comparing two texts closely
_MOST_WORDS = 2_000  # of an answer, looked at for similar ones
_MOST_NUMBERS = 2_000  # of an answer
_MOST_SKIPPED = 3  # words of the answer that a value may leave out
_LEAST_WORDS = 3  # of a value that is looked for with words left out
_MOST_SIMILAR = 20  # values that are looked for so
_KEPT = 4  # answers of which the readings are remembered
_LONGEST = 12  # words of a value that is looked for so
_MOST_PLACES = 50
_LONGEST_QUANTITY = 100  # characters of a date or a number
_SHORTEST = 3  # characters of a value that is looked for without its blanks
_DIGITS = re.compile(
    r"(?<![\w.])[-−+]?\d{1,3}(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?(?!\d)|[-−+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?"
)
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    rf"\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH},? \d{{4}}"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|{_MONTH},? \d{{4}}",
    re.IGNORECASE,
)


class Place(NamedTuple):
    """A part of the answer: from `start`, up to but not including `end`."""

    start: int
    end: int


@dataclass
class _Effort:
    """What may still be spent on looking for the values of a result, so that no answer takes long."""

    left: int = _MOST_EFFORT

    def spend(self, size: int) -> bool:
        """Return whether one more place may be looked at, for a text of so many characters."""
        self.left -= 1 + size // _EFFORT_SIZE
        return self.left >= 0


@dataclass(frozen=True)
class Grounding:
    """Where one extracted value stands in the answer.

    Attributes:
        field: The template field; a part of it as `field.part`.
        value: The value, as text; each item of a list stands for itself.
        how: How it was found.
        places: Where, from the start of the answer; at most 50.
    """

    field: str
    value: str
    how: How
    places: tuple[Place, ...] = ()


def grounding(result: VerificationResult) -> tuple[Grounding, ...]:
    """Return where the extracted values of a result stand in its answer; empty where nothing was extracted."""
    part = result.template
    if part is None or not part.parsed or result.answer is None:
        return ()
    schema = next((call.schema_sent for call in reversed(part.calls) if call.schema_sent), None) or {}
    properties = schema.get("properties")
    described = properties.items() if isinstance(properties, dict) else ()
    choices = {name for name, about in described if _has_choices(about)}
    return ground(part.parsed, result.answer.text, choices)


def ground(
    values: Mapping[str, Any], answer: str, choices: frozenset[str] | set[str] = frozenset()
) -> tuple[Grounding, ...]:
    """Return where values stand in an answer.

    Args:
        values: By field; lists and nested values are looked for part by part. Nulls are left out.
        answer: The text.
        choices: Fields whose value is one of a given list.
    """
    known: dict[tuple[type, Any], tuple[How, list[Place]]] = {}
    found = []
    similar = 0
    effort = _Effort()
    every = ((field, *part) for field, value in values.items() for part in _leaves(field, value))
    for field, name, leaf in islice(every, MOST_VALUES):
        key = (type(leaf), leaf)
        if key not in known:
            known[key] = _find(leaf, answer, effort, similar=similar < _MOST_SIMILAR)
            similar += known[key][0] in ("fuzzy", "nowhere")
        how, places = known[key]
        # A choice is judged, and not all was looked at of a very long answer or where it would take too long.
        if how == "nowhere" and (field in choices or len(answer) > LONGEST_ANSWER or effort.left < 0):
            how = "judged"
        found.append(Grounding(name, leaf if isinstance(leaf, str) else _spelled(leaf), how, tuple(places)))
    return tuple(found)


def ungrounded(groundings: tuple[Grounding, ...]) -> frozenset[str]:
    """Return the fields with a value that stands nowhere in the answer."""
    return frozenset(item.field.partition(".")[0] for item in groundings if item.how == "nowhere")


def _has_choices(described: Any) -> bool:
    if isinstance(described, dict):
        return "enum" in described or "const" in described or any(map(_has_choices, described.values()))
    return isinstance(described, list) and any(map(_has_choices, described))


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    match value:
        case None:
            return
        case Mapping():
            for key, part in value.items():
                yield from _leaves(f"{name}.{key}", part)
        case list() | tuple() | set() | frozenset():
            for part in value:
                yield from _leaves(name, part)
        case str() | bool() | int() | float():
            yield name, value
        case _:
            yield name, str(value)


def _spelled(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # an int of more digits than Python prints
        return "a very long number"


def _find(value: Any, answer: str, effort: _Effort, *, similar: bool = True) -> tuple[How, list[Place]]:
    if isinstance(value, bool):
        return "judged", []
    if isinstance(value, int | float):
        return _find_number(value, answer, effort)
    text = value.strip()
    if not text:
        return "nowhere", []
    if len(text) > LONGEST_VALUE or effort.left < 0:
        return "judged", []
    if exact := _occurrences(text, answer, effort):
        return "exact", exact
    answer = answer[:LONGEST_ANSWER]
    if normalised := _normalised(text, answer, effort) or _as_quantity(text, answer, effort):
        return "normalised", normalised
    alike = (_similar(text, answer, effort) or _with_words_left_out(text, answer)) if similar else []
    return ("fuzzy", alike) if alike else ("nowhere", [])


def _occurrences(text: str, answer: str, effort: _Effort) -> list[Place]:
    """Return where a text stands as words of its own, not within longer ones."""
    places = (Place(start, start + len(text)) for start in _starts(text, answer, effort))
    return list(islice((place for place in places if _is_apart(place, answer)), _MOST_PLACES))


def _starts(text: str, answer: str, effort: _Effort) -> Iterator[int]:
    start = answer.find(text)
    while start >= 0 and effort.spend(len(text)):
        yield start
        start = answer.find(text, start + 1)


def _is_apart(place: Place, answer: str) -> bool:
    return not (_joined(answer, place.start - 1, place.start) or _joined(answer, place.end - 1, place.end))


def _joined(text: str, left: int, right: int) -> bool:
    return left >= 0 and right < len(text) and text[left].isalnum() and text[right].isalnum()


def _normalised(text: str, answer: str, effort: _Effort) -> list[Place]:
    """Return where a text stands when case, punctuation and blanks do not count, so that `BCL2` is in `Bcl-2`."""
    wanted, _ = _folded(text[: len(answer) + 1])
    folded, origins = _folded_once(answer)
    wanted = wanted.strip()
    if not wanted:
        return []
    if places := [_origin(at, origins) for at in _occurrences(wanted, folded, effort)]:
        return places
    wanted, (folded, origins) = wanted.replace(" ", ""), _joined_once(answer)
    starts = _starts(wanted, folded, effort) if len(wanted) >= _SHORTEST else ()
    found = (_origin(Place(start, start + len(wanted)), origins) for start in starts)
    return list(islice((at for at in found if _is_apart(at, answer)), _MOST_PLACES))


def _origin(place: Place, origins: list[int]) -> Place:
    return Place(origins[place.start], origins[place.end - 1] + 1)


@lru_cache(_KEPT)
def _joined_once(answer: str) -> tuple[str, list[int]]:
    """Return the folded answer without blanks."""
    text, origins = _folded_once(answer)
    kept = [at for at, character in enumerate(text) if character != " "]
    return "".join(text[at] for at in kept), [origins[at] for at in kept]


@lru_cache(_KEPT)
def _folded_once(answer: str) -> tuple[str, list[int]]:
    return _folded(answer)


def _folded(text: str) -> tuple[str, list[int]]:
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


def _as_quantity(text: str, answer: str, effort: _Effort) -> list[Place]:
    if len(text) > _LONGEST_QUANTITY:
        return []
    return _as_date(text, answer) or _as_number(text, answer, effort)


def _as_date(text: str, answer: str) -> list[Place]:
    wanted = read_date(text)
    if wanted is None or not wanted.known or not any(character.isdigit() for character in text):
        return []
    size = len(wanted.known)
    same = (place for place, known in _dates(answer) if any(date[:size] == wanted.known for date in known))
    return list(islice(same, _MOST_PLACES))


@lru_cache(_KEPT)
def _dates(answer: str) -> list[tuple[Place, list[tuple[int, ...]]]]:
    """Return the dates in an answer, each with what it may mean."""
    return [(Place(*match.span()), _readings(match.group())) for match in islice(_DATE.finditer(answer), _MOST_WORDS)]


def _readings(text: str) -> list[tuple[int, ...]]:
    readings = (read_date(text.replace(" of ", " ")), read_date(text, dayfirst=True))
    return [reading.known for reading in readings if reading is not None]


def _as_number(text: str, answer: str, effort: _Effort) -> list[Place]:
    wanted = read_number(text)
    return [] if wanted is None else _find_number(wanted, answer, effort)[1]


def _find_number(wanted: int | float, answer: str, effort: _Effort) -> tuple[How, list[Place]]:
    written = _spelled(wanted)
    if exact := [place for place in _occurrences(written, answer, effort) if _is_whole(place, answer)]:
        return "exact", exact
    answer = answer[:LONGEST_ANSWER]
    same = (place for place, values in _numbers_in(answer) if any(_equal(value, wanted) for value in values))
    places = list(islice(same, _MOST_PLACES)) or _in_words(wanted, answer)
    if places:
        return "normalised", places[:_MOST_PLACES]
    return ("judged" if len(_numbers_in(answer)) == _MOST_NUMBERS else "nowhere"), []


def _is_whole(place: Place, answer: str) -> bool:
    """Return whether digits are a number of their own, not a part of a longer one such as the 12 of 12.5."""
    before, after = answer[max(place.start - 2, 0) : place.start], answer[place.end : place.end + 2]
    continues = after[:1] in (".", ",") and after[1:].isdigit()
    return not continues and not (before[1:] in (".", ",") and before[:1].isdigit())


@lru_cache(_KEPT)
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
    words = _words(answer)
    for size in range(1, 7):
        spans = [Place(words[at].start, words[at + size - 1].end) for at in range(len(words) - size + 1)]
        if places := [place for place in spans if numbers(answer[place.start : place.end]) == [wanted]]:
            return places
    return []


@lru_cache(_KEPT)
def _words(answer: str) -> list[Place]:
    return [Place(*match.span()) for match in islice(_WORD.finditer(answer), _MOST_WORDS)]


@lru_cache(_KEPT)
def _spoken(answer: str) -> frozenset[float]:
    words = _words(answer)
    return frozenset(numbers(answer[: words[-1].end] if words else ""))


def _similar(text: str, answer: str, effort: _Effort) -> list[Place]:
    """Return the part of the answer most similar to a text, if it is similar enough."""
    wanted, _ = _folded(text)
    size = len(wanted.split())
    if len(wanted) < 5 or not 0 < size <= _LONGEST:
        return []
    words = _words(answer)
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


def _with_words_left_out(text: str, answer: str) -> list[Place]:
    """Return where all words of a text stand in their order, with at most a few others between them."""
    wanted = _folded(text)[0].split()
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


@lru_cache(_KEPT)
def _folded_words(answer: str) -> tuple[list[str], list[Place]]:
    """Return the first words of an answer, in one case and without punctuation, and where each came from."""
    every = [(part, place) for place in _words(answer) for part in _folded(answer[slice(*place)])[0].split()]
    return [part for part, _ in every], [place for _, place in every]
