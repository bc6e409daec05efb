"""Running a template's own methods and primitives in the sandbox: values in, results out, all of them checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

from pydantic import AnyUrl, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from karenina_core.errors import InputError, TemplateError, validation_message
from karenina_core.patterns import PatternTimeoutError, matches, validate
from karenina_core.schemas import FieldEvidence
from karenina_core.schemas.primitives import Explanation
from karenina_core.templates.evaluation import Evaluation, evidence, nothing_found, plain
from karenina_core.templates.limits import refuse
from karenina_core.templates.program import Program
from karenina_core.templates.sandbox import AnySandbox, handed_in
from karenina_core.templates.scope import RuleClass
from karenina_core.templates.spec import FieldSpec

_MAX_TRACE = 200_000
_MAX_EXPECTED = 50_000
_MAX_DEPTH = 30
_MAX_PATTERNS = 50
_MATCHES_SHOWN = 20
_MATCH_LENGTH = 500
_NOISE = 1e-9
_PATTERN_FORM = 'set {"name": {"pattern": ..., "expected": ..., "match_type": "exact", "contains", "count" or "all"}}'


class TracePattern(BaseModel):
    """A pattern that a template's own code wants in the response, named in `self.regex`.

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
        holds = {
            "exact": found == [self.expected],
            "contains": self.expected in found,
            "count": len(found) == self.expected,
        }
        return holds[self.match_type] if self.match_type in holds else all(item in found for item in self.expected)


_PATTERNS: TypeAdapter[dict[str, TracePattern]] = TypeAdapter(
    Annotated[dict[str, TracePattern], Field(max_length=_MAX_PATTERNS)]
)


class HookOutcome(NamedTuple):
    """What the author's methods returned, checked; `patterns` are those they want in the response."""

    verdict: bool
    granular: float | None
    expected: Any
    patterns: dict[str, TracePattern]


@dataclass(frozen=True)
class OwnRule:
    """A field that a primitive of the template's own source verifies."""

    spec: FieldSpec
    rule: RuleClass


def run_hooks(program: Program, evaluation: Evaluation, sandbox: AnySandbox) -> HookOutcome:
    """Run the methods of a template.

    Args:
        program: The template's code.
        evaluation: What is known before the code runs.
        sandbox: Where to run it.

    Raises:
        TemplateError: The code failed, or its results are none: `verify` must return True or False and
            `verify_granular` a number from 0 to 1.
    """
    values = {**evaluation.values, **{item.name: item.extracted for item in evaluation.fields if item.is_trace}}
    inputs = {
        "_karenina_values": {name: _tagged(value) for name, value in values.items()},
        "_karenina_trace": _clean(evaluation.raw_trace[:_MAX_TRACE]),
        "_karenina_correct": evaluation.expected,
        "_karenina_results": evaluation.results,
        "_karenina_verdict": evaluation.verdict,
        "_karenina_granular": evaluation.granular,
    }
    verdict, granular, expected, regex = _run(program, program.hook_tail, inputs, sandbox)
    return HookOutcome(
        _checked_verdict(verdict, "verify()"),
        _checked_granular(granular),
        _small(expected, "self.correct", "keep only the expected values in it"),
        _read_patterns(_small(regex, "self.regex", "name fewer patterns")),
    )


def apply_own_rules(
    rules: Sequence[OwnRule], program: Program, values: Mapping[str, Any], raw_trace: str, sandbox: AnySandbox
) -> dict[str, FieldEvidence]:
    """Return the evidence of the fields that the template's own primitives verify, by name.

    A null is never right and reaches no check.

    Raises:
        TemplateError: A check failed, or returned anything but True or False.
    """
    decided = {rule.spec.name: nothing_found(rule.spec) for rule in rules}
    asked = [rule for rule in rules if rule.spec.is_trace or values.get(rule.spec.name) is not None]
    if not asked:
        return decided
    jobs = [_job(rule, values.get(rule.spec.name)) for rule in asked]
    lines = {rule.rule.line for rule in asked}
    # Where the interpreter gives up it names no line; with one rule, its method is where the author has to look.
    line = lines.pop() if len(lines) == 1 else None
    inputs = {"_karenina_jobs": jobs, "_karenina_trace": _clean(raw_trace)}
    try:
        outcomes = _run(program, program.rule_tail, inputs, sandbox)
    except TemplateError as error:
        raise refuse(error.code, error.what, error.why, error.next, line=error.line or line) from None
    if not isinstance(outcomes, list) or len(outcomes) != len(asked):
        raise refuse("bad_result", "the checks did not return one result for each field", line=line)
    for rule, outcome in zip(asked, outcomes, strict=True):
        passed = _checked_verdict(outcome, f"{rule.rule.method}() of {rule.rule.name}", rule.rule.line)
        decided[rule.spec.name] = _rule_evidence(rule, values.get(rule.spec.name), passed)
    return decided


def _run(program: Program, tail: str, inputs: dict[str, Any], sandbox: AnySandbox) -> Any:
    inputs |= {name: handed_in(original) for name, original in program.handed_in.items()}
    return sandbox.run(program.code + tail, inputs, program.lines, program.prelude)


