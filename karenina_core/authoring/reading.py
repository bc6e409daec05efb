"""What short texts written by people mean: numbers, lists and names; what a question asks for; what notes accept."""

from __future__ import annotations

import keyword
import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from karenina_core.schemas import Number, nfc, read_date, read_number
from karenina_core.templates import is_reserved

_NUMBER = r"[+\-−–]?(?:\d{1,3}(?:[,\u00a0\u202f' ]\d{3})+|\d+)(?:\.\d+)?|[+\-−–]?\.\d+"
_POWER = r"\s*(?:[eE]|[x×·*]\s*10\s*\^?)\s*(?P<exponent>[+\-−–]?[\d⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)"
_UNIT = r"(?P<unit>%|[°$€£µμΩÅ]?[^\W\d_][\w°/^%·\-⁻¹²³()]*(?:\s+[^\W\d_][\w/%\-()]*){0,3}|[°$€£µμΩÅ]\w*)"
_ABOUT = r"(?P<about>(?:about|around|approximately|approx\.?|roughly|ca\.?|circa|some|nearly|~|≈|≃)\s*)"
_UPPER = r"≤|<=|<|at most|less than|under|up to|no more than"
_LOWER = r"≥|>=|>|at least|more than|over|no less than"
_SINGLE = re.compile(
    rf"{_ABOUT}?(?P<money>[$€£]\s?)?(?P<number>{_NUMBER})(?:{_POWER})?"
    rf"(?:\s*(?:±|\+/-|\+-)\s*(?P<margin>\d+(?:\.\d+)?))?(?:\s*{_UNIT})?\.?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"{_ABOUT}?(?:between\s+|from\s+)?(?P<low>{_NUMBER})\s*(?:%|[a-zµ°]{{1,4}})?\s*(?:-|–|—|to|and|\.\.\.?)\s*"
    rf"(?P<high>{_NUMBER})(?:\s*{_UNIT})?\.?",
    re.IGNORECASE,
)
_ONE_SIDED = re.compile(rf"(?:(?P<upper>{_UPPER})|{_LOWER})\s*(?P<number>{_NUMBER})(?:\s*{_UNIT})?\.?", re.IGNORECASE)
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−–", "0123456789-+--")
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_BLANKS = re.compile(r"[^\S\n]+")
_COMMA = re.compile(r"(?<!\d),\s*|,(?!\d)\s*")
_LAST = re.compile(r"\s+(?:and|&)\s+")
_LONGEST_ITEM = 6  # words of one thing in an enumeration
_ROUGHLY = 0.1  # how far off "about 20" may be: a tenth
_DIGITS = 0.001  # how far off a decimal number may be: as rounding in its fourth digit

