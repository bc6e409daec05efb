"""`near_misses`: a self-test of a template with variants of its truth that answers really give."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal, NamedTuple

from karenina_core import patterns
from karenina_core.authoring.explanations import Subject, template_of, template_of_field
from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas import FieldEvidence, read_date
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
from karenina_core.text import counted

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
        evidence: How it came to that; None where the value is refused or a search takes too long.
    """

    field: str
    label: str
    values: Mapping[str, Any]
    response: str | None
    expected: Expected
    verdict: Verdict
    evidence: FieldEvidence | None = None

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
    spec = template_of(template).spec
    notes = [Variant("accepted by the notes", value, "pass") for value in accepted]
    notes += [Variant("rejected by the notes", value, "fail") for value in rejected]
    truths = {item.name: item.ground_truth for item in spec.verified}
    cases = []
    for item in spec.fields:
        if item.primitive is not None:
            every = [*(notes if item.type == "str" else ()), *variants(item)]
            # 1, 1.0 and True are equal, and still different variants.
            unique = {(type(variant.value), repr(variant.value)): variant for variant in reversed(every)}
            alone = template_of_field(item, spec)
            cases += [_case(alone, item, variant, truths) for variant in reversed(unique.values())]
    return sorted(cases, key=lambda case: (not case.surprising, _ORDER[case.verdict]))


def _case(alone: Template, item: FieldSpec, variant: Variant, truths: Mapping[str, Any]) -> Case:
    name, label, value, expected = item.name, *variant
    try:
        typed = {} if item.is_trace else alone.validate_reply({name: value})
    except InputError:
        return Case(name, label, {**truths, name: value}, None, expected, "refused")
    values, response = (truths, value) if item.is_trace else ({**truths, name: value}, None)
    try:
        evidence = alone.evaluate(typed, response or "").fields[0]
    except TemplateError:
        return Case(name, label, values, response, expected, "undecided")
    found_nothing = value is None and not item.is_trace
    verdict: Verdict = (
        "pass" if evidence.result else "fail" if evidence.result is False or found_nothing else "undecided"
    )
    return Case(name, label, values, response, expected, verdict, evidence)


def variants(item: FieldSpec) -> Iterator[Variant]:
    """Yield variants for a field with a built-in rule; the truth itself first, where there is one."""
    truth, rule = item.ground_truth, item.primitive
    if isinstance(rule, TraceContains | TraceRegex | TraceLength):
        for label, text, holds in _responses(rule):
            yield Variant(label, text, "pass" if holds == bool(truth) else "fail")
        return
    rows: list[_Row] = []
    match rule:
        case ExactMatch() if isinstance(truth, str) and truth.strip():
            rows = _texts(truth, rule)
        case ContainsAny() | ContainsAll():
            rows = _parts(rule)
        case NumericExact() | NumericTolerance() if isinstance(truth, int | float) and not isinstance(truth, bool):
            rows = _numbers(item, rule, truth)
        case NumericRange() | DateRange():
            rows = list(_bounds(item, rule))
        case SetContainment() | OrderedMatch() if isinstance(truth, list) and truth:
            rows = _lists(truth, rule)
        case LiteralMatch():
            rows = [("another category", value, "fail") for value in item.literal_values]
            if str(truth).swapcase() not in item.literal_values:
                rows.append(("in other capitals", str(truth).swapcase(), "either"))
            rows.append(("no category of the list", _WRONG, "fail"))
        case DateMatch() | DateTolerance():
            rows = _dates(truth, rule)
    if getattr(rule, "uses_ground_truth", True):
        yield Variant("the truth itself", truth, "pass")
    if item.type == "bool" and isinstance(truth, bool):
        rows.append(("the opposite", not truth, "fail"))
    if item.type in ("str", "date"):
        rows.append(("an empty text", "", "fail"))
    rows.append(("nothing found", None, "fail"))
    yield from (Variant(*row) for row in rows if row[1] is None or type(row[1]) is not type(truth) or row[1] != truth)


