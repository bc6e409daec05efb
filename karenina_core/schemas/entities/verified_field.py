"""`VerifiedField`: a template field together with its truth and the rule that compares them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

from karenina_core.schemas.primitives.base import Primitive, TracePrimitive, VerificationPrimitive


@dataclass(frozen=True)
class Verification:
    """How one field is verified.

    It rides on the pydantic field as `json_schema_extra` and, being called there, adds nothing:
    no schema ever shows it, so no judge ever sees the truth.

    Attributes:
        ground_truth: The expected value.
        verify_with: The rule, as the live object, so that unregistered custom rules work.
        weight: Share in the granular score, at least 0.
        extraction_hint: Extra help for the judge, beside the description.
    """

    ground_truth: Any
    verify_with: Primitive
    weight: float = 1.0
    extraction_hint: str | None = None

    def __call__(self, schema: dict[str, Any]) -> None:
        """Leave the JSON schema as it is."""

    @property
    def is_trace(self) -> bool:
        """Whether the rule reads the raw response instead of an extracted value."""
        return isinstance(self.verify_with, TracePrimitive)


def VerifiedField(
    *,
    description: str,
    ground_truth: Any,
    verify_with: Primitive,
    weight: float = 1.0,
    extraction_hint: str | None = None,
    **field_options: Any,
) -> Any:
    """Declare a template field that verifies itself.

    Args:
        description: What the judge shall look for in the response.
        ground_truth: The expected value; a placeholder where the rule ignores it.
        verify_with: A `VerificationPrimitive` or `TracePrimitive` instance.
        weight: Share in the granular score, finite and at least 0.
        extraction_hint: Extra help for the judge.
        **field_options: Passed on to pydantic's `Field`, such as `ge=0`.

    Raises:
        ValueError: The description is blank, the weight negative, or `verify_with` no primitive instance.
    """
    if not isinstance(description, str) or not description.strip():
        raise ValueError("VerifiedField needs a description: it tells the judge what to look for.")
    if not isinstance(verify_with, VerificationPrimitive | TracePrimitive):
        raise ValueError(f"verify_with must be a primitive instance such as ExactMatch(), not {verify_with!r}.")
    if not math.isfinite(weight) or weight < 0:
        raise ValueError(f"weight must be a finite number of at least 0, not {weight!r}.")
    verification = Verification(ground_truth, verify_with, weight, extraction_hint)
    return Field(description=description, json_schema_extra=verification, **field_options)


def verification_of(field: FieldInfo) -> Verification | None:
    """Return how `field` is verified, or None for a plain field."""
    extra = field.json_schema_extra
    return extra if isinstance(extra, Verification) else None


def verified_fields(model: type[BaseModel]) -> dict[str, Verification]:
    """Return the verified fields of a template class by name, in their order of definition."""
    found = ((name, verification_of(field)) for name, field in model.model_fields.items())
    return {name: verification for name, verification in found if verification is not None}
