"""Every error a user can meet.

    KareninaError
    ├── InputError               a file, form or argument is not usable
    │   ├── CheckpointError      a benchmark file
    │   ├── TemplateError        an answer template, with the line
    │   └── ConfigError          a model or run configuration
    ├── ModelError               a model call failed, with its category
    ├── MissingDependencyError   an optional part is not installed
    └── StoreError               the database

Each has three parts: `what` happened, `why`, and what to do `next`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, get_args

RetryableCategory = Literal["connection", "timeout", "rate_limit", "server_error"]
RequestCategory = Literal["authentication", "not_found", "bad_request", "context_length", "refused"]
ReplyCategory = Literal["truncated", "empty", "invalid_output", "missing_recording", "cancelled", "unexpected"]
ModelErrorCategory = Literal[RetryableCategory, RequestCategory, ReplyCategory]
RETRYABLE: frozenset[str] = frozenset(get_args(RetryableCategory))


class KareninaError(Exception):
    """Base of all errors meant for a user's eyes.

    Args:
        what: One sentence: what happened.
        why: The reason, if known.
        next: What the user can do about it.
    """

    def __init__(self, what: str, why: str = "", next: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.next = next

    def __str__(self) -> str:
        return " ".join(part for part in (self.what, self.why, self.next) if part)


class InputError(KareninaError, ValueError):
    """A file, form or argument cannot be used as given."""


class CheckpointError(InputError):
    """A benchmark file cannot be read or written.

    Args:
        code: Stable short name of the reason, such as `too_large` or `json`.
    """

    def __init__(self, what: str, why: str = "", next: str = "", *, code: str = "checkpoint") -> None:
        super().__init__(what, why, next)
        self.code = code


class TemplateError(InputError):
    """An answer template cannot be read or run.

    Args:
        code: Stable short name of the reason, such as `syntax` or `unknown_call`.
        line: Line in the template source, counted from 1, if known.
    """

    def __init__(self, what: str, why: str = "", next: str = "", *, code: str, line: int | None = None) -> None:
        super().__init__(what, why, next)
        self.code = code
        self.line = line

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        hint = f" ({self.next})" if self.next else ""
        return f"{place}{self.what}{': ' + self.why if self.why else ''}{hint}"


class ConfigError(InputError):
    """A model or run configuration cannot work."""


class ModelError(KareninaError):
    """A model call failed.

    Args:
        category: What kind of failure it was; decides whether a retry makes sense.
        retry_after: Seconds the provider asked to wait, if it did.
    """

    def __init__(
        self,
        what: str,
        why: str = "",
        next: str = "",
        *,
        category: ModelErrorCategory = "unexpected",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(what, why, next)
        self.category: ModelErrorCategory = category
        self.retry_after = retry_after

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.category in RETRYABLE


class MissingDependencyError(KareninaError):
    """An optional part of the workbench is not installed."""


class StoreError(KareninaError):
    """The database cannot be opened, read or written."""


_MUST = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": "must be a dictionary",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "missing": "is missing",
    "model_type": "must be one JSON object",
    "string_too_short": "must have at least {min_length} characters",
    "string_type": "must be text",
    "too_long": "has more than {max_length} entries",
    "too_short": "must have at least {min_length} entries",
}
_LONGEST_VALUE = 60  # characters of a value that is quoted


def validation_message(error: ValueError, *, most: int = 5, values: bool = False) -> str:
    """Return what does not fit, in words: `name of entry 2 of fields must be text; …`, without a full stop.

    Args:
        error: What pydantic raised; of any other error its own text is returned.
        most: Problems to name. The others are counted.
        values: Whether to quote the values that do not fit, as a judge needs them that is asked again.
    """
    from pydantic_core import ValidationError

    if not isinstance(error, ValidationError):
        return str(error)
    problems = error.errors(include_url=False)
    messages = [_problem(problem, values) for problem in problems[:most]]
    more = len(problems) - most
    return "; ".join([*messages, f"and {more} more"] if more > 0 and most > 1 else messages)


def _problem(problem: Mapping[str, Any], values: bool) -> str:
    parts = [f"entry {part + 1}" if isinstance(part, int) else part[:80] for part in reversed(problem["loc"])]
    place, kind = " of ".join(parts), problem["type"]
    if kind in _MUST:
        limits = problem.get("ctx", {})
        must = "must not be empty" if limits.get("min_length") == 1 else _MUST[kind].format(**limits)
        text = f"{place or 'It'} {must}"
    else:
        text = ": ".join(filter(None, (place, problem["msg"].removeprefix("Value error, "))))
    return f"{text}, not {_quoted(problem['input'])}" if values and kind not in ("missing", "too_long") else text


def _quoted(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
