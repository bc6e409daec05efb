"""What does not fit in a judge's reply, in words for people that are as useful to the judge who is asked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel

from karenina_core.errors import InputError, validation_message

AnyReply = TypeVar("AnyReply", bound=BaseModel)


def fitting(form: type[AnyReply]) -> Callable[[Any], AnyReply]:
    """Return what turns a judge's JSON into a reply of that form, or raises an `InputError` that says what is wrong."""

    def read(data: Any) -> AnyReply:
        try:
            return form.model_validate(data)
        except ValueError as error:
            raise InputError("The reply does not fit.", validation_message(error, values=True)) from None

    return read
