"""`NumericExact`, `NumericTolerance` and `NumericRange`."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from karenina_core.schemas import read_number
from karenina_core.schemas.primitives import NumericExact, NumericRange, NumericTolerance, Step, VerificationPrimitive

NAN, INF = math.nan, math.inf
NO_NUMBERS = [None, "", "abc", "$5", "5%", "1,000", "1,00,000", "0x10", "1e999", [5], {}, 1j, object()]
RULES = [NumericExact(), NumericTolerance(tolerance=1e300, mode="absolute"), NumericRange()]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("42", 42),
        (" 5 ", 5),
        ("-1.5", -1.5),
        ("1e3", 1000),
        ("1_000", 1000),
        ("\u0664\u0662", 42),
        ("1,000,000", 1_000_000),
        ("-12,345,678.5", -12_345_678.5),
        ("1,234.5", 1234.5),
        ("inf", INF),
        (Decimal("0.5"), 0.5),
    ],
)
def test_plain_numeric_texts_are_read(text: Any, number: float) -> None:
    assert read_number(text) == number


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_plain_number_is_not_read(value: Any) -> None:
    assert read_number(value) is None


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("value", NO_NUMBERS)
def test_null_and_what_is_no_number_fail(rule: VerificationPrimitive, value: Any) -> None:
    assert not rule.check(value, 5)
    assert not rule.explain(value, 5).passed


@pytest.mark.parametrize("rule", RULES[:2], ids=lambda rule: type(rule).__name__)
def test_an_expected_value_that_is_no_number_fails(rule: VerificationPrimitive) -> None:
    assert not rule.check(5, "five")
    assert rule.explain(5, "five").reason == 'The expected value "five" is not a plain number.'


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_nan_passes_nothing(rule: VerificationPrimitive) -> None:
    assert not rule.check(NAN, NAN)
    assert not rule.check("nan", 5)
    assert not rule.explain(NAN, 5).passed


@pytest.mark.parametrize("value", [342, 342.0, "342", " 342 "])
def test_exact_passes_the_same_number(value: Any) -> None:
    assert NumericExact().check(value, 342)
    assert NumericExact().check(342, value)


@pytest.mark.parametrize("value", [340, 342.0001, -342, True, INF])
def test_exact_fails_another_number(value: Any) -> None:
    assert not NumericExact().check(value, 342)


def test_exact_compares_whole_numbers_of_any_size_exactly() -> None:
    assert not NumericExact().check(2**53 + 1, 2**53)
    assert NumericExact().check(10**400, 10**400)
    assert not NumericExact().check(10**400, 10**400 + 1)
    assert not NumericExact().check(10**400, 1e308)
    assert NumericExact().check(str(2**53 + 1), 2**53 + 1)


def test_exact_compares_others_as_floats() -> None:
    assert NumericExact().check(2**53 + 1, float(2**53))
    assert NumericExact().check(INF, INF)
    assert NumericExact().check(True, 1)
    assert not NumericExact().check(0.1 + 0.2, 0.3)


def test_exact_refuses_parameters() -> None:
    with pytest.raises(ValidationError):
        NumericExact(tolerance=0.1)  # type: ignore[call-arg]


def test_exact_explains_the_difference() -> None:
    explained = NumericExact().explain("340", 342)
    assert explained.reason == "340 is not 342."
    assert explained.steps == (Step("read as a number", '"340"', "340"), Step("difference", "340 − 342", "2"))
    assert NumericExact().explain("1,000", 1000).reason.endswith("the comma may separate thousands or decimals.")


@pytest.mark.parametrize(("value", "passes"), [(0.72, True), (0.70, True), (0.77, True), (0.67, True), (0.80, False)])
def test_absolute_tolerance_includes_its_bounds(value: float, passes: bool) -> None:
    assert NumericTolerance(tolerance=0.05, mode="absolute").check(value, 0.72) is passes


@pytest.mark.parametrize(("value", "passes"), [(110, True), (90, True), (110.01, False), (89.99, False), ("110", True)])
def test_relative_tolerance_is_the_default(value: Any, passes: bool) -> None:
    assert NumericTolerance(tolerance=0.1).check(value, 100) is passes


def test_relative_tolerance_of_a_negative_number_uses_its_size() -> None:
    assert NumericTolerance(tolerance=0.1).check(-110, -100)
    assert not NumericTolerance(tolerance=0.1).check(-89, -100)


def test_relative_tolerance_of_zero_passes_only_zero() -> None:
    rule = NumericTolerance(tolerance=0.5)
    assert rule.check(0.0, 0)
    assert not rule.check(1e-12, 0)
    assert not rule.check(5e-324, 0)


def test_no_tolerance_passes_only_the_same_number() -> None:
    assert NumericTolerance(tolerance=0).check(3, 3)
    assert not NumericTolerance(tolerance=0, mode="absolute").check(0.1 + 0.2, 0.3)


@pytest.mark.parametrize("mode", ["relative", "absolute"])
def test_infinity_is_near_only_to_itself(mode: Any) -> None:
    rule = NumericTolerance(tolerance=0.5, mode=mode)
    assert rule.check(INF, INF)
    assert not rule.check(-INF, INF)
    assert not rule.check(1e308, INF)
    assert not rule.check(INF, 1)


def test_tolerance_decides_for_numbers_no_float_can_hold() -> None:
    assert NumericTolerance(tolerance=0.1).check(10**400 + 1, 10**400)
    assert not NumericTolerance(tolerance=0.1).check(2 * 10**400, 10**400)
    assert not NumericTolerance(tolerance=0.1).check(10**400, 1.0)
    assert not NumericTolerance(tolerance=0.1).check(10**400, INF)
    assert not NumericTolerance(tolerance=1, mode="absolute").check(2**60 + 2, 2**60)
    assert NumericTolerance(tolerance=1, mode="absolute").check(2**60 + 1, 2**60)


@given(
    st.decimals(min_value=-(10**6), max_value=10**6, places=4),
    st.decimals(min_value=0, max_value=10**4, places=4),
)
def test_numbers_exactly_the_tolerance_apart_as_written_pass(expected: Decimal, tolerance: Decimal) -> None:
    rule = NumericTolerance(tolerance=float(tolerance), mode="absolute")
    assert rule.check(float(expected + tolerance), float(expected))
    assert rule.check(float(expected - tolerance), float(expected))
    assert not rule.check(float(expected + tolerance + Decimal("0.0001")), float(expected))


@given(st.decimals(min_value=1, max_value=10**6, places=3), st.integers(min_value=1, max_value=99))
def test_numbers_exactly_the_percentage_apart_as_written_pass(expected: Decimal, percent: int) -> None:
    share = Decimal(percent) / 100
    rule = NumericTolerance(tolerance=float(share))
    assert rule.check(float(expected * (1 + share)), float(expected))
    assert not rule.check(float(expected * (1 + share) + Decimal("0.00001")), float(expected))


@pytest.mark.parametrize("tolerance", [-0.1, NAN, INF, None, "some"])
def test_tolerance_refuses_a_bad_tolerance(tolerance: Any) -> None:
    with pytest.raises(ValidationError):
        NumericTolerance(tolerance=tolerance)


def test_tolerance_must_be_given_and_its_mode_known() -> None:
    with pytest.raises(ValidationError):
        NumericTolerance()  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        NumericTolerance(tolerance=0.1, mode="percent")  # type: ignore[arg-type]


def test_tolerance_explains_difference_and_allowance() -> None:
    absolute = NumericTolerance(tolerance=0.05, mode="absolute")
    assert absolute.explain(0.77, 0.72).steps == (Step("difference", "0.77 − 0.72", "0.05"),)
    assert absolute.explain(0.77, 0.72).reason == "0.77 is within 0.05 of 0.72."
    relative = NumericTolerance(tolerance=0.1).explain(112, 100)
    assert relative.steps == (Step("difference", "112 − 100", "12 (12 %)"),)
    assert relative.reason == "112 is more than 10 % away from 100."


@pytest.mark.parametrize(
    ("value", "passes"), [(0.0, True), (0.001, True), (0.05, True), (0.051, False), (-1e-9, False)]
)
def test_range_includes_its_bounds(value: float, passes: bool) -> None:
    assert NumericRange(min=0.0, max=0.05).check(value, 0) is passes


def test_range_may_be_open_on_one_side_or_both() -> None:
    assert NumericRange(min=3).check(10**400, 0)
    assert NumericRange(max=3).check(-INF, 0)
    assert NumericRange(min=3, max=3).check("3.0", 0)
    assert NumericRange().check(0, "N/A")
    assert not NumericRange(min=3).check(2.999, 3)


@pytest.mark.parametrize("bounds", [{"min": 2, "max": 1}, {"min": NAN}, {"max": INF}, {"min": "a"}, {"maximum": 1}])
def test_range_refuses_bounds_that_make_no_sense(bounds: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        NumericRange(**bounds)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (NumericRange(min=0, max=0.05), "5 is not between 0 and 0.05."),
        (NumericRange(min=3), "5 is at least 3."),
        (NumericRange(max=3), "5 is not at most 3."),
        (NumericRange(), "5 is anything, as no bounds are set."),
    ],
)
def test_range_explains_with_its_bounds(rule: NumericRange, words: str) -> None:
    assert rule.explain(5, 0).reason == words
