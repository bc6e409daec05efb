"""Truth values."""

from __future__ import annotations

from typing import Any, ClassVar

from karenina_core.schemas.primitives.base import (
    Explanation,
    FieldKind,
    Step,
    VerificationPrimitive,
    _register_primitive,
)
from karenina_core.schemas.primitives.wording import quoted

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@_register_primitive
class BooleanMatch(VerificationPrimitive):
    """Passes when both sides are the same truth value.

    Both are coerced with `bool`; the words true, false, yes, no, 1 and 0 mean what they say.
    """

    applies_to: ClassVar[tuple[FieldKind, ...]] = ("bool",)

    def check(self, extracted: Any, expected: Any) -> bool:
        found = truth(extracted)
        return found is not None and found == truth(expected)

    def explain(self, extracted: Any, expected: Any) -> Explanation:
        found, wanted = truth(extracted), truth(expected)
        shown, shown_wanted = quoted(found), quoted(wanted)
        steps = []
        if not isinstance(extracted, bool):
            steps.append(Step("read as a truth value", quoted(extracted), shown))
        if not isinstance(expected, bool):
            steps.append(Step("expected, read as a truth value", quoted(expected), shown_wanted))
        passed = found is not None and found == wanted
        relation = "equals" if passed else "differs from"
        return Explanation(passed, tuple(steps), f"{shown} {relation} the expected {shown_wanted}.")


def truth(value: Any) -> bool | None:
    """Return the truth value of `value`, or None for the rare object that has none."""
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower(), bool(value))
    try:
        return bool(value)
    except (TypeError, ValueError):
        return None
