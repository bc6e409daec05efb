"""Fixed categories."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar

from karenina_core.schemas.primitives.base import Explanation, FieldKind, VerificationPrimitive, _register_primitive
from karenina_core.schemas.primitives.normalizers import nfc
from karenina_core.schemas.primitives.wording import NOTHING_EXTRACTED, failed, quoted


@_register_primitive
class LiteralMatch(VerificationPrimitive):
    """Passes when both sides are the same category: equal, case included, and of the same type."""

    applies_to: ClassVar[tuple[FieldKind, ...]] = ("literal",)

    def check(self, extracted: Any, expected: Any) -> bool:
        if isinstance(extracted, str) and isinstance(expected, str):
            return nfc(extracted) == nfc(expected)
        comparable = isinstance(extracted, int | float | bytes | Enum)
        return comparable and type(extracted) is type(expected) and bool(extracted == expected)

    def explain(self, extracted: Any, expected: Any) -> Explanation:
        if extracted is None:
            return failed(NOTHING_EXTRACTED)
        passed = self.check(extracted, expected)
        relation = "is" if passed else "is not"
        return Explanation(passed, (), f"{quoted(extracted)} {relation} the expected category {quoted(expected)}.")
