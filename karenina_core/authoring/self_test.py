"""`near_misses`: a self-test of a template with variants of its truth that answers really give."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal, NamedTuple

from karenina_core.authoring.explanations import FieldSteps, Subject, explain_field, template_of
from karenina_core.errors import InputError
from karenina_core.schemas import read_date
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
    SetContainment,
    SynonymMap,
    TraceContains,
    TraceLength,
    TraceRegex,
)
from karenina_core.templates import FieldSpec, Template

Expected = Literal["pass", "fail", "either"]
"""What an author will want; `either` where that is a matter of taste."""
Verdict = Literal["pass", "fail", "refused", "undecided"]
"""`refused`: the value does not fit the type, so the judge is asked again. `undecided`: only a run can tell."""
_WRONG = "something else entirely"
_ORDER: dict[Verdict, int] = {"pass": 0, "undecided": 1, "fail": 2, "refused": 3}
_SURPRISES: dict[Expected, tuple[Verdict, ...]] = {"pass": ("fail", "refused"), "fail": ("pass",), "either": ()}
_LISTS: dict[str, tuple[Expected, Expected]] = {
    "exact": ("fail", "fail"),
    "subset": ("pass", "fail"),
    "superset": ("fail", "pass"),
    "overlap": ("either", "either"),
}
"""What becomes of a list with one item missing, and of one with an item more, by mode."""


class Variant(NamedTuple):
    """A value a judge may extract, or a response for rules that read it.

    Attributes:
        label: How it differs from the truth, in words.
        value: The value.
        expected: What an author will want of it.
    """

    label: str
    value: Any
    expected: Expected


@dataclass(frozen=True)
class Case:
    """One row of the self-test: one field varied, its verdict as the template decides it.

    Attributes:
        field: The field.
        label: How the value differs from the truth.
        values: What the judge extracts: the variant, and the truth in the other fields.
        response: The response, for rules that read it; otherwise None.
        expected: What an author will want.
        verdict: What the rule of the field says.
        steps: How it came to that; None where the value is refused.
    """

    field: str
    label: str
    values: Mapping[str, Any]
    response: str | None
    expected: Expected
    verdict: Verdict
    steps: FieldSteps | None = None

    @property
    def surprising(self) -> bool:
        """Whether the verdict is not what an author will want."""
        return self.verdict in _SURPRISES[self.expected]


def near_misses(template: Subject, *, accepted: Sequence[Any] = (), rejected: Sequence[Any] = ()) -> list[Case]:
    """Return how a template decides on variants of its own truth, surprises first, then what passes.

    Fields without a built-in rule have no variants: what they expect is in the template's own code.

    Args:
        template: The template.
        accepted: Further values that must pass in its text fields, such as notes name them.
        rejected: Values that must fail in its text fields.

    Raises:
        TemplateError: The template cannot be read.
        InputError: It verifies nothing.
    """
    read = template_of(template)
    notes = [Variant("accepted by the notes", value, "pass") for value in accepted]
    notes += [Variant("rejected by the notes", value, "fail") for value in rejected]
    cases = []
    for item in read.spec.fields:
        if item.primitive is not None:
            every = [*(notes if item.type == "str" else ()), *variants(item)]
            # 1, 1.0 and True are equal, and still different variants.
            unique = {(type(variant.value), repr(variant.value)): variant for variant in reversed(every)}
            cases += [_case(read, item, variant) for variant in reversed(unique.values())]
    return sorted(cases, key=lambda case: (not case.surprising, _ORDER[case.verdict]))


def _case(template: Template, item: FieldSpec, variant: Variant) -> Case:
    values = {other.name: other.ground_truth for other in template.spec.verified}
    if item.is_trace:
        steps = explain_field(item, None, variant.value)
        verdict: Verdict = "undecided" if steps.result is None else "pass" if steps.result else "fail"
        return Case(item.name, variant.label, values, variant.value, variant.expected, verdict, steps)
    values[item.name] = variant.value
    try:
        reply = dict.fromkeys(other.name for other in template.spec.judged) | {item.name: variant.value}
        value = template.validate_reply(reply)[item.name]
    except InputError:
        return Case(item.name, variant.label, values, None, variant.expected, "refused")
    steps = explain_field(item, value)
    verdict = "pass" if steps.result else "fail" if steps.result is False or value is None else "undecided"
    return Case(item.name, variant.label, values, None, variant.expected, verdict, steps)


def variants(item: FieldSpec) -> Iterator[Variant]:
    """Yield variants for a field with a built-in rule; the truth itself first, where there is one."""
    truth = item.ground_truth
    match rule := item.primitive:
        case TraceContains() | TraceRegex() | TraceLength():
            yield from _responses(rule, "pass" if truth else "fail", "fail" if truth else "pass")
            return
        case ContainsAny() | ContainsAll():
            yield from _parts(rule)
        case NumericRange() | DateRange():
            yield from _bounds(item, rule)
        case _:
            yield Variant("the truth itself", truth, "pass" if getattr(rule, "uses_ground_truth", True) else "either")
    match rule:
        case ExactMatch() if isinstance(truth, str) and truth.strip():
            yield from _texts(truth, rule)
        case NumericExact() | NumericTolerance() if isinstance(truth, int | float) and not isinstance(truth, bool):
            yield from _numbers(item, rule, truth)
        case SetContainment() | OrderedMatch() if isinstance(truth, list) and truth:
            yield from _lists(truth, rule)
        case LiteralMatch():
            yield from (Variant("another category", value, "fail") for value in item.literal_values if value != truth)
            if isinstance(truth, str) and truth.swapcase() not in (truth, *item.literal_values):
                yield Variant("in other capitals", truth.swapcase(), "either")
            yield Variant("no category of the list", _WRONG, "fail")
        case DateMatch() | DateTolerance():
            yield from _dates(truth, rule)
    if item.type == "bool" and isinstance(truth, bool):
        yield Variant("the opposite", not truth, "fail")
    if item.type in ("str", "date"):
        yield Variant("an empty text", "", "fail")
    yield Variant("nothing found", None, "fail")


def _if_normalized(rule: Any, *names: str) -> Expected:
    return "pass" if set(names) & {entry for entry in rule.normalize if isinstance(entry, str)} else "either"


def _texts(truth: str, rule: ExactMatch) -> Iterator[Variant]:
    case, plural = _if_normalized(rule, "lowercase", "casefold"), truth.endswith("s")
    written: list[tuple[str, str, Expected]] = [
        ("in capitals", truth.upper(), case),
        ("in lower case", truth.lower(), case),
        ("with blanks around it", f"  {truth} ", _if_normalized(rule, "strip", "collapse_whitespace")),
        ("with a full stop", f"{truth}.", "either"),
        ("in quotes", f'"{truth}"', "either"),
        ("in a sentence", f"The answer is {truth}", "either"),
        ("without punctuation", truth.translate(str.maketrans("", "", string.punctuation)), "either"),
        ("with a hyphen for a blank", truth.replace(" ", "-"), "either"),
        ("in the singular" if plural else "in the plural", truth[:-1] if plural else f"{truth}s", "either"),
    ]
    yield from (Variant(*entry) for entry in written if entry[1] != truth)
    for entry in rule.normalize:
        if isinstance(entry, SynonymMap):
            yield from (Variant("a synonym", key, "either") for key in entry.mapping)
    yield Variant("with something more", f"{truth} {_WRONG}", "fail")
    if len(truth) > 1 and not plural:
        yield Variant("without its last letter", truth[:-1], "fail")
    yield Variant("something else", _WRONG, "fail")


def _parts(rule: ContainsAny | ContainsAll) -> Iterator[Variant]:
    together = " and ".join(rule.substrings)
    enough = isinstance(rule, ContainsAny) or len(rule.substrings) == 1
    yield Variant("all of them", together, "pass")
    yield Variant("all of them in capitals", together.upper(), _if_normalized(rule, "lowercase", "casefold"))
    yield from (Variant(f"only {text}", text, "pass" if enough else "fail") for text in rule.substrings)
    yield Variant("all of them denied", f"not {together}", "either")
    yield Variant("inside of a longer word", f"x{rule.substrings[0]}x", "either")
    yield Variant("something else", _WRONG, "either" if any(text in _WRONG for text in rule.substrings) else "fail")


def _lists(truth: list[Any], rule: SetContainment | OrderedMatch) -> Iterator[Variant]:
    mode, free = ("exact", "fail") if isinstance(rule, OrderedMatch) else (rule.mode, "pass")
    missing, extra = _LISTS[mode]
    order: Expected = "pass" if free == "pass" else "fail"
    if truth[::-1] != truth:
        yield Variant("in another order", truth[::-1], order)
    capitals = [item.upper() if isinstance(item, str) else item for item in truth]
    if capitals != truth:
        yield Variant("in capitals", capitals, _if_normalized(rule, "lowercase", "casefold"))
    yield Variant("with an item twice", [*truth, truth[0]], order)
    yield Variant("with one item missing", truth[1:], missing if len(truth) > 1 else "fail")
    yield Variant("with one item more", [*truth, _WRONG], extra)
    yield Variant("with one item replaced", [_WRONG, *truth[1:]], "either" if mode == "overlap" else "fail")
    yield Variant("only something else", [_WRONG], "fail")
    yield Variant("as one text", ", ".join(map(str, truth)), "either")
    yield Variant("an empty list", [], "fail")


def _numbers(item: FieldSpec, rule: NumericExact | NumericTolerance, truth: float) -> Iterator[Variant]:
    relative = isinstance(rule, NumericTolerance) and rule.mode == "relative"
    allowed = rule.tolerance * (abs(truth) if relative else 1) if isinstance(rule, NumericTolerance) else 0.0
    yield Variant("as a text", f"{truth}", "pass")
    if float(truth).is_integer() and abs(truth) < 1e15:
        yield Variant("with decimals", f"{truth:.1f}", "pass")
        if abs(truth) >= 1000:
            yield Variant("with thousands separators", f"{int(truth):,}", "either")
    yield Variant("with a unit", f"{truth} units", "either")
    if allowed:
        whole = item.type == "int"
        inside, beyond = (int(allowed), int(allowed) + 1) if whole else (allowed, allowed * 1.01)
        for side, edge, outside in ((1, "upper", "above"), (-1, "lower", "below")):
            if inside:
                yield Variant(f"at the {edge} edge of the tolerance", _sum(truth, side * inside), "pass")
            yield Variant(f"just {outside} the tolerance", _sum(truth, side * beyond), "fail")
    near: Expected = "fail" if allowed < 1 else "either"
    yield from (Variant("one more", truth + 1, near), Variant("one less", truth - 1, near))
    if truth:
        far: Expected = "fail" if allowed < abs(truth) * 0.5 else "either"
        yield Variant("ten times as much", _sum(truth, truth * 9), far)
        yield from (Variant("with the other sign", -truth, far), Variant("zero", 0, far))


def _sum(number: float, shift: float) -> Any:
    """Add as on paper: 0.72 and 0.05 are 0.77."""
    whole = isinstance(number, int) and isinstance(shift, int)
    return number + shift if whole else float(f"{number + shift:.12g}")


def _bounds(item: FieldSpec, rule: NumericRange | DateRange) -> Iterator[Variant]:
    for name, bound, side in (("least", rule.min, -1), ("greatest", rule.max, 1)):
        if bound is None:
            continue
        value: Any = bound
        if isinstance(rule, DateRange):
            read = read_date(bound, None, rule.dayfirst)
            beyond = _shifted(read.moment.date(), side) if read and read.moment else None
        else:
            whole = item.type == "int"
            value = int(value) if whole and float(value).is_integer() else value
            beyond = _sum(value, side * (1 if whole else max(abs(rule.min or 0), abs(rule.max or 0), 1) * 0.01))
        yield Variant(f"the {name} value", value, "pass")
        if beyond is not None:
            yield Variant(f"beyond the {name} value", beyond, "fail")


def _dates(truth: Any, rule: DateMatch | DateTolerance) -> Iterator[Variant]:
    form = rule.format if isinstance(rule, DateMatch) else None
    read = read_date(truth, form, rule.dayfirst)
    if read is None or read.moment is None:
        return
    day = read.moment.date()
    free: Expected = "pass" if form is None else "either"
    written: list[tuple[str, str, Expected]] = [
        ("as year-month-day", day.isoformat(), free),
        ("month in words", f"{day:%B} {day.day}, {day.year}", free),
        ("day before the month in words", f"{day.day} {day:%B} {day.year}", free),
        ("month abbreviated", f"{day:%b} {day.day}, {day.year}", free),
        ("in numbers, month first", f"{day.month:02}/{day.day:02}/{day.year}", "either"),
        ("in numbers, day first", f"{day.day:02}/{day.month:02}/{day.year}", "either"),
        ("with a time", f"{day.isoformat()} 10:30", "either"),
        ("only the month", f"{day:%Y-%m}", "fail"),
        ("only the year", str(day.year), "fail"),
    ]
    yield from (Variant(*entry) for entry in written if entry[1] != truth)
    days = rule.tolerance if isinstance(rule, DateTolerance) else 0
    if isinstance(rule, DateTolerance) and rule.unit != "days":
        return
    shifts: list[tuple[str, int, Expected]] = [("another year", 365 + 2 * days, "fail")]
    if days:
        shifts += [(f"{days} days later", days, "pass"), (f"{days} days earlier", -days, "pass")]
    beyond = "one day beyond the tolerance" if days else "one day later"
    for label, shift, expected in [*shifts, (beyond, days + 1, "fail"), ("one day earlier still", -days - 1, "fail")]:
        other = _shifted(day, shift, form)
        if other is not None:
            yield Variant(label, other, expected)


def _shifted(day: date, days: int, form: str | None = None) -> str | None:
    try:
        other = day + timedelta(days=days)
    except OverflowError:
        return None
    return other.strftime(form) if form else other.isoformat()


def _responses(rule: TraceContains | TraceRegex | TraceLength, right: Expected, wrong: Expected) -> Iterator[Variant]:
    if isinstance(rule, TraceLength):
        for name, bound, side in (("least", rule.min, -1), ("greatest", rule.max, 1)):
            for label, length, expected in ((f"the {name}", bound, right), (f"beyond the {name}", bound, wrong)):
                if length is not None and length <= 10_000 and (length := length + side * (expected == wrong)) >= 0:
                    text = " ".join(["word"] * length) if rule.unit == "words" else "x" * length
                    yield Variant(f"{label} length, {length} {rule.unit}", text, expected)
    text = rule.substring if isinstance(rule, TraceContains) else getattr(rule, "pattern", "")
    if isinstance(rule, TraceContains) or (text and not set(text) & set(r".^$*+?{}[]\|()")):
        times = getattr(rule, "count_min", None) or 1
        yield Variant("a response with it", " and ".join([f"It says {text}"] * times) + ".", right)
        if times > 1:
            yield Variant("a response with it once", f"It says {text}.", wrong)
        if text.swapcase() != text:
            yield Variant("a response with it in other capitals", f"It says {text.swapcase()}.", "either")
        yield Variant("a response without it", "…", wrong if text not in "…" else "either")
    if not isinstance(rule, TraceLength):
        yield Variant("an empty response", "", "either" if isinstance(rule, TraceRegex) else wrong)
