"""Variants of a truth that answers really give: written otherwise, nearly right, plainly wrong."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any

from karenina_core.authoring.measured_variants import (
    NOT_IT,
    Expected,
    Variant,
    bound_variants,
    date_bound_variants,
    date_variants,
    length_variants,
    number_variants,
)
from karenina_core.schemas.primitives import (
    ContainsAll,
    ContainsAny,
    DateMatch,
    DateRange,
    DateTolerance,
    ExactMatch,
    LiteralMatch,
    NumericExact,
    NumericRange,
    NumericTolerance,
    OrderedMatch,
    Primitive,
    SetContainment,
    SynonymMap,
    TraceContains,
    TraceLength,
    TraceRegex,
)
from karenina_core.templates import FieldSpec

_MEANINGFUL = set(r".^$*+?{}[]\|()")


def variants(item: FieldSpec) -> Iterator[Variant]:
    """Yield variants for a field with a built-in rule; the truth itself first, where there is one."""
    match rule := item.primitive:
        case ExactMatch():
            yield from _texts(item.ground_truth, rule)
        case ContainsAny() | ContainsAll():
            yield from _parts(rule)
        case NumericExact() | NumericTolerance():
            yield from number_variants(item, rule)
        case NumericRange():
            yield from bound_variants(item, rule)
        case SetContainment() | OrderedMatch():
            yield from _lists(item.ground_truth, rule)
        case LiteralMatch():
            yield from _categories(item)
        case DateMatch() | DateTolerance():
            yield from date_variants(item.ground_truth, rule)
        case DateRange():
            yield from date_bound_variants(rule)
        case TraceContains() | TraceRegex() | TraceLength():
            yield from _responses(rule, bool(item.ground_truth))
            return
        case _:
            yield Variant("the truth itself", item.ground_truth, "either" if _ignores_truth(rule) else "pass")
            if item.type == "bool" and isinstance(item.ground_truth, bool):
                yield Variant("the opposite", not item.ground_truth, "fail")
    if item.type in ("str", "date"):
        yield Variant("an empty text", "", "fail")
    yield Variant("nothing found", None, "fail")


def _ignores_truth(rule: Primitive | None) -> bool:
    return not getattr(rule, "uses_ground_truth", True)


def _texts(truth: Any, rule: ExactMatch) -> Iterator[Variant]:
    names = {entry for entry in rule.normalize if isinstance(entry, str)}
    yield Variant("the truth itself", truth, "pass")
    if not isinstance(truth, str) or not truth.strip():
        return
    case: Expected = "pass" if names & {"lowercase", "casefold"} else "either"
    blanks: Expected = "pass" if names & {"strip", "collapse_whitespace"} else "either"
    written = [("in capitals", truth.upper(), case), ("in lower case", truth.lower(), case)]
    written += [("with blanks around it", f"  {truth} ", blanks), ("with a full stop", f"{truth}.", "either")]
    written += [("in quotes", f'"{truth}"', "either"), ("in a sentence", f"The answer is {truth}", "either")]
    written += [("without punctuation", truth.translate(str.maketrans("", "", string.punctuation)), "either")]
    written += [("with a hyphen for a blank", truth.replace(" ", "-"), "either"), (*_counted(truth), "either")]
    yield from (Variant(*entry) for entry in written if entry[1] != truth)
    for key in [key for entry in rule.normalize if isinstance(entry, SynonymMap) for key in entry.mapping]:
        yield Variant("a synonym", key, "either")
    yield Variant("with something more", f"{truth} {NOT_IT}", "fail")
    if len(truth) > 1:
        yield Variant("without its last letter", truth[:-1], "either" if truth.endswith("s") else "fail")
    yield Variant("something else", NOT_IT, "fail")


def _counted(truth: str) -> tuple[str, str]:
    return ("in the singular", truth[:-1]) if truth.endswith("s") else ("in the plural", f"{truth}s")


def _parts(rule: ContainsAny | ContainsAll) -> Iterator[Variant]:
    together = " and ".join(rule.substrings)
    lowered = {"lowercase", "casefold"} & {entry for entry in rule.normalize if isinstance(entry, str)}
    case: Expected = "pass" if lowered else "either"
    yield Variant("all of them", together, "pass")
    if together.upper() != together:
        yield Variant("all of them in capitals", together.upper(), case)
    alone: Expected = "pass" if isinstance(rule, ContainsAny) or len(rule.substrings) == 1 else "fail"
    for text in rule.substrings:
        yield Variant(f"only {text}", text, alone)
    yield Variant("all of them denied", f"not {together}", "either")
    yield Variant("inside of a longer word", f"x{rule.substrings[0]}x", "either")
    yield Variant("something else", NOT_IT, "fail" if not any(text in NOT_IT for text in rule.substrings) else "either")


def _lists(truth: Any, rule: SetContainment | OrderedMatch) -> Iterator[Variant]:
    yield Variant("the truth itself", truth, "pass")
    if not isinstance(truth, list) or not truth:
        return
    ordered = isinstance(rule, OrderedMatch)
    lowered = {"lowercase", "casefold"} & {entry for entry in rule.normalize if isinstance(entry, str)}
    missing, extra = _list_expectations(rule)
    turned = list(reversed(truth))
    if turned != truth:
        yield Variant("in another order", turned, "fail" if ordered else "pass")
    capitals = [item.upper() if isinstance(item, str) else item for item in truth]
    if capitals != truth:
        yield Variant("in capitals", capitals, "pass" if lowered else "either")
    yield Variant("with an item twice", [*truth, truth[0]], "fail" if ordered else "pass")
    yield Variant("with one item missing", truth[1:], missing if len(truth) > 1 else "fail")
    yield Variant("with one item more", [*truth, NOT_IT], extra)
    yield Variant("with one item replaced", [NOT_IT, *truth[1:]], "either" if _is_overlap(rule) else "fail")
    yield Variant("only something else", [NOT_IT], "fail")
    yield Variant("as one text", ", ".join(map(str, truth)), "either")
    yield Variant("an empty list", [], "fail")


def _list_expectations(rule: SetContainment | OrderedMatch) -> tuple[Expected, Expected]:
    if isinstance(rule, OrderedMatch):
        return "fail", "fail"
    table: dict[str, tuple[Expected, Expected]] = {
        "exact": ("fail", "fail"),
        "subset": ("pass", "fail"),
        "superset": ("fail", "pass"),
        "overlap": ("either", "either"),
    }
    return table[rule.mode]


def _is_overlap(rule: SetContainment | OrderedMatch) -> bool:
    return isinstance(rule, SetContainment) and rule.mode == "overlap"


def _categories(item: FieldSpec) -> Iterator[Variant]:
    yield Variant("the truth itself", item.ground_truth, "pass")
    for value in item.literal_values:
        if value != item.ground_truth:
            yield Variant("another category", value, "fail")
    if isinstance(item.ground_truth, str) and item.ground_truth.swapcase() not in (
        item.ground_truth,
        *item.literal_values,
    ):
        yield Variant("in other capitals", item.ground_truth.swapcase(), "either")
    yield Variant("no category of the list", NOT_IT, "fail")


def _responses(rule: TraceContains | TraceRegex | TraceLength, wanted: bool) -> Iterator[Variant]:
    right: Expected = "pass" if wanted else "fail"
    wrong: Expected = "fail" if wanted else "pass"
    if isinstance(rule, TraceLength):
        yield from length_variants(rule, right, wrong)
        return
    text = rule.substring if isinstance(rule, TraceContains) else rule.pattern
    if isinstance(rule, TraceContains) or not set(text) & _MEANINGFUL:
        times = getattr(rule, "count_min", None) or 1
        yield Variant("a response with it", " and ".join([f"It says {text}"] * times) + ".", right)
        if times > 1:
            yield Variant("a response with it once", f"It says {text}.", wrong)
        if text.swapcase() != text:
            yield Variant("a response with it in other capitals", f"It says {text.swapcase()}.", "either")
        yield Variant("a response without it", "…", wrong if text not in "…" else "either")
    yield Variant("an empty response", "", "either" if isinstance(rule, TraceRegex) else wrong)
