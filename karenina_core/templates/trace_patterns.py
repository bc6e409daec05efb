"""`self.regex`: patterns that a template's own code wants in the response, beside what it verifies.

The code only names them, in `model_post_init`; they are searched here, within the time budget of all patterns.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from karenina_core.errors import InputError, TemplateError, validation_message
from karenina_core.patterns import PatternTimeoutError, matches, validate
from karenina_core.schemas import FieldEvidence
from karenina_core.templates.limits import refuse

_MAX_PATTERNS = 50
_SHOWN = 20
_TEXT = 500


class TracePattern(BaseModel):
    """What the response is searched for.

    Attributes:
        pattern: A regular expression.
        expected: What it should find; for `count` how often, for `all` a list.
        match_type: `exact` (finds this and nothing else), `contains` (finds this among others), `count`, or `all`
            (finds all of these).
    """

    model_config = ConfigDict(extra="ignore")

    pattern: str
    expected: Any
    match_type: Literal["exact", "contains", "count", "all"]

    def passes(self, found: list[Any]) -> bool:
        """Say whether the matches are what is expected."""
        match self.match_type:
            case "exact":
                return bool(found == [self.expected])
            case "contains":
                return self.expected in found
            case "count":
                return bool(len(found) == self.expected)
            case "all":
                return all(item in found for item in self.expected)


_PATTERNS: TypeAdapter[dict[str, TracePattern]] = TypeAdapter(
    Annotated[dict[str, TracePattern], Field(max_length=_MAX_PATTERNS)]
)


def read_patterns(value: Any) -> dict[str, TracePattern]:
    """Return the patterns a template's code set, checked.

    Raises:
        TemplateError: `bad_result`; it is none, and so is the verdict, because nobody knows what was meant.
    """
    try:
        found = _PATTERNS.validate_python(value or {})
        for name, wanted in found.items():
            validate(wanted.pattern)
            kind = {"count": int, "all": list}.get(wanted.match_type, object)
            if not isinstance(wanted.expected, kind) or isinstance(wanted.expected, bool):
                raise InputError(f"expected of {name!r} does not go with {wanted.match_type}")
    except ValidationError as error:
        raise _unusable(validation_message(error, most=1)) from None
    except InputError as error:
        raise _unusable(str(error)) from None
    return found


def decide_patterns(wanted: dict[str, TracePattern], raw_trace: str) -> tuple[FieldEvidence, ...]:
    """Return the evidence of every pattern.

    Raises:
        TemplateError: `timeout`; a search took too long.
    """
    return tuple(_evidence(name, pattern, raw_trace) for name, pattern in wanted.items())


def _evidence(name: str, wanted: TracePattern, raw_trace: str) -> FieldEvidence:
    try:
        found = matches(wanted.pattern, raw_trace)
    except PatternTimeoutError as error:
        raise refuse("timeout", error.what, error.why, error.next) from None
    return FieldEvidence(
        name=f"regex {name}",
        expected=wanted.expected,
        extracted=[_cut(item) for item in found[:_SHOWN]],
        result=wanted.passes(found),
        rule={"type": "regex", "pattern": wanted.pattern, "match_type": wanted.match_type},
        is_trace=True,
        reason=f"{len(found)} matches in the response; expected: {wanted.match_type}",
    )


def _cut(found: Any) -> Any:
    return [part[:_TEXT] for part in found] if isinstance(found, list) else found[:_TEXT]


def _unusable(why: str) -> TemplateError:
    return refuse(
        "bad_result",
        "self.regex is not usable",
        why,
        'set {"name": {"pattern": ..., "expected": ..., "match_type": "exact", "contains", "count" or "all"}}',
    )
