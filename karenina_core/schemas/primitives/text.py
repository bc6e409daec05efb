"""Texts: equality, substrings, patterns."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from karenina_core import patterns
from karenina_core.schemas.primitives.base import (
    Explanation,
    FieldKind,
    Step,
    VerificationPrimitive,
    _register_primitive,
)
from karenina_core.schemas.primitives.normalizers import (
    Normalizers,
    as_text,
    case_and_blanks,
    followed,
    normalize,
    normalized,
)
from karenina_core.schemas.primitives.wording import NOTHING_EXTRACTED, failed, listed, quoted

Substrings = Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]


@_register_primitive
class ExactMatch(VerificationPrimitive):
    """Passes when both texts are equal after normalisation.

    Attributes:
        normalize: What is done to both sides first, in this order.
    """

    title: ClassVar[str] = "Same text"

    applies_to: ClassVar[tuple[FieldKind, ...]] = ("str",)

    normalize: Normalizers = Field(default_factory=case_and_blanks)

    def check(self, extracted: Any, expected: Any) -> bool:
        found = normalized(extracted, self.normalize)
        return found is not None and found == normalized(expected, self.normalize)

    def explain(self, extracted: Any, expected: Any) -> Explanation:
        text, truth = as_text(extracted), as_text(expected)
        if text is None:
            return failed(no_text(extracted))
        found = followed(text, self.normalize)
        wanted = followed(truth or "", self.normalize, "expected, ")
        passed = truth is not None and found.text == wanted.text
        relation = "equals" if passed else "differs from"
        shown = quoted(None) if truth is None else wanted.shown
        reason = f"{found.shown} {relation} the expected {shown}."
        return Explanation(passed, found.steps + wanted.steps, reason)


class _Contains(VerificationPrimitive):
    uses_ground_truth: ClassVar[bool] = False
    applies_to: ClassVar[tuple[FieldKind, ...]] = ("str",)

    substrings: Substrings
    normalize: Normalizers = Field(default_factory=list)

    @model_validator(mode="after")
    def _something_to_find(self) -> _Contains:
        for substring in self.substrings:
            if not normalize(substring, self.normalize):
                raise ValueError(f"{substring!r} is empty after normalisation and would be found in every text")
        return self

    _enough = staticmethod(all)

    def check(self, extracted: Any, expected: Any) -> bool:
        text = normalized(extracted, self.normalize)
        return text is not None and self._enough(normalize(item, self.normalize) in text for item in self.substrings)

    def explain(self, extracted: Any, expected: Any) -> Explanation:
        text = as_text(extracted)
        if text is None:
            return failed(no_text(extracted))
        searched = followed(text, self.normalize)
        missing = [item for item in self.substrings if normalize(item, self.normalize) not in searched.text]
        passed = self._enough(item not in missing for item in self.substrings)
        shown = listed([item for item in self.substrings if item not in missing])
        found = Step("found", listed(self.substrings), shown or "none")
        reason = f"The text contains {shown}." if passed else f"The text does not contain {listed(missing)}."
        return Explanation(passed, (*searched.steps, found), reason)


@_register_primitive
class ContainsAny(_Contains):
    """Passes when at least one substring occurs in the text. Ignores the ground truth.

    Attributes:
        substrings: What to look for, each with at least one character.
        normalize: What is done to the text and to each substring first.
    """

    title: ClassVar[str] = "Contains any of these"

    _enough = staticmethod(any)


@_register_primitive
class ContainsAll(_Contains):
    """Passes when every substring occurs in the text. Ignores the ground truth.

    Attributes:
        substrings: What to look for, each with at least one character.
        normalize: What is done to the text and to each substring first.
    """

    title: ClassVar[str] = "Contains all of these"


@_register_primitive
class RegexMatch(VerificationPrimitive):
    """Passes when the pattern is found anywhere in the text. Ignores the ground truth.

    A search that takes too long raises `PatternTimeoutError`: its outcome is not known.

    Attributes:
        pattern: A regular expression; refused when it does not compile.
        flags: Flag names such as `IGNORECASE` or `i`.
    """

    title: ClassVar[str] = "Fits a pattern"

    uses_ground_truth: ClassVar[bool] = False
    applies_to: ClassVar[tuple[FieldKind, ...]] = ("str",)

    pattern: str
    flags: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _compiles(self) -> RegexMatch:
        patterns.validate(self.pattern, self.flags)
        return self

    def check(self, extracted: Any, expected: Any) -> bool:
        text = as_text(extracted)
        return text is not None and patterns.found(self.pattern, text, self.flags)

    def explain(self, extracted: Any, expected: Any) -> Explanation:
        text = as_text(extracted)
        if text is None:
            return failed(no_text(extracted))
        found = patterns.spans(self.pattern, text, self.flags)
        if not found:
            return failed(f"The pattern {quoted(self.pattern)} matches nowhere in {quoted(text)}.")
        start, end = found[0]
        step = Step("first match", quoted(text), quoted(text[start:end]))
        return Explanation(True, (step,), f"The pattern {quoted(self.pattern)} matches {quoted(text[start:end])}.")


def no_text(value: Any) -> str:
    """Say why a value cannot be compared as a text."""
    return NOTHING_EXTRACTED if value is None else f"{quoted(value)} is not a text."
