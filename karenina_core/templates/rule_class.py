"""A rule that a template's own source defines, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from karenina_core.errors import InputError

RuleMethod = Literal["check", "check_trace"]
"""`check` compares an extracted value with the truth, `check_trace` reads the response."""


@dataclass(frozen=True)
class RuleClass:
    """A custom primitive of a template. Its code is never run in this process.

    Attributes:
        name: Name of the class.
        method: The method that decides.
        line: Line of that method, counted from 1.
        parameters: What it is built with.
    """

    name: str
    method: RuleMethod
    line: int
    parameters: type[BaseModel]

    def stored(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the stored form of the rule: its name under `type`, then every parameter.

        Raises:
            InputError: A parameter is unknown, missing or of the wrong type.
        """
        try:
            return {"type": self.name, **self.parameters.model_validate(given).model_dump(mode="json")}
        except ValidationError as error:
            raise InputError(f"{self.name} cannot be built.", why=str(error)) from error