_Row = tuple[str, Any, Expected]


def _if_normalized(rule: Any, *names: str) -> Expected:
    return "pass" if set(names) & {entry for entry in rule.normalize if isinstance(entry, str)} else "either"


def _texts(truth: str, rule: ExactMatch) -> list[_Row]:
    case, plural = _if_normalized(rule, "lowercase", "casefold"), truth.endswith("s")
    synonyms = [key for entry in rule.normalize if isinstance(entry, SynonymMap) for key in entry.mapping]
    rows: list[_Row] = [
        ("in capitals", truth.upper(), case),
        ("in lower case", truth.lower(), case),
        ("with blanks around it", f"  {truth} ", _if_normalized(rule, "strip", "collapse_whitespace")),
        ("with a full stop", f"{truth}.", "either"),
        ("in quotes", f'"{truth}"', "either"),
        ("in a sentence", f"The answer is {truth}", "either"),
        ("without punctuation", truth.translate(str.maketrans("", "", string.punctuation)), "either"),
        ("with a hyphen for a blank", truth.replace(" ", "-"), "either"),
        ("in the singular" if plural else "in the plural", truth[:-1] if plural else f"{truth}s", "either"),
        *(("a synonym", key, "either") for key in synonyms),
        ("with something more", f"{truth} {_WRONG}", "fail"),
        ("something else", _WRONG, "fail"),
    ]
    return rows if plural or len(truth) < 2 else [*rows, ("without its last letter", truth[:-1], "fail")]


def _parts(rule: ContainsAny | ContainsAll) -> list[_Row]:
    together = " and ".join(rule.substrings)
    enough = isinstance(rule, ContainsAny) or len(rule.substrings) == 1
    return [
        ("all of them", together, "pass"),
        ("all of them in capitals", together.upper(), _if_normalized(rule, "lowercase", "casefold")),
        *((f"only {text}", text, "pass" if enough else "fail") for text in rule.substrings),
        ("all of them denied", f"not {together}", "either"),
        ("inside of a longer word", f"x{rule.substrings[0]}x", "either"),
        ("something else", _WRONG, "either" if any(text in _WRONG for text in rule.substrings) else "fail"),
    ]


def _lists(truth: list[Any], rule: SetContainment | OrderedMatch) -> list[_Row]:
    mode = "exact" if isinstance(rule, OrderedMatch) else rule.mode
    order: Expected = "fail" if isinstance(rule, OrderedMatch) else "pass"
    missing, extra = _LISTS[mode]
    capitals = [item.upper() if isinstance(item, str) else item for item in truth]
    return [
        ("in another order", truth[::-1], order),
        ("in capitals", capitals, _if_normalized(rule, "lowercase", "casefold")),
        ("with an item twice", [*truth, truth[0]], order),
        ("with one item missing", truth[1:], missing if len(truth) > 1 else "fail"),
        ("with one item more", [*truth, _WRONG], extra),
        ("with one item replaced", [_WRONG, *truth[1:]], "either" if mode == "overlap" else "fail"),
        ("only something else", [_WRONG], "fail"),
        ("as one text", ", ".join(map(str, truth)), "either"),
        ("an empty list", [], "fail"),
    ]


def _numbers(item: FieldSpec, rule: NumericExact | NumericTolerance, truth: float) -> list[_Row]:
    relative = isinstance(rule, NumericTolerance) and rule.mode == "relative"
    allowed = rule.tolerance * (abs(truth) if relative else 1) if isinstance(rule, NumericTolerance) else 0.0
    near: Expected = "fail" if allowed < 1 else "either"
    far: Expected = "fail" if allowed < abs(truth) * 0.5 else "either"
    rows: list[_Row] = [
        ("as a text", f"{truth}", "pass"),
        ("with a unit", f"{truth} units", "either"),
        ("one more", truth + 1, near),
        ("one less", truth - 1, near),
        ("ten times as much", _sum(truth, truth * 9), far),
        ("with the other sign", -truth, far),
        ("zero", 0, far),
    ]
    if float(truth).is_integer() and abs(truth) < 1e15:
        rows.append(("with decimals", f"{truth:.1f}", "pass"))
    inside, beyond = (int(allowed), int(allowed) + 1) if item.type == "int" else (allowed, allowed * 1.01)
    for edge, sign in (("upper", 1), ("lower", -1)) if allowed else ():
        rows.append((f"at the {edge} edge of the tolerance", _sum(truth, sign * inside), "pass"))
        rows.append((f"beyond the {edge} edge of the tolerance", _sum(truth, sign * beyond), "fail"))
    return rows


