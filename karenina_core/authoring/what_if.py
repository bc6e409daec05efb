"""`what_if`: how the pass rate over stored answers would change with another setting of a rule."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from karenina_core.authoring.subject import Subject, template_of
from karenina_core.errors import InputError
from karenina_core.patterns import PatternTimeoutError
from karenina_core.schemas import AllOf, FieldCheck
from karenina_core.schemas.primitives import Primitive, SemanticMatch, TracePrimitive, primitive_from_dict
from karenina_core.templates import FieldSpec, TemplateSpec

# Parameters for which raising the value lets only more answers hold, or only fewer: an answer changes at most once.
_RISING = frozenset(
    [("NumericTolerance", "tolerance"), ("DateTolerance", "tolerance"), ("NumericRange", "max"), ("TraceLength", "max")]
)
_FALLING = frozenset(
    [("NumericRange", "min"), ("TraceLength", "min"), ("SetContainment", "min_overlap"), ("TraceRegex", "count_min"),
     ("SemanticMatch", "threshold")]
)  # fmt: skip


@dataclass(frozen=True)
class StoredAnswer:
    """What is known of an answer that was judged already.

    Attributes:
        values: What the judge extracted, by field.
        response: The answer's text.
        similarities: Cosine similarity by `SemanticMatch` field.
    """

    values: Mapping[str, Any]
    response: str = ""
    similarities: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Point:
    """One setting.

    Attributes:
        setting: The value of the parameter.
        passed: How many answers pass; None where the setting is not possible.
        field_passed: How many pass in the field alone.
        gained: How many pass that do not pass now.
        lost: How many pass now and would not.
        problem: Why the setting is not possible.
    """

    setting: Any
    passed: int | None
    field_passed: int | None = None
    gained: int = 0
    lost: int = 0
    problem: str | None = None


@dataclass(frozen=True)
class Curve:
    """Pass counts over the settings of one parameter.

    Attributes:
        field: The field.
        parameter: The parameter of its rule.
        total: Number of answers.
        now: How many pass with the template as it is.
        points: One per setting, in the given order.
    """

    field: str
    parameter: str
    total: int
    now: int
    points: tuple[Point, ...]

    def rates(self) -> list[float | None]:
        """Return the share of answers that pass, 0 to 1, by setting; None where it is not possible."""
        return [
            None if point.passed is None else point.passed / self.total if self.total else 0.0 for point in self.points
        ]


def what_if(
    template: Subject, field_name: str, parameter: str, settings: Sequence[Any], stored: Sequence[StoredAnswer]
) -> Curve:
    """Return how many stored answers would pass with each setting. No model is asked.

    Args:
        template: The template as it is.
        field_name: A field with a built-in rule.
        parameter: A parameter of that rule, such as `tolerance` or `normalize`, or `ground_truth` of the field.
        settings: Values of the parameter.
        stored: Answers with what was extracted from them.

    Raises:
        TemplateError: The template cannot be read.
        InputError: The field has no built-in rule, or the template's own code decides.
    """
    spec = template_of(template).spec
    item = _field(spec, field_name)
    outcomes = _outcomes(spec, field_name, stored)
    now = _results(item, stored)
    before = [worth[result] for worth, result in zip(outcomes, now, strict=True)]
    points = []
    for setting, results in _by_setting(item, parameter, settings, stored):
        if isinstance(results, str):
            points.append(Point(setting, None, problem=results))
            continue
        after = [worth[result] for worth, result in zip(outcomes, results, strict=True)]
        gained = sum(new and not old for new, old in zip(after, before, strict=True))
        lost = sum(old and not new for new, old in zip(after, before, strict=True))
        points.append(Point(setting, sum(after), sum(results), gained, lost))
    return Curve(field_name, parameter, len(stored), sum(before), tuple(points))


def _field(spec: TemplateSpec, name: str) -> FieldSpec:
    item = next((item for item in spec.fields if item.name == name), None)
    if item is None or item.primitive is None:
        raise InputError(f"The template has no field {name!r} with a built-in rule.")
    if spec.own_code:
        raise InputError(
            "The template's own code decides.", "What it would say cannot be told here.", "Verify the answers again."
        )
    return item


def _outcomes(spec: TemplateSpec, name: str, stored: Sequence[StoredAnswer]) -> list[tuple[bool, bool]]:
    """Return for each answer the verdict should the field be wrong, and should it be right."""
    others = {item.name: _results(item, stored) for item in spec.verified if item.name != name}
    strategy = spec.verify_strategy or AllOf(conditions=[FieldCheck(field_name=item.name) for item in spec.verified])
    known: dict[tuple[bool, ...], tuple[bool, bool]] = {}
    found = []
    for row in zip(*others.values(), strict=True) if others else [()] * len(stored):
        if row not in known:
            results = dict(zip(others, row, strict=True))
            known[row] = strategy.passes({**results, name: False}), strategy.passes({**results, name: True})
        found.append(known[row])
    return found


def _results(item: FieldSpec, stored: Sequence[StoredAnswer]) -> list[bool]:
    assert item.primitive is not None
    check = _remembering(_holds(item.primitive, item.ground_truth, item.name), item)
    return [check(answer) for answer in stored]


def _holds(rule: Primitive, truth: Any, name: str) -> Callable[[StoredAnswer], bool]:
    """Return the function that decides a field for an answer; what cannot be decided does not hold."""
    if isinstance(rule, TracePrimitive):
        return lambda answer: _safely(lambda: rule.check_trace(answer.response) == bool(truth))
    if isinstance(rule, SemanticMatch):
        return lambda answer: name in answer.similarities and rule.passes(answer.similarities[name])

    def check(answer: StoredAnswer) -> bool:
        value = answer.values.get(name)
        return value is not None and _safely(lambda: rule.check(value, truth))

    return check


def _safely(decide: Callable[[], bool]) -> bool:
    try:
        return bool(decide())
    except PatternTimeoutError:
        return False


def _remembering(check: Callable[[StoredAnswer], bool], item: FieldSpec) -> Callable[[StoredAnswer], bool]:
    """Ask only once for answers with the same value."""
    if item.is_trace or item.is_semantic:
        return check
    known: dict[Any, bool] = {}

    def remembered(answer: StoredAnswer) -> bool:
        value = answer.values.get(item.name)
        key = (type(value), tuple(value) if isinstance(value, list) else value)
        try:
            if key not in known:
                known[key] = check(answer)
            return known[key]
        except TypeError:  # the value cannot be a key
            return check(answer)

    return remembered


_Checks = list[tuple[Any, Callable[[StoredAnswer], bool] | str]]


def _by_setting(
    item: FieldSpec, parameter: str, settings: Sequence[Any], stored: Sequence[StoredAnswer]
) -> list[tuple[Any, list[bool] | str]]:
    """Return by setting whether the field holds for each answer, or why the setting is not possible."""
    checks: _Checks = [(setting, _check(item, parameter, setting)) for setting in settings]
    direction = _direction(item, parameter)
    numeric = all(isinstance(setting, int | float) for setting in settings)
    if direction and numeric:
        return _turning(checks, stored, direction)
    return [
        (setting, check if isinstance(check, str) else [check(answer) for answer in stored])
        for setting, check in checks
    ]


def _check(item: FieldSpec, parameter: str, setting: Any) -> Callable[[StoredAnswer], bool] | str:
    rule, truth = dict(item.verify_with or {}), item.ground_truth
    if parameter == "ground_truth":
        truth = setting
    else:
        rule[parameter] = setting
    try:
        return _remembering(_holds(primitive_from_dict(rule), truth, item.name), item)
    except InputError as error:
        return str(error)


def _direction(item: FieldSpec, parameter: str) -> int:
    key = (str((item.verify_with or {}).get("type")), parameter)
    sign = 1 if key in _RISING else -1 if key in _FALLING else 0
    return -sign if item.is_trace and not item.ground_truth else sign


def _turning(checks: _Checks, stored: Sequence[StoredAnswer], direction: int) -> list[tuple[Any, list[bool] | str]]:
    """Find for each answer the setting from which it holds, instead of asking at every setting."""
    possible = sorted((c for c in checks if not isinstance(c[1], str)), key=lambda c: direction * c[0])
    rules = [check for _, check in possible if not isinstance(check, str)]
    turns = [bisect_left(rules, True, key=lambda check, answer=answer: check(answer)) for answer in stored]  # type: ignore[misc]
    reached = {id(check): at for at, check in enumerate(rules)}
    return [
        (setting, check if isinstance(check, str) else [turn <= reached[id(check)] for turn in turns])
        for setting, check in checks
    ]
