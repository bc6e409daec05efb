"""Rules on primitives: whether they suit the field, and whether they let pass what they should not."""

from __future__ import annotations

import re

from karenina_core import patterns
from karenina_core.authoring.linter.finding import Context, FieldFix, Said, with_rule
from karenina_core.authoring.linter.truths import converted
from karenina_core.authoring.patterns_at_risk import can_hang
from karenina_core.schemas import NATURAL, field_kind, listed, quoted
from karenina_core.schemas.primitives import REGISTRY
from karenina_core.templates import FieldSpec

_NO_BOUNDS = {"NumericRange": "number", "DateRange": "date", "TraceLength": "response"}
_LOW_THRESHOLD = 0.5
_USUAL_THRESHOLD = 0.85


def is_unsuited(item: FieldSpec, context: Context) -> Said | None:
    """A primitive that is made for another type of field."""
    kind = None if item.type == "other" else field_kind(item.type)
    rule = None if item.own_rule else REGISTRY.get(_type(item))
    if kind is None or rule is None or not rule.applies_to or kind in rule.applies_to:
        return None
    natural = NATURAL[kind].__name__
    return Said(
        f"{rule.__name__} is not made for the type {kind}.",
        f"It compares {listed(rule.applies_to)}, so that right answers may fail.",
        f"Use {natural}, or change the type of the field.",
        _suited(item, rule.applies_to, natural),
    )


def _suited(item: FieldSpec, kinds: tuple[str, ...], natural: str) -> FieldFix | None:
    """Prefer the type that rule and truth agree on; otherwise the natural rule of the type."""
    names = {"list[str]": "list_str"}
    for kind in kinds:
        value = converted(names.get(kind, kind), item.ground_truth)
        if value is not None and type(value) is type(item.ground_truth) and kind != "literal":
            return FieldFix(f"Make the field {kind}", {"type": names.get(kind, kind)})
    value = converted(item.type, item.ground_truth)
    if value is None:
        return None
    return FieldFix(f"Use {natural}", {"ground_truth": value, "verify_with": {"type": natural}})


def finds_nothing_everywhere(item: FieldSpec, context: Context) -> Said | None:
    """A pattern that matches the empty text and thereby every text."""
    pattern = _pattern(item)
    if pattern is None or not _matches(pattern, "", _flags(item)):
        return None
    return Said(
        f"The pattern {quoted(pattern)} matches also where there is nothing.",
        "It is found in every text, so the rule decides nothing.",
        "Ask for at least one character: write + instead of *, and leave out ? around the whole.",
        _stricter(item, pattern),
    )


def _stricter(item: FieldSpec, pattern: str) -> FieldFix | None:
    changed = re.sub(r"(?<!\\)\*", "+", pattern)
    try:
        patterns.validate(changed, _flags(item))
    except ValueError:
        return None
    if changed == pattern or _matches(changed, "", _flags(item)):
        return None
    return FieldFix(f"Write {changed}", with_rule(item, pattern=changed))


def may_hang(item: FieldSpec, context: Context) -> Said | None:
    """A pattern whose repetitions multiply."""
    pattern = _pattern(item)
    if pattern is None or not can_hang(pattern):
        return None
    return Said(
        f"The pattern {quoted(pattern)} repeats a repetition.",
        "On some texts such a search takes practically forever; it is stopped, and the answer has no verdict.",
        "Repeat only once, for example a+ instead of (a+)+.",
    )


def is_relative_to_zero(item: FieldSpec, context: Context) -> Said | None:
    """A relative tolerance around zero, which is none."""
    rule = item.verify_with or {}
    relative = rule.get("type") == "NumericTolerance" and rule.get("mode") == "relative"
    if not relative or isinstance(item.ground_truth, bool) or item.ground_truth != 0 or not rule.get("tolerance"):
        return None
    return Said(
        "A tolerance relative to zero is no tolerance.",
        "Only exactly zero passes.",
        "Give the tolerance in the unit of the field.",
        FieldFix(f"Allow ±{rule['tolerance']:g}", with_rule(item, mode="absolute")),
    )


