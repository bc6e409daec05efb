"""What rules do, in plain words: one place for pages, reports and explanations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from karenina_core.schemas.primitives.normalizer_words import title
from karenina_core.schemas.primitives.wording import quoted

RULE_WORDS: Mapping[str, str] = {
    "BooleanMatch": "Same yes or no",
    "DateMatch": "Same day",
    "DateTolerance": "Date near enough",
    "DateRange": "Date within bounds",
    "SetContainment": "Items in any order",
    "OrderedMatch": "Same items in order",
    "LiteralMatch": "Same choice",
    "NumericExact": "Same number",
    "NumericTolerance": "Number near enough",
    "NumericRange": "Number within bounds",
    "SemanticMatch": "Similar meaning",
    "ExactMatch": "Same text",
    "ContainsAny": "Contains any of these",
    "ContainsAll": "Contains all of these",
    "RegexMatch": "Fits a pattern",
    "TraceRegex": "Pattern in the response",
    "TraceContains": "Words in the response",
    "TraceLength": "Length of the response",
}
"""The primitives by name."""


def rule_title(name: str) -> str:
    """Return what a rule does, with a capital; one that is unknown keeps its name."""
    return RULE_WORDS.get(name, name)


def rule_help(name: str) -> str | None:
    """Return how a template names a rule, as a sentence; None for a name that is no primitive's."""
    return f"In the template: {name}." if name in RULE_WORDS else None


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
