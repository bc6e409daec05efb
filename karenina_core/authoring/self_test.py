"""`near_misses`: a self-test of a template with variants of its truth that answers really give."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Any, Literal

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


Variant = tuple[str, Any, Expected]
"""How a value that a judge may extract, or a response for rules that read it, differs from the truth; the value; and
what an author will want of it."""


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
    notes: list[Variant] = [("accepted by the notes", value, "pass") for value in accepted]
    notes += [("rejected by the notes", value, "fail") for value in rejected]
    truths = {item.name: item.ground_truth for item in spec.verified}
    cases = []
    for item in spec.fields:
        if item.primitive is not None:
            every = [*(notes if item.type == "str" else ()), *variants(item)]
            # 1, 1.0 and True are equal, and still different variants.
            unique = {(type(variant[1]), repr(variant[1])): variant for variant in reversed(every)}
            alone = template_of_field(item, spec)
            cases += [_case(alone, item, variant, truths) for variant in reversed(unique.values())]
    return sorted(cases, key=lambda case: (not case.surprising, _ORDER[case.verdict]))


def _case(alone: Template, item: FieldSpec, variant: Variant, truths: Mapping[str, Any]) -> Case:
    label, value, expected = variant
    values, response = (truths, value) if item.is_trace else ({**truths, item.name: value}, None)
    verdict: Verdict = "undecided"
    evidence = None
    try:
        typed = {} if item.is_trace else alone.validate_reply({item.name: value})
        evidence = alone.evaluate(typed, response or "").fields[0]
        found_nothing = value is None and not item.is_trace
        verdict = "pass" if evidence.result else "fail" if evidence.result is False or found_nothing else "undecided"
    except TemplateError:  # a search took too long
        pass
    except InputError:
        verdict = "refused"
    return Case(item.name, label, values, response, expected, verdict, evidence)


def variants(item: FieldSpec) -> Iterator[Variant]:
    """Yield variants for a field with a built-in rule; the truth itself first, where there is one."""
    truth, rule = item.ground_truth, item.primitive
    rows: list[Variant] = []
    match rule:
        case TraceContains() | TraceRegex() | TraceLength():
            turned: dict[Expected, Expected] = {"pass": "fail", "fail": "pass"}
            responses = _lengths(rule) if isinstance(rule, TraceLength) else _mentions(rule)
            yield from ((label, text, wanted if truth else turned[wanted]) for label, text, wanted in responses)
            return
        case ExactMatch() if isinstance(truth, str) and truth.strip():
            rows = _texts(truth, rule)
        case ContainsAny() | ContainsAll():
            rows = _parts(rule)
        case NumericExact() | NumericTolerance() if isinstance(truth, int | float) and not isinstance(truth, bool):
            rows = _numbers(item, rule, truth)
        case NumericRange():
            rows = _bounds("value", rule.min, rule.max, partial(_stepped, whole=item.type == "int"))
        case DateRange():
            rows = _bounds("value", rule.min, rule.max, partial(_next_day, dayfirst=rule.dayfirst))
        case SetContainment() | OrderedMatch() if isinstance(truth, list) and truth:
            rows = _lists(truth, rule)
        case LiteralMatch():
            turned_case = str(truth).swapcase()
            rows = [("another category", value, "fail") for value in item.literal_values]
            rows += [("in other capitals", turned_case, "either")] if turned_case not in item.literal_values else []
            rows.append(("no category of the list", _WRONG, "fail"))
        case DateMatch() | DateTolerance():
            rows = _dates(truth, rule)
    if getattr(rule, "uses_ground_truth", True):
        yield "the truth itself", truth, "pass"
    if item.type == "bool" and isinstance(truth, bool):
        rows.append(("the opposite", not truth, "fail"))
    if item.type in ("str", "date"):
        rows.append(("an empty text", "", "fail"))
    rows.append(("nothing found", None, "fail"))
    yield from (row for row in rows if row[1] is None or type(row[1]) is not type(truth) or row[1] != truth)


def _if_normalized(rule: Any, *names: str) -> Expected:
    return "pass" if set(names) & {entry for entry in rule.normalize if isinstance(entry, str)} else "either"


def _texts(truth: str, rule: ExactMatch) -> list[Variant]:
    case, plural = _if_normalized(rule, "lowercase", "casefold"), truth.endswith("s")
    synonyms = [key for entry in rule.normalize if isinstance(entry, SynonymMap) for key in entry.mapping]
    rows: list[Variant] = [
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


def _parts(rule: ContainsAny | ContainsAll) -> list[Variant]:
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


def _lists(truth: list[Any], rule: SetContainment | OrderedMatch) -> list[Variant]:
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


def _numbers(item: FieldSpec, rule: NumericExact | NumericTolerance, truth: float) -> list[Variant]:
    relative = isinstance(rule, NumericTolerance) and rule.mode == "relative"
    allowed = rule.tolerance * (abs(truth) if relative else 1) if isinstance(rule, NumericTolerance) else 0.0
    others = {
        "one more": truth + 1,
        "one less": truth - 1,
        "ten times as much": _sum(truth, truth * 9),
        "with the other sign": -truth,
        "zero": 0,
    }
    rows: list[Variant] = [("as a text", f"{truth}", "pass"), ("with a unit", f"{truth} units", "either")]
    rows += [(label, other, "fail" if abs(other - truth) > allowed else "either") for label, other in others.items()]
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


def _bounds(what: str, least: Any, greatest: Any, stepped: Callable[[Any, int], Any]) -> list[Variant]:
    """Return the bounds of a rule, and what is just beyond them."""
    rows: list[Variant] = []
    for name, bound, side in (("least", least, -1), ("greatest", greatest, 1)):
        if bound is not None:
            rows.append((f"the {name} {what}", stepped(bound, 0), "pass"))
            rows.append((f"beyond the {name} {what}", stepped(bound, side), "fail"))
    return rows


def _stepped(bound: float, side: int, whole: bool) -> Any:
    whole = whole and float(bound).is_integer()
    return _sum(int(bound), side) if whole else _sum(bound, side * max(abs(bound), 1) * 0.01)


def _next_day(bound: str, side: int, dayfirst: bool) -> str:
    read = read_date(bound, None, dayfirst) if side else None
    return bound if not side else _shifted(read.moment.date(), side) if read and read.moment else _WRONG


def _dates(truth: Any, rule: DateMatch | DateTolerance) -> list[Variant]:
    form = rule.format if isinstance(rule, DateMatch) else None
    read = read_date(truth, form, rule.dayfirst)
    if read is None or read.moment is None:
        return []
    day = read.moment.date()
    free: Expected = "pass" if form is None else "either"
    rows: list[Variant] = [
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


def _lengths(rule: TraceLength) -> list[Variant]:
    least, greatest = (bound if bound and bound <= 10_000 else None for bound in (rule.min, rule.max))
    word, gap = ("word", " ") if rule.unit == "words" else ("x", "")
    return _bounds("length", least, greatest, lambda bound, side: gap.join([word] * (bound + side)))


def _mentions(rule: TraceContains | TraceRegex) -> Iterator[Variant]:
    text = rule.substring if isinstance(rule, TraceContains) else rule.pattern
    if isinstance(rule, TraceContains) or not set(text) & set(r".^$*+?{}[]\|()"):
        times = getattr(rule, "count_min", None) or 1
        yield "a response with it", " and ".join([f"It says {text}"] * times) + ".", "pass"
        yield "a response with it too rarely", " and ".join([f"It says {text}"] * (times - 1)), "fail"
        yield "a response without it", "–" if "…" in text else "…", "fail"
    matches_nothing = isinstance(rule, TraceRegex) and patterns.found(rule.pattern, "")
    yield "an empty response", "", "pass" if matches_nothing else "fail"