def is_more_than_everything(item: FieldSpec, context: Context) -> Said | None:
    """A relative tolerance that was meant in percent."""
    rule = item.verify_with or {}
    tolerance = rule.get("tolerance")
    if rule.get("type") != "NumericTolerance" or rule.get("mode") != "relative" or not tolerance or tolerance < 1:
        return None
    return Said(
        f"The tolerance {tolerance:g} means {tolerance * 100:g} %.",
        "Even zero would pass.",
        "Write 0.05 for five percent.",
        FieldFix(f"Make it {tolerance:g} %", with_rule(item, tolerance=tolerance / 100)) if tolerance < 100 else None,
    )


def allows_nothing_more(item: FieldSpec, context: Context) -> Said | None:
    """A tolerance on a whole number that is smaller than one."""
    rule, truth = item.verify_with or {}, item.ground_truth
    if rule.get("type") != "NumericTolerance" or item.type != "int" or isinstance(truth, bool):
        return None
    if not isinstance(truth, int) or not truth:
        return None
    allowed = rule["tolerance"] * (abs(truth) if rule["mode"] == "relative" else 1)
    if allowed >= 1:
        return None
    return Said(
        f"The tolerance allows only {truth} itself.",
        f"The field holds whole numbers, and {allowed:.3g} is less than one.",
        "Compare exactly, or widen the tolerance.",
        FieldFix("Compare exactly", {"verify_with": {"type": "NumericExact"}}),
    )


def compares_decimals_exactly(item: FieldSpec, context: Context) -> Said | None:
    """A decimal number that must be met digit by digit."""
    truth = item.ground_truth
    if _type(item) != "NumericExact" or item.type != "float" or not isinstance(truth, float) or truth.is_integer():
        return None
    return Said(
        f"The decimal number {truth!r} must be met exactly.",
        "An answer with one digit more or less fails.",
        "Allow a tolerance.",
        FieldFix("Allow 0.1 %", {"verify_with": {"type": "NumericTolerance", "tolerance": 0.001, "mode": "relative"}}),
    )


def has_no_bounds(item: FieldSpec, context: Context) -> Said | None:
    """A range without an end."""
    rule = item.verify_with or {}
    thing = _NO_BOUNDS.get(str(rule.get("type")))
    if thing is None or rule.get("min") is not None or rule.get("max") is not None:
        return None
    return Said(f"{rule['type']} has no bounds.", f"Every {thing} passes.", "Set the least or greatest value.")


def needs_embeddings(item: FieldSpec, context: Context) -> Said | None:
    """`SemanticMatch` in a run without the embedding check."""
    if not item.is_semantic or context.config is None or context.config.embedding_check_enabled:
        return None
    return Said(
        "SemanticMatch needs the embedding check, which is off.",
        "The field cannot be decided, so the answer has no verdict.",
        "Switch the embedding check on when you configure the run, or choose another rule.",
    )


def accepts_unlike(item: FieldSpec, context: Context) -> Said | None:
    """A similarity threshold that unrelated texts reach."""
    threshold = (item.verify_with or {}).get("threshold")
    if not item.is_semantic or threshold is None or threshold >= _LOW_THRESHOLD:
        return None
    return Said(
        f"The threshold {threshold:g} is low.",
        "Texts on the same subject that say the opposite are often this similar.",
        "Use 0.8 or more, and try it on stored answers.",
        FieldFix(f"Use {_USUAL_THRESHOLD}", with_rule(item, threshold=_USUAL_THRESHOLD)),
    )


def _type(item: FieldSpec) -> str:
    return str((item.verify_with or {}).get("type"))


def _pattern(item: FieldSpec) -> str | None:
    return None if item.own_rule else (item.verify_with or {}).get("pattern")


def _flags(item: FieldSpec) -> list[str]:
    return list((item.verify_with or {}).get("flags") or [])


def _matches(pattern: str, text: str, flags: list[str]) -> bool:
    return bool(patterns.found(pattern, text, flags))