def _sum(number: float, shift: float) -> Any:
    """Add as on paper: 0.72 and 0.05 are 0.77."""
    whole = isinstance(number, int) and isinstance(shift, int)
    return number + shift if whole else float(f"{number + shift:.12g}")


def _bounds(item: FieldSpec, rule: NumericRange | DateRange) -> Iterator[_Row]:
    for name, bound, side in (("least", rule.min, -1), ("greatest", rule.max, 1)):
        value: Any = bound
        if isinstance(rule, DateRange):
            read = read_date(bound, None, rule.dayfirst)
            beyond = _shifted(read.moment.date(), side) if read and read.moment else _WRONG
        elif bound is not None:
            whole = item.type == "int" and float(bound).is_integer()
            value = int(bound) if whole else bound
            beyond = _sum(value, side * (1 if whole else max(abs(value), 1) * 0.01))
        if bound is not None:
            yield from ((f"the {name} value", value, "pass"), (f"beyond the {name} value", beyond, "fail"))


def _dates(truth: Any, rule: DateMatch | DateTolerance) -> list[_Row]:
    form = rule.format if isinstance(rule, DateMatch) else None
    read = read_date(truth, form, rule.dayfirst)
    if read is None or read.moment is None:
        return []
    day = read.moment.date()
    free: Expected = "pass" if form is None else "either"
    rows: list[_Row] = [
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
    if isinstance(rule, DateMatch) or rule.unit == "days":
        days = 0 if isinstance(rule, DateMatch) else rule.tolerance
        rows.append(("another year", _shifted(day, 365 + 2 * days, form), "fail"))
        rows.append((f"{counted(days + 1, 'day')} later", _shifted(day, days + 1, form), "fail"))
        rows.append((f"{counted(days + 1, 'day')} earlier", _shifted(day, -days - 1, form), "fail"))
        rows.append((f"{counted(days, 'day')} later", _shifted(day, days, form), "pass"))
    return rows


def _shifted(day: date, days: int, form: str | None = None) -> str:
    try:
        other = day + timedelta(days=days)
    except OverflowError:
        return _WRONG
    return other.strftime(form) if form else other.isoformat()


def _responses(rule: TraceContains | TraceRegex | TraceLength) -> Iterator[tuple[str, str, bool]]:
    """Yield responses with what they are and whether the rule shall hold for them."""
    if isinstance(rule, TraceLength):
        for name, bound, side in (("least", rule.min, -1), ("greatest", rule.max, 1)):
            if bound is not None and 0 < bound <= 10_000:
                yield f"the {name} length, {bound} {rule.unit}", _response(bound, rule.unit), True
                yield f"beyond the {name} length", _response(bound + side, rule.unit), False
        return
    text = rule.substring if isinstance(rule, TraceContains) else rule.pattern
    if isinstance(rule, TraceContains) or not set(text) & set(r".^$*+?{}[]\|()"):
        times = getattr(rule, "count_min", None) or 1
        yield "a response with it", " and ".join([f"It says {text}"] * times) + ".", True
        yield "a response with it too rarely", " and ".join([f"It says {text}"] * (times - 1)), False
        yield "a response without it", "–" if "…" in text else "…", False
    yield "an empty response", "", isinstance(rule, TraceRegex) and patterns.found(rule.pattern, "")


def _response(length: int, unit: str) -> str:
    return " ".join(["word"] * length) if unit == "words" else "x" * length
