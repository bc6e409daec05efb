"""Where the values a judge extracted stand in the answer. A value that stands nowhere may be the judge's own.

Everything is bounded, so that no answer takes long: what was not looked at in full is `judged`, never `nowhere`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
MOST_PLACES = 500  # of one value that are looked at, most of them within longer words
MOST_WORDS = 2_000  # of an answer, looked at for similar ones; and as many dates and numbers
MOST_SIMILAR = 20  # values that are compared closely
SIMILAR = 0.85  # from this similarity (0 to 1) on, a part of the answer counts as the value written otherwise
_REMEMBERED = 4  # answers of which the readings are remembered
_MOST_COMPARED = 100  # parts of the answer that are compared closely with one value
_MOST_COMPARED_WORDS = 12  # of a value that is compared closely
_MOST_SKIPPED_WORDS = 3  # of the answer, that a value may leave out
_LEAST_WORDS = 3  # of a value that is looked for with words left out

_LETTERS = re.compile(r"[^\W_]+")
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
    evidence, similar, judged = [], 0, set(choices)
    leaves = ((field, *part) for field, value in values.items() for part in _leaves(field, value))
    for field, name, leaf in islice(leaves, MOST_VALUES):
        key = (type(leaf), leaf)
        if key not in known:
            known[key] = _look_for(leaf, answer, similar=similar < MOST_SIMILAR)
            similar += known[key][0] in ("fuzzy", "nowhere")
        match, spans = known[key]
        if match == "nowhere" and (field in judged or len(answer) > LONGEST_ANSWER):
            match = "judged"
        evidence.append(ValueEvidence(name, _as_text(leaf), match, tuple(spans)))
    return tuple(evidence)


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


def _leaves(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the single values within a value, each with its path; None stands for one that lies too deep."""
    match value:
        case None:
            return
        case Mapping() | list() | tuple() | set() | frozenset() if depth == DEEPEST_VALUE:
            yield name, None
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
        return "a value nested too deep" if value is None else str(value)
    except ValueError:  # an int of more digits than Python prints
        return "a very long number"


def _look_for(value: Any, answer: str, *, similar: bool) -> tuple[Match, list[Span]]:
    if value is None or isinstance(value, bool):
        return "judged", []
    if isinstance(value, int | float):
        return _number_spans(value, answer)
    text = value.strip()
    if not text:
        return "nowhere", []
    if len(text) > LONGEST_VALUE:
        return "judged", []
    exact = _occurrences(text, answer, answer)
    if exact:
        return "exact", exact
    answer = answer[:LONGEST_ANSWER]
    (wanted, _), (folded, origins) = _fold(text), _folded_answer(answer)
    normalised = _occurrences(wanted, folded, answer, origins)
    if not normalised and len(text) <= LONGEST_QUANTITY:
        quantity = read_number(text)
        found = _date_spans(text, answer) or ([] if quantity is None else _number_spans(quantity, answer)[1])
        normalised = found or normalised
    if normalised:
        return "normalised", normalised
    alike = (_similar_spans(text, answer) or _spans_with_words_left_out(text, answer)) if similar else []
    if alike:
        return "fuzzy", alike
    return ("judged" if exact is None or normalised is None else "nowhere"), []


# The very words; and without case, punctuation and blanks, so that `BCL2` is in `Bcl-2`


def _occurrences(wanted: str, text: str, answer: str, origins: Sequence[int] = ()) -> list[Span] | None:
    """Return where a text stands as words of its own, not within longer ones; None where not all of it was searched.

    Args:
        wanted: What to look for.
        text: Where: the answer, or the folded answer.
        answer: The answer.
        origins: Where each character of a folded answer came from.
    """
    spans: list[Span] = []
    start = text.find(wanted) if wanted else -1
    for _ in range(MOST_PLACES):
        if start < 0 or len(spans) == MOST_SPANS:
            return spans
        end = start + len(wanted)
        span = Span(origins[start], origins[end - 1] + 1) if origins else Span(start, end)
        edges = answer[span.start - 1 : span.start + 1], answer[span.end - 1 : span.end + 1]
        if not any(len(edge) == 2 and edge.isalnum() for edge in edges):
            spans.append(span)
        start = text.find(wanted, start + 1)
    return spans or None


def _fold(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits of a text in one case, and where each came from; a blank parts two numbers."""
    folded: list[tuple[str, int]] = []
    for run in _LETTERS.finditer(text):
        plain = (own if own.isascii() else normal_form("NFKC", own) for own in run.group())
        parts = [(part, at) for at, own in enumerate(plain, run.start()) for part in own.casefold()]
        if folded and folded[-1][0].isdigit() and parts[0][0].isdigit():
            folded.append((" ", run.start()))
        folded += parts
    return "".join(part for part, _ in folded), [at for _, at in folded]


_folded_answer = lru_cache(_REMEMBERED)(_fold)


@lru_cache(_REMEMBERED)
def _words(answer: str) -> list[Span]:
    return [Span(*match.span()) for match in islice(_WORD.finditer(answer), MOST_WORDS)]


# Numbers and dates, however they are written


def _number_spans(wanted: int | float, answer: str) -> tuple[Match, list[Span]]:
    exact = _occurrences(_as_text(wanted), answer, answer)
    if whole := [span for span in exact or () if _is_whole_number(span, answer)]:
        return "exact", whole
    answer = answer[:LONGEST_ANSWER]
    known = _numbers_in(answer)
    same = [span for span, values in known if any(_equal(value, wanted) for value in values)][:MOST_SPANS]
    if spans := same or _spelled_number(wanted, answer):
        return "normalised", spans
    return ("judged" if exact is None or len(known) == MOST_WORDS else "nowhere"), []


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


def _similar_spans(text: str, answer: str) -> list[Span]:
    """Return the part of the answer most similar to a text, if it is similar enough."""
    wanted, size = text.casefold(), len(_WORD.findall(text))
    if len(wanted) < 5 or not 0 < size <= _MOST_COMPARED_WORDS:
        return []
    words, compared = _words(answer), 0
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    best, score = None, math.nextafter(SIMILAR, 0)
    for length in range(max(1, size - 1), size + 2):
        for at in range(len(words) - length + 1):
            span = Span(words[at].start, words[at + length - 1].end)
            matcher.set_seq1(answer[slice(*span)].casefold())
            if matcher.real_quick_ratio() <= score or matcher.quick_ratio() <= score or compared == _MOST_COMPARED:
                continue
            compared += 1
            if matcher.ratio() > score:
                best, score = span, matcher.ratio()
    return [best] if best else []


def _spans_with_words_left_out(text: str, answer: str) -> list[Span]:
    """Return where all words of a text stand in their order, with at most a few others between them."""
    wanted = [_fold(word)[0] for word in _WORD.findall(text)]
    if len(wanted) < _LEAST_WORDS:
        return []
    spans, words = _words(answer), _folded_words(answer)
    for first, word in enumerate(words):
        window = words[first : first + len(wanted) + _MOST_SKIPPED_WORDS]
        rest = iter(window)
        if word == wanted[0] and all(part in rest for part in wanted):
            last = first + len(window) - len(list(rest)) - 1
            return [Span(spans[first].start, spans[last].end)]
    return []


@lru_cache(_REMEMBERED)
def _folded_words(answer: str) -> list[str]:
    return [_fold(answer[slice(*span)])[0] for span in _words(answer)]
