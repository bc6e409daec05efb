"""What each primitive does to its two sides, step by step. The verdict itself is always the primitive's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from karenina_core import patterns
from karenina_core.authoring.steps import Chain, Link, chain
from karenina_core.schemas import as_text, listed, nfc, normalize, number, quoted, read_date, read_number, truth, within
from karenina_core.schemas.primitives import (
    BooleanMatch,
    ContainsAll,
    ContainsAny,
    DateMatch,
    DateRange,
    DateTolerance,
    ExactMatch,
    Explanation,
    LiteralMatch,
    Normalizer,
    NumericExact,
    NumericRange,
    NumericTolerance,
    OrderedMatch,
    RegexMatch,
    SetContainment,
    SynonymMap,
    TraceContains,
    TraceLength,
    TracePrimitive,
    TraceRegex,
    VerificationPrimitive,
)
from karenina_core.text import counted

_MANY = 5  # entries of a list shown in one line


class Comparison(NamedTuple):
    """Both sides of a rule and how they compare."""

    found: Chain
    relation: str
    target: str
    expected: Chain | None


def compared(rule: VerificationPrimitive, value: Any, expected: Any, told: Explanation) -> Comparison:
    """Return the steps of both sides.

    Args:
        rule: The rule.
        value: What was extracted.
        expected: The ground truth.
        told: What the rule says of the two.
    """
    equal = "==" if told.passed else "≠"
    match rule:
        case ExactMatch() | OrderedMatch():
            return _two_sides(_texts(value, rule.normalize), equal, _texts(expected, rule.normalize))
        case SetContainment():
            relation = _set_relation(rule, told.passed)
            return _two_sides(_texts(value, rule.normalize), relation, _texts(expected, rule.normalize))
        case BooleanMatch():
            return _two_sides(_truth(value), equal, _truth(expected))
        case LiteralMatch():
            return _two_sides(Chain(quoted(value)), equal, Chain(quoted(expected)))
        case NumericExact():
            return _two_sides(_number(value), equal, _number(expected))
        case DateMatch():
            return _two_sides(_date(rule, value), equal, _date(rule, expected))
        case NumericTolerance():
            return _tolerance(rule, value, expected, told)
        case DateTolerance():
            return _date_tolerance(rule, value, expected, told)
        case NumericRange():
            bounds = within(*(None if bound is None else number(bound) for bound in (rule.min, rule.max)))
            return Comparison(_number(value), "is" if told.passed else "is not", bounds, None)
        case DateRange():
            bounds = within(
                *(None if text is None else str(read_date(text, None, rule.dayfirst)) for text in (rule.min, rule.max))
            )
            return Comparison(_date(rule, value), "is" if told.passed else "is not", bounds, None)
        case ContainsAny() | ContainsAll():
            return _contains(rule, value, told.passed)
        case RegexMatch():
            return Comparison(Chain(quoted(value)), "matches" if told.passed else "does not match", rule.pattern, None)
    links = [Link(step.label, step.after) for step in told.steps]
    relation = "passes" if told.passed else "does not pass"
    used = Chain(quoted(expected)) if rule.uses_ground_truth else None
    return Comparison(chain(quoted(value), links), relation, f"{type(rule).__name__} with {quoted(expected)}", used)


def traced(rule: TracePrimitive, response: str, holds: bool, wanted: bool) -> Comparison:
    """Return the steps of a rule that reads the response; it passes when it holds and shall, or neither."""
    start = f"the response of {counted(len(response), 'character')}"
    found = chain(start, [*_trace_links(rule, response), Link("holds", str(holds))])
    return Comparison(found, "==" if holds == wanted else "≠", str(wanted), Chain(str(wanted)))


def _trace_links(rule: TracePrimitive, response: str) -> Iterator[Link]:
    match rule:
        case TraceRegex():
            amount = patterns.count(rule.pattern, response)
            yield Link(f"search {rule.pattern}", counted(amount, "place"))
            if rule.count_min is not None:
                yield Link(f"{rule.count_min} or more are needed", counted(amount, "place"), changed=False)
        case TraceContains():
            yield Link(f"look for {quoted(rule.substring)}", counted(nfc(response).count(nfc(rule.substring)), "place"))
        case TraceLength():
            length = len(response) if rule.unit == "chars" else len(response.split())
            noun = {"chars": "character", "words": "word"}[rule.unit]
            yield Link(f"count {noun}s", counted(length, noun))
            bounds = within(*(None if bound is None else str(bound) for bound in (rule.min, rule.max)))
            yield Link(f"must be {bounds}", counted(length, noun))


def _two_sides(found: Chain, relation: str, expected: Chain) -> Comparison:
    return Comparison(found, relation, expected.output, expected)


def _texts(value: Any, normalizers: Sequence[Normalizer]) -> Chain:
    """Follow a text, or all texts of a list at once, through the normalisers."""
    if not isinstance(value, list | tuple | set | frozenset):
        text = as_text(value)
        links = [] if text is None or isinstance(value, str) else [Link("as text", quoted(text))]
        return (
            Chain(quoted(value))
            if text is None
            else chain(quoted(value), [*links, *_normalized([text], normalizers, False)])
        )
    items = list(value)
    return chain(_shown(items), _normalized(items, normalizers, True))


def _normalized(items: list[Any], normalizers: Sequence[Normalizer], is_list: bool) -> Iterator[Link]:
    steps: list[tuple[str, Sequence[Normalizer]]] = [("Unicode NFC", [])]
    steps += [("SynonymMap" if isinstance(entry, SynonymMap) else entry, [entry]) for entry in normalizers]
    for name, step in steps:
        after = [normalize(item, step) if isinstance(item, str) else item for item in items]
        if name != "Unicode NFC" or after != items:
            yield Link(name, _shown(after) if is_list else quoted(after[0]), changed=after != items)
        items = after


def _shown(items: Iterable[Any]) -> str:
    shown = [quoted(item) for item in items]
    more = ", …" if len(shown) > _MANY else ""
    return f"[{', '.join(shown[:_MANY])}{more}]"


def _set_relation(rule: SetContainment, passed: bool) -> str:
    match rule.mode:
        case "subset":
            return "has only items of" if passed else "has items that are not in"
        case "superset":
            return "has every item of" if passed else "lacks items of"
        case "overlap":
            return (
                f"shares {rule.min_overlap or 1} or more with"
                if passed
                else f"shares fewer than {rule.min_overlap or 1} with"
            )
    return "has the same items as" if passed else "has other items than"


def _truth(value: Any) -> Chain:
    links = [] if isinstance(value, bool) else [Link("read as a truth value", quoted(truth(value)))]
    return chain(quoted(value), links)


def _number(value: Any) -> Chain:
    read = read_number(value)
    links = [Link("read as a number", "none" if read is None else quoted(read))] if isinstance(value, str) else []
    return chain(quoted(value), links)


def _date(rule: DateMatch | DateTolerance | DateRange, value: Any) -> Chain:
    read = read_date(value, rule.format if isinstance(rule, DateMatch) else None, rule.dayfirst)
    shown = "none" if read is None else str(read)
    return chain(quoted(value), [Link("read as a date", shown)])


def _tolerance(rule: NumericTolerance, value: Any, expected: Any, told: Explanation) -> Comparison:
    found, wanted = read_number(value), read_number(expected)
    side = _number(value)
    if found is None or wanted is None:
        return Comparison(side, "is not near", quoted(expected), _number(expected))
    relative = rule.mode == "relative"
    allowed = f"{rule.tolerance * 100:.10g} %" if relative else number(rule.tolerance)
    link = Link(f"distance from {quoted(wanted)}", _distance(found, wanted, relative))
    return Comparison(chain(side.input, [*side.links, link]), "≤" if told.passed else ">", allowed, _number(expected))


def _distance(found: Any, wanted: Any, relative: bool) -> str:
    try:
        distance = abs(found - wanted)
        if not relative:
            return number(distance)
        return f"{distance / abs(wanted) * 100:.10g} %" if wanted else f"{number(distance)}, of 0"
    except OverflowError:
        return "more than a float can hold"


def _date_tolerance(rule: DateTolerance, value: Any, expected: Any, told: Explanation) -> Comparison:
    side, other = _date(rule, value), _date(rule, expected)
    apart = next((step.after for step in told.steps if step.label == "distance"), None)
    if apart is None:
        return Comparison(side, "==" if told.passed else "is not near", other.output, other)
    link = Link(f"distance from {other.output}", apart)
    allowed = counted(rule.tolerance, rule.unit.removesuffix("s"))
    return Comparison(chain(side.input, [*side.links, link]), "≤" if told.passed else ">", allowed, other)


def _contains(rule: ContainsAny | ContainsAll, value: Any, passed: bool) -> Comparison:
    side = _texts(value, rule.normalize)
    text = as_text(value)
    wanted = [normalize(item, rule.normalize) for item in rule.substrings]
    here = [item for item in wanted if text is not None and item in normalize(text, rule.normalize)]
    if passed:
        return Comparison(side, "contains", listed(here), None)
    if isinstance(rule, ContainsAny):
        return Comparison(side, "contains none of", listed(wanted), None)
    return Comparison(side, "does not contain", listed(item for item in wanted if item not in here), None)
