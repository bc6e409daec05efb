"""Rules on truths that are texts and should rather be numbers, dates, lists or names with synonyms."""

from __future__ import annotations

from typing import Any

from karenina_core.authoring.linter.finding import Context, FieldFix, Said, with_rule
from karenina_core.authoring.linter.truths import converted
from karenina_core.authoring.linter.words import words
from karenina_core.authoring.reading import Figure, read_figure, spread, with_synonyms
from karenina_core.schemas import normalize, quoted, read_date, read_number
from karenina_core.templates import FieldSpec

LONGEST_EXACT = 8  # words; longer texts are hardly ever said the same way twice


def is_list_in_one_text(item: FieldSpec, context: Context) -> Said | None:
    """A list whose single item is a whole enumeration."""
    truth = item.ground_truth
    if item.type != "list_str" or not isinstance(truth, list) or len(truth) != 1 or not isinstance(truth[0], str):
        return None
    items = spread(truth[0])
    if len(items) < 2:
        return None
    return Said(
        f"The list has one item, {quoted(truth[0])}, which looks like {len(items)} items.",
        "The judge lists them one by one, so that no list equals this one.",
        "Make every item an item of the list.",
        FieldFix(f"Make it {len(items)} items", {"ground_truth": items}),
    )


def is_number_in_text(item: FieldSpec, context: Context) -> Said | None:
    """A number that is compared letter by letter."""
    truth = _exact_text(item)
    figure = read_figure(truth) if truth else None
    if figure is None or (truth or "").strip().startswith("0") or figure.is_range or figure.unsure:
        return None
    return Said(
        f"The truth {quoted(truth)} is a number, but it is compared as a text.",
        "Answers such as 23 and 23.0, or one with its unit, are the same number and different texts.",
        "Make the field a number.",
        FieldFix("Make it a number", _numeric(figure)),
    )


def is_date_in_text(item: FieldSpec, context: Context) -> Said | None:
    """A date that is compared letter by letter."""
    truth = _exact_text(item)
    read = read_date(truth) if truth and any(character.isdigit() for character in truth) else None
    if read is None or read.moment is None or (truth and read_number(truth) is not None):
        return None
    day = read.moment.date().isoformat()
    return Said(
        f"The truth {quoted(truth)} is a date, but it is compared as a text.",
        "The same day written in another way would fail.",
        "Compare it as a date.",
        FieldFix("Compare it as a date", {"type": "date", "ground_truth": day, "verify_with": {"type": "DateMatch"}}),
    )


def is_truth_value_in_text(item: FieldSpec, context: Context) -> Said | None:
    """Yes or no, compared letter by letter."""
    truth = _exact_text(item)
    value = converted("bool", truth) if truth and not truth.strip().isdigit() else None
    if value is None:
        return None
    return Said(
        f"The truth {quoted(truth)} is a yes or no, but it is compared as a text.",
        "A judge that writes True instead of yes would fail every answer.",
        "Make the field a yes-or-no field.",
        FieldFix("Make it yes or no", {"type": "bool", "ground_truth": value, "verify_with": {"type": "BooleanMatch"}}),
    )


def is_enumeration_in_text(item: FieldSpec, context: Context) -> Said | None:
    """Several things, compared as one text."""
    truth = _exact_text(item)
    items = spread(truth) if truth else []
    if len(items) < 2 or read_date(truth) is not None or read_figure(truth or "") is not None:
        return None
    rule = {"type": "SetContainment", "mode": "superset", "normalize": ["lowercase", "strip"]}
    return Said(
        f"The truth names {len(items)} things, but is compared as one text.",
        "Another order, or another word between them, would fail.",
        "Make the field a list.",
        FieldFix("Make it a list", {"type": "list_str", "ground_truth": items, "verify_with": rule}),
    )


def is_too_long(item: FieldSpec, context: Context) -> Said | None:
    """A sentence that would have to be said word by word."""
    truth = _exact_text(item)
    if not truth or len(words(truth)) <= LONGEST_EXACT or len(spread(truth)) > 1:
        return None
    return Said(
        f"The truth has {len(words(truth))} words and must be met exactly.",
        "No two answers say a sentence the same way, so right answers fail.",
        "Compare a short name or a number, look for the words that must occur, or ask a yes-or-no question.",
    )


def has_synonym_in_brackets(item: FieldSpec, context: Context) -> Said | None:
    """A truth such as `BCL2 (B-cell lymphoma 2)`, which no answer repeats with its brackets."""
    truth = _exact_text(item)
    name, synonyms = with_synonyms(truth) if truth else ("", [])
    if not truth or not synonyms or len(spread(truth)) > 1:
        return None
    normalizers = list((item.verify_with or {}).get("normalize") or [])
    texts = [entry for entry in normalizers if isinstance(entry, str)]
    mapping = {normalize(synonym, texts): normalize(name, texts) for synonym in synonyms}
    changes = {"ground_truth": name, **with_rule(item, normalize=[*normalizers, {"mapping": mapping}])}
    return Said(
        f"The truth {quoted(truth)} holds a second name in brackets.",
        "An answer that gives one of the names fails.",
        "Keep one name and make the other a synonym.",
        FieldFix(f"Keep {quoted(name)} and make the other a synonym", changes),
    )


def _numeric(figure: Figure) -> dict[str, Any]:
    kind = "int" if isinstance(figure.value, int) else "float"
    return {"type": kind, "ground_truth": figure.value, "verify_with": figure.rule()}


def _exact_text(item: FieldSpec) -> str | None:
    exact = item.type == "str" and (item.verify_with or {}).get("type") == "ExactMatch"
    return item.ground_truth if exact and isinstance(item.ground_truth, str) else None
