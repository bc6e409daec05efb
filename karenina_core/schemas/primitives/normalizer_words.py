"""What normalisers do, in plain words: one place for pages, suggestions and explanations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Words(NamedTuple):
    """How people call a normaliser.

    Attributes:
        title: What it does, to be read after "to" and, with a capital, alone.
        meaning: What that makes of two texts.
    """

    title: str
    meaning: str


SYNONYMS = "SynonymMap"
"""Names the normalisers that replace whole texts, each with a mapping of its own."""

NORMALIZER_WORDS: Mapping[str, Words] = {
    "lowercase": Words("ignore capitals", "capitals do not count"),
    "strip": Words("trim the ends", "blanks at both ends do not count"),
    "remove_punctuation": Words("drop punctuation", "ASCII punctuation is deleted, also inside of words and numbers"),
    "collapse_whitespace": Words("merge blanks", "several blanks count as one, and those at the ends do not count"),
    "casefold": Words("ignore capitals in all scripts", "capitals do not count, and “ß” is “ss”"),
    SYNONYMS: Words("replace synonyms", "a text that equals a spelling counts as its meaning"),
}
"""The normalisers by name."""

_STEPS = {"synonym": SYNONYMS}
_OTHER_STEPS = {"Unicode NFC": "Compose letters and accents"}
_EXPECTED = "expected, "


def code_name(normalizer: Any) -> str:
    """Return the name of a normaliser as rules store it: a name, or a mapping of synonyms."""
    return normalizer if isinstance(normalizer, str) else SYNONYMS


def title(normalizer: Any) -> str:
    """Return what a normaliser does, with a capital; an unknown one keeps its name."""
    name = code_name(normalizer)
    known = NORMALIZER_WORDS.get(name)
    return known.title.capitalize() if known else name


def normalizer_of_step(label: str) -> str | None:
    """Return the normaliser that a step of an explanation stands for; None for other steps."""
    name = label.removeprefix(_EXPECTED)
    name = _STEPS.get(name, name)
    return name if name in NORMALIZER_WORDS else None


def step_title(label: str) -> str:
    """Return the label of a step in an explanation in plain words, with a capital."""
    side = "Expected: " if label.startswith(_EXPECTED) else ""
    rest = label.removeprefix(_EXPECTED)
    name = normalizer_of_step(label)
    words = NORMALIZER_WORDS[name].title if name else _OTHER_STEPS.get(rest, rest)
    return f"{side}{words[:1].lower()}{words[1:]}" if side else f"{words[:1].upper()}{words[1:]}"
