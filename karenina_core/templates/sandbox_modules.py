"""What a template may import inside the sandbox beyond what the interpreter brings, and the objects handed in.

Everything here runs in this process, unmetered, for a stranger's arguments: it stays small and bounded.
"""

from __future__ import annotations

import statistics
import string
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import Any

from karenina_core.schemas.primitives import REGISTRY, SynonymMap

_METHODS = ("apply", "check", "check_trace")
_DAY = datetime(2025, 1, 1)  # noqa: DTZ001 - texts without a zone stay without one
_MAX_NUMBERS = 10_000
_MAX_DATE_TEXT = 100
_MAX_TEXT = 200_000
_STATISTICS = ("fmean", "mean", "median", "pstdev", "pvariance", "stdev", "variance")
_STRINGS = (
    "ascii_letters",
    "ascii_lowercase",
    "ascii_uppercase",
    "digits",
    "hexdigits",
    "octdigits",
    "printable",
    "punctuation",
    "whitespace",
)


@cache
def modules() -> dict[str, Any]:
    """Return the importable modules by name: parts of `string`, `statistics` and `dateutil`."""
    from pydantic_monty import ExternalModule

    return {
        "string": ExternalModule({name: getattr(string, name) for name in _STRINGS}),
        "statistics": ExternalModule({name: _bounded(getattr(statistics, name)) for name in _STATISTICS}),
        "dateutil": ExternalModule({"parser": ExternalModule({"parse": _parse_date})}),
    }


def handed_in(name: str) -> Any:
    """Return the primitive class, or `SynonymMap`, as the sandbox may use it: build it, call `check`."""
    return _wrapped(SynonymMap if name == "SynonymMap" else REGISTRY[name])


@cache
def _wrapped(value: type[Any]) -> Any:
    from pydantic_monty import ClassInstance, ClassType

    class Instance(ClassInstance):  # type: ignore[misc]
        def call_method(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            _check_size([*args, *kwargs.values()])
            return super().call_method(name, args, kwargs)

    class Class(ClassType):  # type: ignore[misc]
        def construct(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            _check_size([*args, *kwargs.values()])
            try:
                return Instance(self.value(*args, **kwargs), class_type=self, allowed_methods=_METHODS)
            except ValueError as error:
                raise ValueError(f"{self.value.__name__} cannot be built: {error}") from None

    return Class(value, init=True)


def _bounded(function: Callable[[list[float]], float]) -> Callable[[Any], float]:
    def call(data: Any) -> float:
        numbers = list(data)
        if len(numbers) > _MAX_NUMBERS or not all(isinstance(n, int | float) and abs(n) < 1e300 for n in numbers):
            raise ValueError(f"statistics takes up to {_MAX_NUMBERS} ordinary numbers")
        return function(numbers)

    return call


def _parse_date(text: Any, dayfirst: bool = False, yearfirst: bool = False) -> datetime:
    from dateutil import parser

    if not isinstance(text, str) or len(text) > _MAX_DATE_TEXT:
        raise ValueError(f"dates are read from text of up to {_MAX_DATE_TEXT} characters")
    try:
        found = parser.parse(text, dayfirst=bool(dayfirst), yearfirst=bool(yearfirst), default=_DAY)
    except (ValueError, OverflowError, TypeError) as error:
        raise ValueError(f"{text!r} is not a date") from error
    offset = found.utcoffset()
    return found.replace(tzinfo=None if offset is None else timezone(timedelta(seconds=round(offset.total_seconds()))))


def _check_size(values: Any, depth: int = 0) -> int:
    """Return the summed size of values, or refuse them."""
    size = 0
    for value in values:
        size += len(value) if isinstance(value, str | bytes) else 1
        if isinstance(value, int) and value.bit_length() > 10_000:
            raise ValueError("the number is too large for a primitive")
        if isinstance(value, dict):
            size += _check_size([*value.keys(), *value.values()], depth + 1)
        elif isinstance(value, list | tuple | set | frozenset):
            size += _check_size(value, depth + 1)
        if size > _MAX_TEXT or depth > 20:
            raise ValueError("the values are too large for a primitive")
    return size
