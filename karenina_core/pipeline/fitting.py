"""What does not fit in a judge's reply, in words for people that are as useful to the judge who is asked again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from karenina_core.errors import InputError

AnyReply = TypeVar("AnyReply", bound=BaseModel)
_MOST = 5  # complaints in one message
_LONGEST = 60  # characters of a value that is quoted
_MUST_BE = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "list_type": "a list",
    "literal_error": "one of the values that are asked for",
    "model_type": "one JSON object",
    "string_type": "text",
}


def fitting(form: type[AnyReply]) -> Callable[[Any], AnyReply]:
    """Return what turns a judge's JSON into a reply of that form, or raises an `InputError` that says what is wrong."""

    def read(data: Any) -> AnyReply:
        try:
            return form.model_validate(data)
        except ValidationError as error:
            raise InputError("The reply does not fit.", _complaints(error)) from None

    return read


def _complaints(error: ValidationError) -> str:
    found = error.errors(include_url=False)
    said = [_complaint(problem) for problem in found[:_MOST]]
    more = [f"There are {len(found) - _MOST} more problems."] if len(found) > _MOST else []
    return " ".join([*said, *more])


def _complaint(problem: Mapping[str, Any]) -> str:
    """Return one complaint as a sentence, such as `The field "matches" of entry 2 of "items" must be text, not 5.`"""
    parts = [f"entry {part + 1}" if isinstance(part, int) else json.dumps(part) for part in reversed(problem["loc"])]
    place = " of ".join(parts)
    place = f"The field {place}" if place.startswith('"') else f"{place[:1].upper()}{place[1:]}" or "It"
    match problem["type"]:
        case "missing":
            return f"{place} is missing."
        case "too_long":
            return f"{place} has more than {problem['ctx']['max_length']} entries."
    wanted = _MUST_BE.get(problem["type"], "of the form that is asked for")
    return f"{place} must be {wanted}, not {_quoted(problem['input'])}."


def _quoted(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
