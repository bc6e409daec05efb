"""How values, rules and normalisers are put into words, for pages, reports and explanations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from karenina_core.schemas.primitives.base import REGISTRY, Explanation, Step

LONGEST_VALUE = 200  # characters of one value
MOST_ITEMS = 5  # items of one list
NOTHING_EXTRACTED = "Nothing was extracted, which never passes."


def quoted(value: Any) -> str:
    """Return `value` as people read it: strings in double quotes, long ones shortened."""
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= LONGEST_VALUE else f'"{_cut(value)}"'
    try:
        text = repr(value)
    except ValueError:  # an int of more digits than Python prints
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= LONGEST_VALUE else _cut(text)


def listed(values: Iterable[Any]) -> str:
    """Return several values in one line, the first few of them."""
    shown = [quoted(value) for value in values]
    more = f" and {len(shown) - MOST_ITEMS} more" if len(shown) > MOST_ITEMS else ""
    return ", ".join(shown[:MOST_ITEMS]) + more


def number(value: float) -> str:
    """Return a number without the noise of binary fractions: `0.05`, not `0.05000000000000004`."""
    if isinstance(value, int) or not math.isfinite(value):
        return quoted(value)
    return f"{value:.10g}"


def within(low: str | None, high: str | None) -> str:
    """Return bounds in words, to follow "is" or "is not"."""
    if low and high:
        return f"between {low} and {high}"
    if low:
        return f"at least {low}"
    return f"at most {high}" if high else "anything, as no bounds are set"


def failed(reason: str, *steps: Step) -> Explanation:
    """Return the explanation of a value that does not pass."""
    return Explanation(False, steps, reason)


def _cut(text: str) -> str:
    return f"{text[:LONGEST_VALUE]}…"


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


def rule_title(name: str) -> str:
    """Return what a rule does, with a capital; one that is unknown keeps its name."""
    return REGISTRY[name].title or name if name in REGISTRY else name


def rule_help(name: str) -> str | None:
    """Return how a template names a rule, as a sentence; None for a name that is no primitive's."""
    return f"In the template: {name}." if name in REGISTRY else None


def rule_in_words(rule: Mapping[str, Any]) -> str:
    """Return a rule in its stored form with its settings, such as `Same text: ignore capitals`."""
    settings = ", ".join(_settings(rule))
    return rule_title(str(rule["type"])) + (f": {settings}" if settings else "")


def _settings(rule: Mapping[str, Any]) -> Iterator[str]:
    for name, value in rule.items():
        if name == "normalize" and isinstance(value, list):
            yield from (title(part).lower() for part in value)
        elif name != "type" and value not in (None, False, "", []):
            shown = value if isinstance(value, str) and value.isidentifier() else quoted(value)
            yield f"{name.replace('_', ' ')} {shown}"
