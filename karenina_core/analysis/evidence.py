"""Where the values a judge extracted stand in the answer. A value that stands nowhere may be the judge's own.

Everything is bounded, so that no answer takes long: what was not looked at in full is `judged`, never `nowhere`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple

from karenina_core.models import numbers
from karenina_core.schemas import VerificationResult, read_date, read_number
from karenina_core.text import normal_form

# `judged`: a choice or a yes or no, which need not stand in the answer in so many words; or too much to look for.
Match = Literal["exact", "normalised", "fuzzy", "nowhere", "judged"]

LONGEST_ANSWER = 100_000  # characters that are searched for what is written otherwise; all of it for the very words
LONGEST_VALUE = 2_000  # characters; a longer value is not looked for
LONGEST_QUANTITY = 100  # characters of a date or a number
DEEPEST_VALUE = 200  # lists and objects around a value; no file or store holds one that lies deeper
MOST_VALUES = 200
MOST_SPANS = 50  # of one value
MOST_WORDS = 2_000  # of an answer, looked at for similar ones; and as many dates and numbers
MOST_SIMILAR = 20  # values that are compared closely
SIMILAR = 0.85  # from this similarity (0 to 1) on, a part of the answer counts as the value written otherwise
_REMEMBERED = 4  # answers of which the readings are remembered
_COMPARING = 900  # characters of a value that would cost as much as comparing two texts closely
_MOST_COMPARED_WORDS = 12  # of a value that is compared closely
_MOST_SKIPPED_WORDS = 3  # of the answer, that a value may leave out
_LEAST_WORDS = 3  # of a value that is looked for with words left out
_SHORTEST_JOINED = 3  # characters of a value that is looked for without its blanks

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_NUMBER = re.compile(
    r"(?<![\w.])[-−+]?\d{1,3}(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?(?!\d)|[-−+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    rf"\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH},? \d{{4}}"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|{_MONTH},? \d{{4}}",
    re.IGNORECASE,
)


class Span(NamedTuple):
    """A part of the answer: from `start`, up to but not including `end`."""

    start: int
    end: int


@dataclass(frozen=True)
class ValueEvidence:
    """Where one extracted value stands in the answer.

    Attributes:
        field: The template field; a part of it as `field.part`.
        value: The value, as text; each item of a list stands for itself.
        match: How it was found.
        spans: Where, from the start of the answer; at most 50.
    """

    field: str
    value: str
    match: Match
    spans: tuple[Span, ...] = ()


def evidence_spans(result: VerificationResult) -> tuple[ValueEvidence, ...]:
    """Return where the extracted values of a result stand in its answer; empty where nothing was extracted."""
    part = result.template
    if part is None or not part.parsed or result.answer is None:
        return ()
    schema = next((call.schema_sent for call in reversed(part.calls) if call.schema_sent), None) or {}
    properties = schema.get("properties")
    described = properties.items() if isinstance(properties, dict) else ()
    return spans_of(part.parsed, result.answer.text, {name for name, about in described if _has_choices(about)})


def spans_of(values: Mapping[str, Any], answer: str, choices: Iterable[str] = ()) -> tuple[ValueEvidence, ...]:
    """Return where values stand in an answer.

    Args:
        values: By field; lists and nested values are looked for part by part. Nulls are left out.
        answer: The text.
        choices: Fields whose value is one of a given list.
    """
    known: dict[tuple[type, Any], tuple[Match, list[Span]]] = {}
    evidence, similar, effort, judged = [], 0, _Effort(), set(choices)
    leaves = ((field, *part) for field, value in values.items() for part in _leaves(field, value))
    for field, name, leaf in islice(leaves, MOST_VALUES):
        key = (type(leaf), leaf)
        if key not in known:
            known[key] = _look_for(leaf, answer, effort, similar=similar < MOST_SIMILAR)
            similar += known[key][0] in ("fuzzy", "nowhere")
        match, spans = known[key]
        if match == "nowhere" and (field in judged or len(answer) > LONGEST_ANSWER or effort.left < 0):
            match = "judged"
        evidence.append(ValueEvidence(name, leaf if isinstance(leaf, str) else _as_text(leaf), match, tuple(spans)))
    return tuple(evidence)


@dataclass
class _Effort:
    """What may still be spent on looking for the values of a result: one for each place, more for long values."""

    left: int = 30_000

    def spend(self, size: int) -> bool:
        """Return whether one more place may be looked at, for a text of so many characters."""
        self.left -= 1 + size // 100
        return self.left >= 0


def _has_choices(described: Any) -> bool:
    waiting = [described]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if "enum" in part or "const" in part:
                return True
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return False


class _TooDeep:
    """Stands for a value that lies too deep to be looked for."""

    def __str__(self) -> str:
        return "a value nested too deep"


_TOO_DEEP = _TooDeep()


def _leaves(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the single values within a value, each with its path."""
    match value:
        case None:
            return
        case Mapping() | list() | tuple() | set() | frozenset() if depth == DEEPEST_VALUE:
            yield name, _TOO_DEEP
        case Mapping():
            for key, part in value.items():
                yield from _leaves(f"{name}.{key}", part, depth + 1)
        case list() | tuple() | set() | frozenset():
            for part in value:
                yield from _leaves(name, part, depth + 1)
        case str() | bool() | int() | float():
            yield name, value
        case _:
            yield name, str(value)


