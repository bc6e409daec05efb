"""Numbers: equality, tolerance, range."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from karenina_core.schemas.primitives.base import (
    Comparison,
    Explanation,
    FieldKind,
    Step,
    _register_primitive,
)
from karenina_core.schemas.primitives.wording import NOTHING_EXTRACTED, failed, number, quoted, within

Number = int | float
Finite = Annotated[float, Field(allow_inf_nan=False)]

# Only groups that cannot be a decimal comma: "1,000,000" and "1,234.5", but not "1,000".
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:(?:,\d{3}){2,}(?:\.\d+)?|,\d{3}\.\d+)")
_FOUND, _WANTED = "read as a number", "expected, read as a number"
_ROUNDING = 4  # units in the last place that reading, subtracting and multiplying decimals can lose together


def read_number(value: Any) -> Number | None:
    """Return a number, or the number a plain numeric text means; None for everything else.

    Thousands separators are understood where they cannot be a decimal comma: `1,000,000`, but not `1,000`.
    """
    if isinstance(value, Number):
        return value
    if isinstance(value, Decimal):
        value = str(value)
    return _number_in(value.strip()) if isinstance(value, str) else None


def _number_in(text: str) -> Number | None:
    if _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    for convert in (int, float):
        try:
            result = convert(text)
        except ValueError:
            continue
        overflown = result in (math.inf, -math.inf) and any(character.isdigit() for character in text)
        return None if overflown else result
    return None


def _equal(found: Number, wanted: Number) -> bool:
    whole = isinstance(found, int) and isinstance(wanted, int)
    try:
        return found == wanted if whole else float(found) == float(wanted)
    except OverflowError:
        return False


def _readings(extracted: Any, found: Number, expected: Any, wanted: Number) -> tuple[Step, ...]:
    sides = ((_FOUND, extracted, found), (_WANTED, expected, wanted))
    return tuple(Step(label, quoted(given), quoted(read)) for label, given, read in sides if isinstance(given, str))


def _difference(found: Number, wanted: Number, percent: bool = False) -> tuple[Step, ...]:
    try:
        distance = abs(found - wanted)
        text = number(distance)
        if percent and wanted:
            text += f" ({distance / abs(wanted) * 100:.4g} %)"
    except OverflowError:
        return ()
    return (Step("difference", f"{quoted(found)} − {quoted(wanted)}", text),)


def _no_number(value: Any) -> str:
    if value is None:
        return NOTHING_EXTRACTED
    hint = ": the comma may separate thousands or decimals" if isinstance(value, str) and "," in value else ""
    return f"{quoted(value)} is not a plain number{hint}."


class _Numeric(Comparison):
    applies_to: ClassVar[tuple[FieldKind, ...]] = ("int", "float")

    _read = staticmethod(read_number)

    def _unreadable(self, extracted: Any, found: Number | None, expected: Any) -> Explanation:
        fault = f"The expected value {quoted(expected)} is not a plain number."
        return failed(_no_number(extracted) if found is None else fault)


@_register_primitive
class NumericExact(_Numeric):
    """Passes when both sides are the same number: whole numbers exactly, others to some 15 digits."""

    title: ClassVar[str] = "Same number"

    _passes = staticmethod(_equal)

    def _compared(self, extracted: Any, found: Number, expected: Any, wanted: Number) -> Explanation:
        steps = _readings(extracted, found, expected, wanted)
        if _equal(found, wanted):
            return Explanation(True, steps, f"{quoted(found)} equals the expected {quoted(wanted)}.")
        return failed(f"{quoted(found)} is not {quoted(wanted)}.", *steps, *_difference(found, wanted))


@_register_primitive
class NumericTolerance(_Numeric):
    """Passes when the number is near enough to the expected one.

    Numbers that are exactly `tolerance` apart as written, such as 0.77 and 0.72 with 0.05, pass.

    Attributes:
        tolerance: Allowed deviation, at least 0.
        mode: `relative`: a fraction of the expected number, so that 0.1 means 10 %; if that is 0, only 0 passes.
            `absolute`: a difference in the unit of the field.
    """

    title: ClassVar[str] = "Number near enough"

    tolerance: float = Field(ge=0, allow_inf_nan=False)
    mode: Literal["relative", "absolute"] = "relative"

    def _compared(self, extracted: Any, found: Number, expected: Any, wanted: Number) -> Explanation:
        passed = self._passes(found, wanted)
        percent = self.mode == "relative"
        allowed = f"{self.tolerance * 100:g} %" if percent else number(self.tolerance)
        relation = "is within" if passed else "is more than"
        ending = f"of {quoted(wanted)}" if passed else f"away from {quoted(wanted)}"
        steps = (*_readings(extracted, found, expected, wanted), *_difference(found, wanted, percent))
        return Explanation(passed, steps, f"{quoted(found)} {relation} {allowed} {ending}.")

    def _passes(self, found: Number, wanted: Number) -> bool:
        if found == wanted:
            return True
        try:
            return math.isfinite(found) and math.isfinite(wanted) and self._within(found, wanted)
        except OverflowError:
            return self._within_exactly(found, wanted)

    def _within(self, found: Number, wanted: Number) -> bool:
        bound = self.tolerance * abs(wanted) if self.mode == "relative" else self.tolerance
        if not bound:
            return False
        exact = isinstance(found, int) and isinstance(wanted, int)
        largest = bound if exact else max(abs(found), abs(wanted), bound)
        return abs(found - wanted) <= bound + _ROUNDING * math.ulp(largest)

    def _within_exactly(self, found: Number, wanted: Number) -> bool:
        """Decide for whole numbers that no float can hold."""
        try:
            distance, size = abs(Fraction(found) - Fraction(wanted)), abs(Fraction(wanted))
        except (OverflowError, ValueError):  # the other one is infinite or not a number
            return False
        return distance <= Fraction(self.tolerance) * (size if self.mode == "relative" else 1)


@_register_primitive
class NumericRange(_Numeric):
    """Passes when the number lies within the bounds, which belong to it. Ignores the ground truth.

    Attributes:
        min: Least acceptable number; none if None.
        max: Greatest acceptable number; none if None.
    """

    title: ClassVar[str] = "Number within bounds"

    uses_ground_truth: ClassVar[bool] = False

    min: Finite | None = None
    max: Finite | None = None

    @model_validator(mode="after")
    def _not_empty(self) -> NumericRange:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min:g} is greater than max {self.max:g}, so that nothing could pass")
        return self

    def check(self, extracted: Any, expected: Any) -> bool:
        found = read_number(extracted)
        return found is not None and self._holds(found)

    def explain(self, extracted: Any, expected: Any) -> Explanation:
        found = read_number(extracted)
        if found is None:
            return failed(_no_number(extracted))
        passed = self._holds(found)
        bounds = within(*(None if bound is None else number(bound) for bound in (self.min, self.max)))
        shown = quoted(found)
        steps = (Step(_FOUND, quoted(extracted), shown),) if isinstance(extracted, str) else ()
        return Explanation(passed, steps, f"{shown} {'is' if passed else 'is not'} {bounds}.")

    def _holds(self, found: Number) -> bool:
        return found == found and (self.min is None or found >= self.min) and (self.max is None or found <= self.max)
