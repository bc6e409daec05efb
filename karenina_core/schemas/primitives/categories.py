"""Truth values, fixed categories and meaning."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar, NoReturn

from pydantic import Field

from karenina_core.schemas.primitives.base import (
    Explanation,
    FieldKind,
    Step,
    VerificationPrimitive,
    _register_primitive,
)
from karenina_core.schemas.primitives.normalizers import nfc
from karenina_core.schemas.primitives.wording import NOTHING_EXTRACTED, failed, quoted


@_register_primitive
class BooleanMatch(VerificationPrimitive):
    """Passes when both sides are the same truth value.

    Both are coerced with `bool`, as Python does it: every text but the empty one is true. Words such as "false" in
    a judge's reply are truth values before they come here, because its schema reads them as such.
    """

    title: ClassVar[str] = "Same yes or no"

    applies_to: ClassVar[tuple[FieldKind, ...]] = ("bool",)

    def check(self, extracted: Any, expected: Any) -> bool:
        found = _truth(extracted)
        return found is not None and found == _truth(expected)

    def explain(self, extracted: Any, expected: Any) -> Explanation:
        found, wanted = _truth(extracted), _truth(expected)
        shown, shown_wanted = quoted(found), quoted(wanted)
        sides = (("", extracted, shown), ("expected, ", expected, shown_wanted))
        coerced = [side for side in sides if not isinstance(side[1], bool)]
        steps = [Step(f"{prefix}read as a truth value", quoted(given), read) for prefix, given, read in coerced]
        passed = found is not None and found == wanted
        relation = "equals" if passed else "differs from"
        return Explanation(passed, tuple(steps), f"{shown} {relation} the expected {shown_wanted}.")


def _truth(value: Any) -> bool | None:
    """Return the truth value of `value`, or None for the rare object that has none."""
    try:
        return bool(value)
    except (TypeError, ValueError):
        return None


@_register_primitive
class LiteralMatch(VerificationPrimitive):
    """Passes when both sides are the same category: equal, case included, and of the same type."""

    title: ClassVar[str] = "Same choice"

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


@_register_primitive
class SemanticMatch(VerificationPrimitive):
    """Marks a field whose embedding similarity to the ground truth must reach `threshold`.

    It cannot be checked by itself: the embedding_check stage computes the similarity and asks `passes`.

    Attributes:
        threshold: Least cosine similarity, 0 to 1.
    """

    title: ClassVar[str] = "Similar meaning"

    applies_to: ClassVar[tuple[FieldKind, ...]] = ("str",)

    threshold: float = Field(default=0.85, ge=0, le=1)

    def check(self, extracted: Any, expected: Any) -> NoReturn:
        raise NotImplementedError(
            "SemanticMatch cannot be checked directly. The embedding_check stage of the pipeline decides it: "
            "enable embedding_check in the VerificationConfig and choose an embedding model."
        )

    def passes(self, similarity: float) -> bool:
        """Say whether a cosine similarity is high enough."""
        return similarity >= self.threshold

    def explain_similarity(self, similarity: float) -> Explanation:
        """Give the verdict on a cosine similarity with its reason."""
        passed = self.passes(similarity)
        relation = "reaches" if passed else "stays below"
        reason = f"The similarity {similarity:.3f} {relation} the threshold {self.threshold:g}."
        return Explanation(passed, (), reason)