def _job(own: OwnRule, value: Any) -> dict[str, Any]:
    """Return what the sandbox needs to check a value."""
    return {
        "rule": ["model", {name: _tagged(item) for name, item in _parameters(own).items()}, own.rule.name],
        "is_trace": own.spec.is_trace,
        "value": _tagged(value),
        "expected": _clean(own.spec.ground_truth),
    }


def _parameters(own: OwnRule) -> dict[str, Any]:
    return {name: item for name, item in (own.spec.verify_with or {}).items() if name != "type"}


def _rule_evidence(own: OwnRule, value: Any, passed: bool) -> FieldEvidence:
    spec = own.spec
    shown = f"{own.rule.name}({', '.join(f'{name}={item!r}' for name, item in _parameters(own).items())})"
    if spec.is_trace:
        explanation = Explanation(passed, (), f"{shown} {'holds' if passed else 'does not hold'} for the response")
        return evidence(spec, passed, passed == bool(spec.ground_truth), explanation, reads_trace=True)
    relation = "matches" if passed else "does not match"
    explanation = Explanation(passed, (), f"{value!r} {relation} {spec.ground_truth!r} by {shown}")
    return evidence(spec, plain(value), passed, explanation)


def _tagged(value: Any) -> list[Any]:
    """Mark nested models, so that the sandbox can rebuild them."""
    match value:
        case BaseModel():
            inside = {name: _tagged(getattr(value, name)) for name in type(value).model_fields}
            return ["model", inside, type(value).__name__]
        case list() | tuple():
            return [type(value).__name__, [_tagged(item) for item in value]]
        case dict():
            return ["dict", {_clean(key): _tagged(item) for key, item in value.items()}]
        case _:
            return ["value", _clean(value)]


def _clean(value: Any) -> Any:
    """Replace what no text can hold; the judge and the model may have sent it."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case UUID() | AnyUrl():
            return str(value)
        case list() | tuple() | set():
            return type(value)(_clean(item) for item in value)
        case dict():
            return {_clean(key): _clean(item) for key, item in value.items()}
        case _:
            return value


def _checked_verdict(value: Any, method: str, line: int | None = None) -> bool:
    if not isinstance(value, bool):
        what = f"{method} returned {_short(value)}"
        raise refuse("bad_result", what, "it must return True or False", "return a comparison", line=line)
    return value


def _checked_granular(value: Any) -> float | None:
    if value is None:
        return None
    if not isinstance(value, bool | int | float) or not -_NOISE <= value <= 1 + _NOISE or math.isnan(value):
        what = f"verify_granular() returned {_short(value)}"
        raise refuse("bad_result", what, "it must return a number from 0 to 1", "divide by the number of fields")
    return min(1.0, max(0.0, float(value)))


def _small(value: Any, name: str, next: str) -> Any:
    with suppress(ValueError):
        data = _data(value)
        if len(repr(data)) <= _MAX_EXPECTED and _depth(data) <= _MAX_DEPTH:
            return data
    raise refuse("bad_result", f"{name} is too large", next=next)


def _depth(data: Any) -> int:
    inside = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return 1 + max(map(_depth, inside), default=0)


def _data(value: Any) -> Any:
    """Return what the sandbox sent as JSON data; its objects become their attributes."""
    return to_jsonable_python(value, inf_nan_mode="null", fallback=lambda item: getattr(item, "attributes", repr(item)))


def _short(value: Any) -> str:
    """Name a value that code returned, in a few words."""
    text = repr(value)[:60] if isinstance(value, str | float | list | dict | None) else type(value).__name__
    return f"an int of {value.bit_length()} bits" if isinstance(value, int) and not isinstance(value, bool) else text


def _read_patterns(value: Any) -> dict[str, TracePattern]:
    """Return the patterns a template's code set; unusable ones leave no verdict: nobody knows what was meant."""
    try:
        patterns = _PATTERNS.validate_python(value or {})
        for name, wanted in patterns.items():
            validate(wanted.pattern)
            kind = {"count": int, "all": list}.get(wanted.match_type, object)
            if not isinstance(wanted.expected, kind) or isinstance(wanted.expected, bool):
                raise InputError(f"expected of {name!r} does not go with {wanted.match_type}")
    except (ValidationError, InputError) as error:
        why = validation_message(error, most=1)
        raise refuse("bad_result", "self.regex is not usable", why, _PATTERN_FORM) from None
    return patterns


def pattern_evidence(name: str, wanted: TracePattern, raw_trace: str) -> FieldEvidence:
    """Return the evidence of a pattern, searched within the time budget of all patterns.

    Raises:
        TemplateError: `timeout`; the search took too long.
    """
    try:
        found = matches(wanted.pattern, raw_trace)
    except PatternTimeoutError as error:
        raise refuse("timeout", error.what, error.why, error.next) from None
    return FieldEvidence(
        name=f"regex {name}",
        expected=wanted.expected,
        extracted=[_cut(item) for item in found[:_MATCHES_SHOWN]],
        result=wanted.passes(found),
        rule={"type": "regex", "pattern": wanted.pattern, "match_type": wanted.match_type},
        is_trace=True,
        reason=f"{len(found)} matches in the response; expected: {wanted.match_type}",
    )


def _cut(match: Any) -> Any:
    return [part[:_MATCH_LENGTH] for part in match] if isinstance(match, list) else match[:_MATCH_LENGTH]
