"""Running a template's own methods: values in, verdict out, nothing believed unchecked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from karenina_core.templates.evaluation import plain
from karenina_core.templates.limits import refuse
from karenina_core.templates.sandbox import Sandbox
from karenina_core.templates.trace_patterns import TracePattern, read_patterns
from karenina_core.templates.transform import Program

_MAX_TRACE = 200_000
_MAX_EXPECTED = 50_000
_MAX_DEPTH = 30
_NOISE = 1e-9


@dataclass(frozen=True)
class Known:
    """What is known before the author's code runs.

    Attributes:
        values: Field values by name.
        raw_trace: The response.
        correct: Ground truths of the verified fields; None when there are none.
        results: Results of the verified fields.
        verdict: What they make together; None when there are none.
        granular: Their score.
    """

    values: Mapping[str, Any]
    raw_trace: str
    correct: dict[str, Any] | None
    results: Mapping[str, bool | None]
    verdict: bool | None
    granular: float | None


@dataclass(frozen=True)
class Said:
    """What the author's code said, checked; `patterns` are those it wants in the response."""

    verdict: bool
    granular: float | None
    expected: Any
    patterns: dict[str, TracePattern]


def run_program(program: Program, known: Known, sandbox: Sandbox) -> Said:
    """Run the methods of a template.

    Raises:
        TemplateError: The code failed, or its results are none: `verify` must return True or False and
            `verify_granular` a number from 0 to 1.
    """
    inputs = {
        "_karenina_values": {name: tagged(value) for name, value in known.values.items()},
        "_karenina_plain": {name: clean(_dumped(value)) for name, value in known.values.items()},
        "_karenina_trace": clean(known.raw_trace[:_MAX_TRACE]),
        "_karenina_correct": known.correct,
        "_karenina_results": dict(known.results),
        "_karenina_verdict": known.verdict,
        "_karenina_granular": known.granular,
        **handed_in_to(program),
    }
    verdict, granular, expected, regex = sandbox.run(program.code, inputs, program.lines, program.prelude)
    patterns = read_patterns(_small(regex, "self.regex", "name fewer patterns"))
    return Said(_verdict(verdict), _granular(granular), _expected(expected), patterns)


def handed_in_to(program: Program) -> dict[str, Any]:
    """Return the objects of this process that a program may use, by the name it gives them."""
    from karenina_core.templates.sandbox_modules import handed_in

    return {name: handed_in(original) for name, original in program.handed_in.items()}


def _dumped(value: Any) -> Any:
    """Return what `model_dump` gives for a field."""
    if isinstance(value, list | tuple):
        return [_dumped(item) for item in value]
    return value.model_dump() if isinstance(value, BaseModel) else value


def tagged(value: Any) -> list[Any]:
    """Mark nested models, so that the sandbox can rebuild them."""
    match value:
        case BaseModel():
            inside = {name: tagged(getattr(value, name)) for name in type(value).model_fields}
            return ["model", inside, type(value).__name__]
        case list() | tuple():
            return [type(value).__name__, [tagged(item) for item in value]]
        case dict():
            return ["dict", {clean(key): tagged(item) for key, item in value.items()}]
        case _:
            return ["value", clean(value)]


def clean(value: Any) -> Any:
    """Replace what no text can hold; the judge and the model may have sent it."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case list() | tuple() | set():
            return type(value)(clean(item) for item in value)
        case dict():
            return {clean(key): clean(item) for key, item in value.items()}
        case _:
            return value


def _verdict(value: Any) -> bool:
    if not isinstance(value, bool):
        raise refuse(
            "bad_result", f"verify() returned {short(value)}", "it must return True or False", "return a comparison"
        )
    return value


def _granular(value: Any) -> float | None:
    if value is None:
        return None
    if not isinstance(value, bool | int | float) or not -_NOISE <= value <= 1 + _NOISE or math.isnan(value):
        raise refuse(
            "bad_result",
            f"verify_granular() returned {short(value)}",
            "it must return a number from 0 to 1",
            "divide by the number of fields",
        )
    return min(1.0, max(0.0, float(value)))


def _expected(value: Any) -> Any:
    return _small(value, "self.correct", "keep only the expected values in it")


def _small(value: Any, name: str, next: str) -> Any:
    try:
        data = _data(value)
        if len(repr(data)) <= _MAX_EXPECTED:
            return data
    except ValueError:
        pass
    raise refuse("bad_result", f"{name} is too large", next=next)


def _data(value: Any, depth: int = 0) -> Any:
    """Return what the sandbox sent as JSON data; its objects become their attributes."""
    if depth > _MAX_DEPTH:
        raise ValueError("too deep")
    attributes = getattr(value, "attributes", None)
    if isinstance(attributes, dict):
        return _data(attributes, depth)
    if isinstance(value, dict):
        return {str(key): _data(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_data(item, depth + 1) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return plain(value)


def short(value: Any) -> str:
    """Name a value that code returned, in a few words."""
    text = repr(value)[:60] if isinstance(value, str | float | list | dict | None) else type(value).__name__
    return f"an int of {value.bit_length()} bits" if isinstance(value, int) and not isinstance(value, bool) else text