def _as_text(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # an int of more digits than Python prints
        return "a very long number"


def _look_for(value: Any, answer: str, effort: _Effort, *, similar: bool) -> tuple[Match, list[Span]]:
    if isinstance(value, bool | _TooDeep):
        return "judged", []
    if isinstance(value, int | float):
        return _number_spans(value, answer, effort)
    text = value.strip()
    if not text:
        return "nowhere", []
    if len(text) > LONGEST_VALUE or effort.left < 0:
        return "judged", []
    if exact := _word_spans(text, answer, effort):
        return "exact", exact
    answer = answer[:LONGEST_ANSWER]
    normalised = _folded_spans(text, answer, effort)
    if not normalised and len(text) <= LONGEST_QUANTITY:
        wanted = read_number(text)
        normalised = _date_spans(text, answer)
        normalised = normalised or ([] if wanted is None else _number_spans(wanted, answer, effort)[1])
    if normalised:
        return "normalised", normalised
    alike = (_similar_spans(text, answer, effort) or _spans_with_words_left_out(text, answer)) if similar else []
    return ("fuzzy", alike) if alike else ("nowhere", [])


# The very words


def _word_spans(text: str, answer: str, effort: _Effort) -> list[Span]:
    """Return where a text stands as words of its own, not within longer ones."""
    spans = (Span(start, start + len(text)) for start in _starts(text, answer, effort))
    return list(islice((span for span in spans if _is_apart(span, answer)), MOST_SPANS))


def _starts(text: str, answer: str, effort: _Effort) -> Iterator[int]:
    start = answer.find(text)
    while start >= 0 and effort.spend(len(text)):
        yield start
        start = answer.find(text, start + 1)


def _is_apart(span: Span, answer: str) -> bool:
    """Return whether a span begins and ends where words do."""
    return not any(0 < at < len(answer) and answer[at - 1].isalnum() and answer[at].isalnum() for at in span)


@lru_cache(_REMEMBERED)
def _words(answer: str) -> list[Span]:
    return [Span(*match.span()) for match in islice(_WORD.finditer(answer), MOST_WORDS)]


# Case, punctuation and blanks do not count, so that `BCL2` is in `Bcl-2`


def _folded_spans(text: str, answer: str, effort: _Effort) -> list[Span]:
    wanted = _fold(text[: len(answer) + 1])[0].strip()
    if not wanted:
        return []
    folded, origins = _folded_answer(answer)
    if spans := [_origin(span, origins) for span in _word_spans(wanted, folded, effort)]:
        return spans
    wanted, (joined, origins) = wanted.replace(" ", ""), _joined_answer(answer)
    starts = _starts(wanted, joined, effort) if len(wanted) >= _SHORTEST_JOINED else ()
    found = (_origin(Span(start, start + len(wanted)), origins) for start in starts)
    return list(islice((span for span in found if _is_apart(span, answer)), MOST_SPANS))


def _origin(span: Span, origins: list[int]) -> Span:
    return Span(origins[span.start], origins[span.end - 1] + 1)


def _fold(text: str) -> tuple[str, list[int]]:
    """Return a text in one case without punctuation, and for each of its characters where it came from."""
    folded: list[str] = []
    origins: list[int] = []
    for at, character in enumerate(text):
        plain = normal_form("NFKC", character).casefold()
        if not any(part.isalnum() for part in plain):
            plain = " "
        if plain == " " and (not folded or folded[-1] == " "):
            continue
        folded += plain
        origins += [at] * len(plain)
    return "".join(folded), origins


_folded_answer = lru_cache(_REMEMBERED)(_fold)


@lru_cache(_REMEMBERED)
def _joined_answer(answer: str) -> tuple[str, list[int]]:
    """Return the folded answer without blanks."""
    text, origins = _folded_answer(answer)
    letters = [at for at, character in enumerate(text) if character != " "]
    return "".join(text[at] for at in letters), [origins[at] for at in letters]


# Numbers and dates, however they are written


def _number_spans(wanted: int | float, answer: str, effort: _Effort) -> tuple[Match, list[Span]]:
    written = _as_text(wanted)
    if exact := [span for span in _word_spans(written, answer, effort) if _is_whole_number(span, answer)]:
        return "exact", exact
    answer = answer[:LONGEST_ANSWER]
    known = _numbers_in(answer)
    same = [span for span, values in known if any(_equal(value, wanted) for value in values)][:MOST_SPANS]
    if spans := same or _spelled_number(wanted, answer):
        return "normalised", spans
    return ("judged" if len(known) == MOST_WORDS else "nowhere"), []


def _is_whole_number(span: Span, answer: str) -> bool:
    """Return whether digits are a number of their own, not a part of a longer one such as the 12 of 12.5."""
    before, after = answer[max(span.start - 2, 0) : span.start], answer[span.end : span.end + 2]
    continues = after[:1] in (".", ",") and after[1:].isdigit()
    return not continues and not (before[1:] in (".", ",") and before[:1].isdigit())


@lru_cache(_REMEMBERED)
def _numbers_in(answer: str) -> list[tuple[Span, list[int | float]]]:
    """Return the numbers in digits in an answer, each with what it may mean."""
    found = islice(_NUMBER.finditer(answer), MOST_WORDS)
    return [(Span(*match.span()), _meanings(match.group(), answer, match.end())) for match in found]


def _meanings(text: str, answer: str, end: int) -> list[int | float]:
    """Return what digits may mean: with thousands separated, a decimal comma, or as a percentage of 1."""
    plain = text.replace("−", "-").replace("+", "")
    spellings = {re.sub("[,\u00a0\u202f ]", "", plain), plain.replace(",", ".")}
    values = [value for spelling in spellings if (value := read_number(spelling)) is not None and abs(value) < 1e300]
    percentage = answer[end : end + 2].lstrip().startswith("%")
    return values + [value / 100 for value in values] if percentage else values


def _equal(value: int | float, wanted: int | float) -> bool:
    return abs(wanted) < 1e300 and abs(value - wanted) <= 1e-9 * max(1.0, abs(wanted))


def _spelled_number(wanted: int | float, answer: str) -> list[Span]:
    if wanted not in _spelled_numbers(answer):
        return []
    words = _words(answer)
    for size in range(1, 7):
        spans = [Span(words[at].start, words[at + size - 1].end) for at in range(len(words) - size + 1)]
        if same := [span for span in spans if numbers(answer[slice(*span)]) == [wanted]]:
            return same[:MOST_SPANS]
    return []


@lru_cache(_REMEMBERED)
def _spelled_numbers(answer: str) -> frozenset[float]:
    words = _words(answer)
    return frozenset(numbers(answer[: words[-1].end] if words else ""))


def _date_spans(text: str, answer: str) -> list[Span]:
    wanted = read_date(text)
    if wanted is None or not wanted.known or not any(character.isdigit() for character in text):
        return []
    size = len(wanted.known)
    same = (span for span, dates in _dates_in(answer) if any(date[:size] == wanted.known for date in dates))
    return list(islice(same, MOST_SPANS))


@lru_cache(_REMEMBERED)
def _dates_in(answer: str) -> list[tuple[Span, list[tuple[int, ...]]]]:
    """Return the dates in an answer, each with what it may mean."""
    found = [(Span(*match.span()), match.group()) for match in islice(_DATE.finditer(answer), MOST_WORDS)]
    readings = [(span, (read_date(text.replace(" of ", " ")), read_date(text, dayfirst=True))) for span, text in found]
    return [(span, [reading.known for reading in both if reading is not None]) for span, both in readings]


# Something similar


def _similar_spans(text: str, answer: str, effort: _Effort) -> list[Span]:
    """Return the part of the answer most similar to a text, if it is similar enough."""
    wanted = _fold(text)[0]
    size = len(wanted.split())
    if len(wanted) < 5 or not 0 < size <= _MOST_COMPARED_WORDS:
        return []
    words = _words(answer)
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted.strip())
    best, score = None, math.nextafter(SIMILAR, 0)
    for length in range(max(1, size - 1), size + 2):
        for at in range(len(words) - length + 1):
            span = Span(words[at].start, words[at + length - 1].end)
            matcher.set_seq1(answer[slice(*span)].casefold())
            if matcher.real_quick_ratio() <= score or matcher.quick_ratio() <= score:
                continue
            if effort.spend(_COMPARING) and matcher.ratio() > score:
                best, score = span, matcher.ratio()
    return [best] if best else []


def _spans_with_words_left_out(text: str, answer: str) -> list[Span]:
    """Return where all words of a text stand in their order, with at most a few others between them."""
    wanted = _fold(text)[0].split()
    if len(wanted) < _LEAST_WORDS:
        return []
    words, spans = _folded_words(answer)
    for first, word in enumerate(words):
        if word == wanted[0] and (last := _last_of(wanted, words, first)) is not None:
            return [Span(spans[first].start, spans[last].end)]
    return []


def _last_of(wanted: list[str], words: list[str], first: int) -> int | None:
    """Return where the last of the wanted words stands when the first stands at `first`."""
    reached = 0
    for at in range(first, min(first + len(wanted) + _MOST_SKIPPED_WORDS, len(words))):
        reached += words[at] == wanted[reached]
        if reached == len(wanted):
            return at
    return None


@lru_cache(_REMEMBERED)
def _folded_words(answer: str) -> tuple[list[str], list[Span]]:
    """Return the first words of an answer, in one case and without punctuation, and where each came from."""
    every = [(part, span) for span in _words(answer) for part in _fold(answer[slice(*span)])[0].split()]
    return [part for part, _ in every], [span for _, span in every]
