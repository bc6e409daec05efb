"""Checks of the raw response text, without a judge.

The field's ground truth says whether the check is to hold: False tests for absence.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from karenina_core import patterns
from karenina_core.errors import InputError
from karenina_core.schemas.primitives.base import Explanation, FieldKind, Step, TracePrimitive, _register_primitive
from karenina_core.schemas.primitives.normalizers import nfc
from karenina_core.schemas.primitives.wording import listed, quoted, within
from karenina_core.text import counted

Length = Annotated[int, Field(ge=0)]


class _Trace(TracePrimitive):
    applies_to: ClassVar[tuple[FieldKind, ...]] = ("bool",)


@_register_primitive
class TraceRegex(_Trace):
    """Holds when the pattern is found in the response, or found often enough.

    A search that takes too long raises `PatternTimeoutError`: its outcome is not known.

    Attributes:
        pattern: A regular expression; refused when it does not compile. Flags go inside it, such as `(?i)`.
        count_min: Least number of matches that do not overlap, from 1; None is the same as 1.
    """

    title: ClassVar[str] = "Pattern in the response"

    pattern: str
    count_min: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _compiles(self) -> TraceRegex:
        patterns.validate(self.pattern)
        return self

    def check_trace(self, raw_trace: str) -> bool:
        text = response_text(raw_trace)
        if self.count_min is None:
            return patterns.found(self.pattern, text)
        return patterns.count(self.pattern, text) >= self.count_min

    def explain_trace(self, raw_trace: str) -> Explanation:
        text = response_text(raw_trace)
        places = patterns.spans(self.pattern, text)
        wanted = self.count_min or 1
        needed = f"; {wanted} or more are needed" if wanted > 1 else ""
        reason = f"The pattern {quoted(self.pattern)} has {_matches(len(places))} in the response{needed}."
        matches = listed(text[start:end] for start, end in places)
        steps = (Step("matches", self.pattern, matches),) if places else ()
        return Explanation(len(places) >= wanted, steps, reason)


@_register_primitive
class TraceContains(_Trace):
    """Holds when the substring occurs in the response; case counts.

    Attributes:
        substring: What to look for, at least one character.
    """

    title: ClassVar[str] = "Words in the response"

    substring: str = Field(min_length=1)

    def check_trace(self, raw_trace: str) -> bool:
        return nfc(self.substring) in nfc(response_text(raw_trace))

    def explain_trace(self, raw_trace: str) -> Explanation:
        times = nfc(response_text(raw_trace)).count(nfc(self.substring))
        if not times:
            return Explanation(False, (), f"{quoted(self.substring)} is not in the response.")
        return Explanation(True, (), f"{quoted(self.substring)} occurs {counted(times, 'time')} in the response.")


@_register_primitive
class TraceLength(_Trace):
    """Holds when the length of the response lies within the bounds, which belong to it.

    Attributes:
        min: Least length; none if None.
        max: Greatest length; none if None.
        unit: `chars`: Unicode characters. `words`: runs of non-blank characters.
    """

    title: ClassVar[str] = "Length of the response"

    min: Length | None = None
    max: Length | None = None
    unit: Literal["chars", "words"] = "chars"

    @model_validator(mode="after")
    def _not_empty(self) -> TraceLength:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min} is greater than max {self.max}, so that no response could pass")
        return self

    def check_trace(self, raw_trace: str) -> bool:
        return self._holds(self._length(raw_trace))

    def explain_trace(self, raw_trace: str) -> Explanation:
        length = self._length(raw_trace)
        shown = counted(length, {"chars": "character", "words": "word"}[self.unit])
        bounds = within(*(None if bound is None else str(bound) for bound in (self.min, self.max)))
        passed = self._holds(length)
        return Explanation(passed, (), f"The response has {shown}, which {'is' if passed else 'is not'} {bounds}.")

    def _holds(self, length: int) -> bool:
        return (self.min is None or length >= self.min) and (self.max is None or length <= self.max)

    def _length(self, raw_trace: str) -> int:
        text = response_text(raw_trace)
        return len(text) if self.unit == "chars" else len(text.split())


def response_text(raw_trace: Any) -> str:
    """Return the response if it is a text.

    A missing response must not count as "not found", which would pass a test for absence.

    Raises:
        InputError: It is missing or not a text.
    """
    if not isinstance(raw_trace, str):
        raise InputError(
            "A trace primitive reads the raw response, but there is none.",
            why=f"{type(raw_trace).__name__} was given instead of a text.",
        )
    return raw_trace


def _matches(amount: int) -> str:
    return {0: "no match", 1: "1 match"}.get(amount, f"{amount} matches")