_ASKED = re.compile(
    r"\b(?:(?P<count>how (?:many|much))|(?:what|which)(?: (?:is|are|was|were) (?:the|a|an))?) "
    r"(?!(?:of|is|are|was|were|do|does|did)\b)(?P<thing>[a-z][a-z\- ]*?)(?=\?|$| (?:is|are|was|were|does|do|did|has|"
    r"have|can|will|would|encodes?|causes?|binds?|of|for|in|that|which|to|by|on|at|from|per)\b)",
    re.IGNORECASE,
)
_LONGEST_NAME = 4  # words of a field name
_LAST_PART = 2_000  # characters; what a long text asks for stands at its end
_OPTIONS = re.compile(r"[:(]\s*([^:()?]+?(?:,\s*|\s+)or\s+[^:()?]+?|[^:()?]+?,[^:()?]+?)\s*\)?\s*\?")
_EITHER = re.compile(
    r"\b(?:an?\s+|the\s+)?([\w\-]+(?:\s[\w\-]+)?)\s+or\s+(?:an?\s+|the\s+)?([\w\-]+(?:\s[\w\-]+)?)\s*\?"
)
_QUOTED = re.compile(r"[\"'“”‘’`]([^\"'“”‘’`]{1,80})[\"'“”‘’`]")
_REFUSING = r"not|reject\w*|never|wrong|except|incorrect"
_KEYWORD = re.compile(
    rf"\b(?:(?P<refusing>{_REFUSING})|accept\w*|also|allow\w*|fine|equal\w*|synonym\w*)\b", re.IGNORECASE
)
PLACEHOLDERS = frozenset(
    ["", "-", "--", "?", "...", "…", "n/a", "na", "none", "null", "todo", "tbd", "xxx", "placeholder", "fixme",
     "correct_answer", "your answer", "your answer here", "ground truth", "expected"]
)  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A number as a reference answer gives it.

    Attributes:
        value: The number; the lower bound of a range.
        unit: What stands behind it, such as `pairs` or `%`.
        about: Whether it is only roughly meant.
        margin: The uncertainty, as in `5.5 ± 0.2`.
        low: Lower bound of a range, None where there is none.
        high: Upper bound of a range, None where there is none.
        is_range: Whether any number within bounds is right.
        unsure: Whether the comma in it may separate thousands or decimals.
    """

    value: Number
    unit: str = ""
    about: bool = False
    margin: float | None = None
    low: Number | None = None
    high: Number | None = None
    is_range: bool = False
    unsure: bool = False

    def rule(self) -> dict[str, Any]:
        """Return the rule in its stored form that accepts the number as it was meant."""
        if self.is_range:
            return {"type": "NumericRange", "min": self.low, "max": self.high}
        if self.margin is not None:
            return {"type": "NumericTolerance", "tolerance": self.margin, "mode": "absolute"}
        if not self.value or (isinstance(self.value, int) and not self.about):
            return {"type": "NumericExact"}
        return {"type": "NumericTolerance", "tolerance": _ROUGHLY if self.about else _DIGITS, "mode": "relative"}


def read_figure(text: str) -> Figure | None:
    """Return the number that a whole text gives, or None where the text is anything else."""
    text = " ".join(text.split())
    if len(text) > 80:
        return None
    if match := _ONE_SIDED.fullmatch(text):
        value = _plain(match["number"])
        low, high = (None, value) if match["upper"] else (value, None)
        return Figure(value, _unit(match), low=low, high=high, is_range=True)
    if match := _SINGLE.fullmatch(text):
        return _single(match)
    if match := _BETWEEN.fullmatch(text):
        low, high = _plain(match["low"]), _plain(match["high"].lstrip("-–−"))
        if low < high:
            return Figure(low, _unit(match), bool(match["about"]), low=low, high=high, is_range=True)
    return None


def _single(match: re.Match[str]) -> Figure:
    value: Number = _plain(match["number"])
    if match["exponent"]:
        value = _whole(float(f"{value!r}e{int(match['exponent'].translate(_SUPERSCRIPT))}"))
    margin = float(match["margin"]) if match["margin"] else None
    unit = (match["money"] or "").strip() or _unit(match)
    scale = _SCALES.get(unit.casefold().partition(" ")[0])
    if scale:
        value, unit = _whole(value * scale), unit.partition(" ")[2]
    unsure = re.fullmatch(r"[+-]?\d{1,3},\d{3}", match["number"]) is not None
    return Figure(value, unit, bool(match["about"]), margin, unsure=unsure)


def _whole(value: Number) -> Number:
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else value


def _unit(match: re.Match[str]) -> str:
    return (match["unit"] or "").strip().rstrip(".")


def _plain(text: str) -> Number:
    text = re.sub(r"[,\u00a0\u202f' ]", "", text.translate(_SUPERSCRIPT))
    return float(text) if "." in text else int(text)


def spread(text: str) -> list[str]:
    """Return the things an enumeration names; nothing where the text is a single thing or a sentence.

    Commas inside of brackets and of numbers separate nothing.
    """
    # Runs of blanks, of which a hostile text may be full, take a pattern time with the square of them.
    text = _BLANKS.sub(" ", text.strip())
    text = re.sub(r"^[^\S\n]?(?:[-*•]|\d+[.)])\s+", "", text, flags=re.MULTILINE)
    listed = re.split(r"\s*(?:\n|;)\s*", text) if re.search(r"[\n;]", text) else _by_comma(text)
    items = [re.sub(r"^(?:and|or|&)\s+", "", item).strip().rstrip(".").strip() for item in listed]
    items = [item for item in items if item]
    short = all(len(re.sub(r"\([^()]*\)", "", item).split()) <= _LONGEST_ITEM for item in items)
    return items if len(items) > 1 and short else []


def _by_comma(text: str) -> list[str]:
    items = _cut(_COMMA, text)
    last = _cut(_LAST, items[-1])
    if len(items) == 1 and len(last) == 2 and any(len(item.split()) > 3 for item in last):
        return [text]  # "loss of contact and of polarity" is one thing said at length
    return [*items[:-1], *last]


def _cut(separator: re.Pattern[str], text: str) -> list[str]:
    """Return what stands between separators outside of brackets."""
    seen = re.sub(r"\([^()]*\)", lambda match: "_" * len(match[0]), text)
    places = [match.span() for match in separator.finditer(seen)]
    starts, ends = [0, *(end for _, end in places)], [*(start for start, _ in places), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def with_synonyms(text: str) -> tuple[str, list[str]]:
    """Return a name and its other names: in brackets, behind "also known as", or behind "or" and "/"."""
    text = _BLANKS.sub(" ", text.strip()).rstrip(".").strip()
    match = re.fullmatch(r"([^()]+?)\s*\(([^()]+)\)", text)
    if match:
        inside = re.sub(
            r"^(?:also known as|also called|also|aka|or|i\.e\.|abbreviated|formerly)\s*:?\s+", "", match[2].strip()
        )
        others = [part.strip() for part in re.split(r"\s*(?:;|,|/|\bor\b|\baka\b)\s*", inside)]
        name, more = with_synonyms(match[1])
        return name, [*more, *(other for other in others if other)]
    parts = re.split(r"\s*,?\s+(?:also known as|also called|a\.?k\.?a\.?|or)\s+|\s+/\s+", text)
    parts = [part.strip() for part in parts if part.strip()]
    return (parts[0], parts[1:]) if len(parts) > 1 else (text, [])


def asked_for(question: str) -> str:
    """Return what a question asks for, such as `number of pairs`; blank where it does not plainly say."""
    match = _ASKED.search(_end(question))
    named = [word for word in words(match["thing"]) if word not in ("the", "a", "an")] if match else []
    if not match or not 1 <= len(named) <= _LONGEST_NAME:
        return ""
    return ("number of " if match["count"] else "") + " ".join(named)


def field_name(question: str, fallback: str) -> str:
    """Return a name for the field that holds the answer to a question."""
    name = re.sub(r"[^a-z0-9]+", "_", asked_for(question).encode("ascii", "ignore").decode()).strip("_")
    usable = re.fullmatch(r"[a-z][a-z0-9_]{1,40}", name) and not is_reserved(name) and not keyword.iskeyword(name)
    return name if usable else fallback


def offered(question: str, answer: str) -> list[str]:
    """Return the answers that a question offers for choice, if the given one is among them."""
    question = _end(question)
    if match := _OPTIONS.search(question):
        options = re.split(r"\s*,\s*(?:or\s+|and\s+)?|\s+or\s+", match[1])
    else:
        either = _EITHER.search(question)
        options = list(either.groups()) if either else []
    options = [option.strip() for option in options if option.strip()]
    known = answer.strip().rstrip(".").casefold() in {option.casefold() for option in options}
    return options if known and 2 <= len(options) <= 20 else []


def _end(question: str) -> str:
    return " ".join(question[-_LAST_PART:].split())


class Notes(NamedTuple):
    """What notes on a question say of single answers.

    Attributes:
        accepted: Other answers that are right.
        rejected: Answers that look right and are not.
    """

    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()


def read_notes(notes: str | None) -> Notes:
    """Return the answers that notes accept or reject: `Accept 'Bcl2' but not 'BCL-XL'`."""
    accepted: list[str] = []
    rejected: list[str] = []
    for sentence in re.split(r"(?<=[.;])\s+|\n", notes or ""):
        keywords = list(_KEYWORD.finditer(sentence))
        ends = [match.end() for match in keywords]
        for match in _QUOTED.finditer(sentence):
            before = bisect(ends, match.start())
            if before:
                (rejected if keywords[before - 1]["refusing"] else accepted).append(match[1].strip())
    return Notes(tuple(dict.fromkeys(accepted)), tuple(dict.fromkeys(rejected)))


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, numbers included."""
    return re.findall(r"[^\W_]+(?:[.,]\d+)*", nfc(text).casefold())


