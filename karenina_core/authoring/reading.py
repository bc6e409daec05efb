"""What a short answer written by a person means: a number with its unit, several things, a name with synonyms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from karenina_core.schemas import Number

_NUMBER = r"[+\-−–]?(?:\d{1,3}(?:[,\u00a0\u202f' ]\d{3})+|\d+)(?:\.\d+)?|[+\-−–]?\.\d+"
_POWER = r"\s*(?:[eE]|[x×·*]\s*10\s*\^?)\s*(?P<exponent>[+\-−–]?[\d⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)"
_UNIT = r"(?P<unit>%|[°$€£µμΩÅ]?[^\W\d_][\w°/^%·\-⁻¹²³()]*(?:\s+[^\W\d_][\w/%\-()]*){0,3}|[°$€£µμΩÅ]\w*)"
_ABOUT = r"(?P<about>(?:about|around|approximately|approx\.?|roughly|ca\.?|circa|some|nearly|~|≈|≃)\s*)"
_SIGN = r"(?P<sign>≥|>=|≤|<=|<|>|at least|at most|more than|less than|over|under|up to|no more than|no less than)"
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
_ONE_SIDED = re.compile(rf"{_SIGN}\s*(?P<number>{_NUMBER})(?:\s*{_UNIT})?\.?", re.IGNORECASE)
_BLANKS = re.compile(r"[^\S\n]+")
_COMMA = re.compile(r"(?<!\d),\s*|,(?!\d)\s*")
_LAST = re.compile(r"\s+(?:and|&)\s+")
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−–", "0123456789-+--")
_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = {
    word: 20 + 10 * at
    for at, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"])
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_LONGEST_ITEM = 6  # words of one thing in an enumeration
_ROUGHLY = 0.1  # how far off "about 20" may be: a tenth
_DIGITS = 0.001  # how far off a decimal number may be: as rounding in its fourth digit


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
        if self.about and self.value:
            return {"type": "NumericTolerance", "tolerance": _ROUGHLY, "mode": "relative"}
        if isinstance(self.value, int) or not self.value:
            return {"type": "NumericExact"}
        return {"type": "NumericTolerance", "tolerance": _DIGITS, "mode": "relative"}


def read_figure(text: str) -> Figure | None:
    """Return the number that a whole text gives, or None where the text is anything else."""
    text = " ".join(text.split())
    if len(text) > 80:
        return None
    if match := _ONE_SIDED.fullmatch(text):
        return _bound(match)
    if match := _SINGLE.fullmatch(text):
        return _single(match)
    if match := _BETWEEN.fullmatch(text):
        low, high = _plain(match["low"]), _plain(match["high"].lstrip("-–−"))
        if low < high:
            return Figure(low, _unit(match), bool(match["about"]), low=low, high=high, is_range=True)
    return _spoken(text)


def _bound(match: re.Match[str]) -> Figure:
    value = _plain(match["number"])
    upper = match["sign"].lower() in ("≤", "<=", "<", "at most", "less than", "under", "up to", "no more than")
    low, high = (None, value) if upper else (value, None)
    return Figure(value, _unit(match), low=low, high=high, is_range=True)


def _single(match: re.Match[str]) -> Figure:
    value: Number = _plain(match["number"])
    if match["exponent"]:
        value = float(f"{value!r}e{int(match['exponent'].translate(_SUPERSCRIPT))}")
        value = int(value) if value.is_integer() and abs(value) < 1e15 else value
    margin = float(match["margin"]) if match["margin"] else None
    unit = (match["money"] or "").strip() or _unit(match)
    scale = _SCALES.get(unit.casefold().partition(" ")[0], 0)
    if scale:
        value, unit = value * scale, unit.partition(" ")[2]
        value = int(value) if float(value).is_integer() else value
    unsure = re.fullmatch(r"[+-]?\d{1,3},\d{3}", match["number"]) is not None
    return Figure(value, unit, bool(match["about"]), margin, unsure=unsure)


def _unit(match: re.Match[str]) -> str:
    return (match["unit"] or "").strip().rstrip(".")


def _plain(text: str) -> Number:
    text = re.sub(r"[,\u00a0\u202f' ]", "", text.translate(_SUPERSCRIPT))
    return float(text) if "." in text else int(text)


def _spoken(text: str) -> Figure | None:
    """Read a number in words, such as `twenty-three pairs` or `four (4)`."""
    parts = re.sub(r"\s*\(\d+\)", "", text.casefold()).replace("-", " ").rstrip(".").split()
    total, current, used = 0, 0, 0
    for word in parts:
        if word in _ONES:
            current += _ONES.index(word)
        elif word in _TENS:
            current += _TENS[word]
        elif word in _SCALES and used:
            current *= _SCALES[word]
            total, current = (total + current, 0) if _SCALES[word] > 100 else (total, current)
        elif not (word == "and" and used):
            break
        used += 1
    rest = parts[used:]
    if not used or len(rest) > 3 or (rest and not all(word.isalpha() for word in rest)):
        return None
    return Figure(total + current, " ".join(rest))


def spoken(number: int) -> str:
    """Return a number from 0 to 99 in words."""
    if number < len(_ONES):
        return _ONES[number]
    ten = next(word for word, value in _TENS.items() if value == number // 10 * 10)
    return ten if number % 10 == 0 else f"{ten}-{_ONES[number % 10]}"


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
    pieces = re.split(r"([()])", text)
    closed = [*pieces[1::2], ""]
    hidden = ("_" * len(piece) if end == ")" else piece for piece, end in zip(pieces[::2], closed, strict=True))
    seen = "".join(piece + end for piece, end in zip(hidden, closed, strict=True))
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
