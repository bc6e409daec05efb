"""Which parameters of a rule can be slid along a scale, and the settings on that scale that are worth looking at."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from karenina_core.authoring.parameters import Parameter, parameters_of
from karenina_core.authoring.what_if import StoredAnswer
from karenina_core.schemas import read_date, read_number
from karenina_core.schemas.primitives import (
    DateTolerance,
    NumericTolerance,
    Primitive,
    SemanticMatch,
    SetContainment,
    TraceLength,
    TraceRegex,
)
from karenina_core.templates import FieldSpec

_STEPS = 40
_WIDEST = 10  # how many times the size of the truth a distance may be before it is an outlier and no setting


def adjustable(item: FieldSpec) -> tuple[Parameter, ...]:
    """Return the parameters of a field's rule that are numbers and have an effect as the rule is set."""
    rule = item.primitive
    if rule is None:
        return ()
    numbers = tuple(entry for entry in parameters_of(type(rule)) if entry.kind in ("int", "float"))
    return () if isinstance(rule, SetContainment) and rule.mode != "overlap" else numbers


def settings_of(item: FieldSpec, parameter: str, stored: Sequence[StoredAnswer]) -> list[int | float]:
    """Return settings of a numeric parameter in rising order, the present one among them.

    They reach as far as the stored answers differ.

    Args:
        item: A field with a built-in rule.
        parameter: The name of one of its `adjustable` parameters.
        stored: Answers with what was extracted from them.
    """
    rule = item.primitive
    assert rule is not None
    entry = next(entry for entry in parameters_of(type(rule)) if entry.name == parameter)
    now = getattr(rule, parameter)
    low, high = _reach(item, rule, stored, [] if now is None else [now])
    low = low if entry.least is None else max(low, entry.least)
    high = high if entry.most is None else min(high, entry.most)
    scale = _whole(low, high) if entry.kind == "int" else _even(low, high)
    return sorted({*scale, *([] if now is None else [now])})


def _reach(item: FieldSpec, rule: Primitive, stored: Sequence[StoredAnswer], present: list[Any]) -> tuple[float, float]:
    match rule:
        case SemanticMatch():
            return 0.0, 1.0
        case NumericTolerance():
            least = 0.1 if rule.mode == "relative" else _size(item.ground_truth) / 10 or 1
            return 0.0, max([least, *(2 * value for value in present), *_number_distances(item, rule, stored)])
        case DateTolerance():
            return 0, max([7, *(2 * value for value in present), *_date_distances(item, rule, stored)])
        case SetContainment():
            return 1, max(1, len(item.ground_truth) if isinstance(item.ground_truth, list) else 1)
        case TraceRegex():
            return 1, max([10, *(2 * value for value in present)])
        case TraceLength():
            lengths = [len(answer.response.split() if rule.unit == "words" else answer.response) for answer in stored]
            return 0, max([100, *(2 * value for value in present), *(1.1 * length for length in lengths)])
    values = [*present, *_numbers(item, stored)]
    low, high = (min(values), max(values)) if values else (0, 1)
    margin = (high - low) / 10 or abs(high) / 10 or 1
    return low - margin, high + margin


def _numbers(item: FieldSpec, stored: Sequence[StoredAnswer]) -> list[float]:
    read = [read_number(answer.values.get(item.name)) for answer in stored]
    return [float(value) for value in read if value is not None and abs(value) < 1e300 and math.isfinite(value)]


def _number_distances(item: FieldSpec, rule: NumericTolerance, stored: Sequence[StoredAnswer]) -> Iterator[float]:
    truth = read_number(item.ground_truth)
    if truth is None or not abs(truth) < 1e300 or (rule.mode == "relative" and not truth):
        return
    size = _size(truth) or 1.0
    for value in _numbers(item, stored):
        distance = abs(value - float(truth))
        if distance <= _WIDEST * size:
            yield distance / size if rule.mode == "relative" else distance


def _date_distances(item: FieldSpec, rule: DateTolerance, stored: Sequence[StoredAnswer]) -> Iterator[int]:
    truth = read_date(item.ground_truth, None, rule.dayfirst)
    per_day = {"days": 1, "hours": 24, "minutes": 1440}[rule.unit]
    for answer in stored:
        found = read_date(answer.values.get(item.name), None, rule.dayfirst)
        if truth and found and truth.moment and found.moment:
            days = abs((found.moment.date() - truth.moment.date()).days)
            if days <= 366:
                yield days * per_day


def _size(truth: Any) -> float:
    read = read_number(truth)
    return abs(float(read)) if read is not None and abs(read) < 1e300 else 0.0


def _even(low: float, high: float) -> list[float]:
    """Return round numbers from a step below `low` to a step above `high`, about as many as `_STEPS`."""
    if not high > low:
        return [low]
    rough = (high - low) / _STEPS
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * size for size in (1, 2, 5, 10) if unit * size >= rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.10g}") for number in range(first, last + 1)]


def _whole(low: float, high: float) -> list[int]:
    step = max(1, math.ceil((high - low) / _STEPS))
    return [*range(math.ceil(low), math.floor(high) + 1, step)]
