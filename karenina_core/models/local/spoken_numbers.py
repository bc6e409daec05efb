"""Finds the numbers a text mentions, in digits or in English words."""

from __future__ import annotations

import re
from collections.abc import Iterator

_UNITS = re.findall(
    r"\w+",
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen""",
)
_TENS = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
_VALUES = {word: value for value, word in enumerate(_UNITS)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_DIGITS = re.compile(r"(?<![\w.])[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|(?<![\w.])[-−]?\d{1,18}(?:\.\d{1,15})?(?!\d)")
_MOST_DIGITS = 300
"""A longer number is none that anybody means, and more than Python reads."""
_WORDS = re.compile(
    rf"(?<!\w)(?:{'|'.join([*_VALUES, *_SCALES])})(?:(?:[\s-]+|\s+and\s+)(?:{'|'.join([*_VALUES, *_SCALES])}))*(?!\w)",
    re.IGNORECASE,
)


def numbers(text: str) -> list[float]:
    """Return the numbers in a text, in order; whole ones as `int`.

    `1,234`, `-2.5`, `forty-six` and `two hundred and six` are understood; digits within words such as `BCL2` are not
    numbers.
    """
    written = (match for match in _DIGITS.finditer(text) if match.end() - match.start() <= _MOST_DIGITS)
    found = [(match.start(), _digits(match.group())) for match in written]
    found += [(match.start(), value) for match in _WORDS.finditer(text) for value in _spoken(match.group().lower())]
    return [value for _, value in sorted(found, key=lambda item: item[0])]


def _digits(text: str) -> float:
    plain = text.replace(",", "").replace("−", "-")
    return float(plain) if "." in plain else int(plain)


def _spoken(text: str) -> Iterator[int]:
    """Yield the numbers in a run of number words; `five six` are two."""
    total, part, last = 0, None, 0
    for word in re.findall(r"[a-z]+", text):
        if word in _SCALES:
            scale = _SCALES[word]
            part = (1 if part is None else part) * scale
            if scale > 100:
                total, part = total + part, None
            last = scale
        elif word in _VALUES:
            value = _VALUES[word]
            if part is not None and not (last >= 100 or (last in range(20, 100, 10) and 0 < value < 10)):
                yield total + part
                total, part = 0, None
            part, last = (part or 0) + value, value
    if part is not None or total:
        yield total + (part or 0)
