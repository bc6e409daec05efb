"""Rules on comparisons of texts, lists and categories that let pass what they should not, or the other way round."""

from __future__ import annotations

import re
from typing import Any

from karenina_core.authoring.linter.finding import Context, FieldFix, Said, with_rule
from karenina_core.schemas import listed, normalized, quoted
from karenina_core.templates import FieldSpec

_BOTH_CASES = ["lowercase", "strip"]


def lets_nothing_pass(item: FieldSpec, context: Context) -> Said | None:
    """`subset`, which an empty list passes."""
    rule = item.verify_with or {}
    if rule.get("type") != "SetContainment" or rule.get("mode") != "subset" or item.options.get("min_length"):
        return None
    return Said(
        "An empty list passes.",
        "It is a subset of every list, so an answer that names nothing is right.",
        "Ask the judge for at least one item: it then reports that nothing was found, which never passes.",
        FieldFix("Ask for at least one item", {"options": {**item.options, "min_length": 1}}),
    )


def expects_nothing(item: FieldSpec, context: Context) -> Said | None:
    """`superset` of an empty list, which every list is."""
    rule = item.verify_with or {}
    if rule.get("type") != "SetContainment" or rule.get("mode") != "superset" or item.ground_truth != []:
        return None
    return Said(
        "Every list passes.",
        "Every list holds all items of an empty one.",
        "Name the expected items, or compare exactly.",
        FieldFix("Compare exactly", with_rule(item, mode="exact")),
    )


def looks_inside_words(item: FieldSpec, context: Context) -> Said | None:
    """A substring of one or two letters: `no` is in `not`."""
    rule = item.verify_with or {}
    substrings = rule.get("substrings") or ([rule["substring"]] if "substring" in rule else [])
    short = [text for text in substrings if len(text.strip()) <= 2 and text.strip().isalnum()]
    if not short or item.own_rule:
        return None
    return Said(
        f"{listed(short)} is so short that it occurs inside of other words.",
        'For example, "no" is found in "not" and in "know".',
        "Look for whole words with a pattern.",
        FieldFix("Look for whole words", {"verify_with": _whole_words(rule, substrings)}),
    )


def _whole_words(rule: dict[str, Any], substrings: list[str]) -> dict[str, Any]:
    bounded = [rf"(?<!\w){re.escape(text.strip())}(?!\w)" for text in substrings]
    if rule["type"] == "TraceContains":
        return {"type": "TraceRegex", "pattern": bounded[0]}
    flags = ["IGNORECASE"] if {"lowercase", "casefold"} & {n for n in rule["normalize"] if isinstance(n, str)} else []
    joined = "|".join(bounded) if rule["type"] == "ContainsAny" else "".join(rf"(?=[\s\S]*{text})" for text in bounded)
    return {"type": "RegexMatch", "pattern": joined, "flags": flags}


def minds_case(item: FieldSpec, context: Context) -> Said | None:
    """A comparison of texts in which capital letters count."""
    rule = item.verify_with or {}
    if rule.get("type") not in ("SetContainment", "ContainsAny", "ContainsAll", "ExactMatch", "OrderedMatch"):
        return None
    known = {name for name in rule["normalize"] if isinstance(name, str)}
    compared = str(rule.get("substrings") or item.ground_truth)
    if {"lowercase", "casefold"} & known or compared.lower() == compared.upper():
        return None
    return Said(
        "Capital letters count.",
        "An answer that differs only in capitals fails.",
        "Put lowercase first among the normalisers, unless case carries meaning here.",
        FieldFix("Ignore case", with_rule(item, normalize=_without_case(rule["normalize"]))),
    )


def _without_case(normalizers: list[Any]) -> list[Any]:
    """Lower-case first, and the maps with it, so that their keys are still found."""
    lowered = [
        {"mapping": {key.lower(): value.lower() for key, value in entry["mapping"].items()}}
        if isinstance(entry, dict)
        else entry
        for entry in normalizers
    ]
    return [*_BOTH_CASES, *(entry for entry in lowered if entry not in _BOTH_CASES)]


def vanishes(item: FieldSpec, context: Context) -> Said | None:
    """A truth of which normalisation leaves nothing."""
    rule = item.primitive
    normalizers = getattr(rule, "normalize", None)
    if not normalizers or "substrings" in (item.verify_with or {}):
        return None
    parts = item.ground_truth if isinstance(item.ground_truth, list) else [item.ground_truth]
    lost = [part for part in parts if isinstance(part, str) and part.strip() and not normalized(part, normalizers)]
    if not lost:
        return None
    return Said(
        f"Nothing is left of {listed(lost)} after normalisation.",
        "Every answer of which nothing is left equals it.",
        "Leave out the normaliser that removes it.",
        _keeping_punctuation(item),
    )


def merges_numbers(item: FieldSpec, context: Context) -> Said | None:
    """A decimal point that is removed: 1.5 becomes 15."""
    rule = item.verify_with or {}
    if "remove_punctuation" not in (rule.get("normalize") or []):
        return None
    compared = str(rule.get("substrings") or item.ground_truth)
    match = re.search(r"\d[.,/:-]\d", compared) or re.search(r"(?<!\w)-\d", compared)
    if match is None:
        return None
    return Said(
        f"Removing punctuation changes the number in {quoted(compared)}.",
        "1.5 and 15 become the same.",
        "Keep punctuation, or compare a number.",
        _keeping_punctuation(item),
    )


def _keeping_punctuation(item: FieldSpec) -> FieldFix:
    stored = [entry for entry in (item.verify_with or {})["normalize"] if entry != "remove_punctuation"]
    return FieldFix("Keep punctuation", with_rule(item, normalize=stored))


def has_one_option(item: FieldSpec, context: Context) -> Said | None:
    """A category without an alternative."""
    if item.type != "literal" or len(item.literal_values) > 1:
        return None
    return Said(
        "There is only one category.",
        "The judge has nothing else to choose, so it names the right one.",
        "Add the categories a wrong answer could give.",
    )


def has_options_alike(item: FieldSpec, context: Context) -> Said | None:
    """Categories that differ only in case or blanks."""
    seen: dict[str, Any] = {}
    for value in item.literal_values if item.type == "literal" else []:
        first = seen.setdefault(str(value).strip().casefold(), value)
        if first is not value:
            kept = item.ground_truth if item.ground_truth in (first, value) else first
            left = [option for option in item.literal_values if option not in (first, value) or option == kept]
            return Said(
                f"The categories {quoted(first)} and {quoted(value)} are the same to a reader.",
                "The judge may choose either, and only one is right.",
                "Keep one of them.",
                FieldFix(f"Keep {quoted(kept)}", {"literal_values": left}),
            )
    return None