def is_placeholder(value: Any) -> bool:
    """Whether a truth stands for "nothing yet"; zero and False may be real truths."""
    if isinstance(value, str):
        return value.strip().casefold() in PLACEHOLDERS
    return value is None or value == []


def gives_away(text: str, value: Any) -> bool:
    """Whether a text mentions a value that a judge is meant to find by itself. Truth values are never given away."""
    if isinstance(value, bool) or is_placeholder(value):
        return False
    if isinstance(value, int | float):
        figures = re.findall(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w])", text)
        return any(read_number(item.rstrip(",")) == value for item in figures)
    if isinstance(value, list):
        return any(gives_away(text, item) for item in value)
    return isinstance(value, str) and any(_holds(text, form) for form in _spellings(value))


def _spellings(value: str) -> Iterator[str]:
    yield value
    read = read_date(value)
    if read is not None and read.moment is not None and any(character.isdigit() for character in value):
        day = read.moment
        for month in (f"{day:%B}", f"{day:%b}"):
            yield from (f"{month} {day.day} {day.year}", f"{day.day} {month} {day.year}")
        yield day.date().isoformat()


def _holds(text: str, value: str) -> bool:
    wanted, found = words(value), words(text)
    if sum(len(word) for word in wanted) < 2:
        return False
    return any(found[at : at + len(wanted)] == wanted for at in range(len(found) - len(wanted) + 1))
