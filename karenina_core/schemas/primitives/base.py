"""What a verification primitive is, and the registry that turns stored ones back into objects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic_core import from_json, to_json

from karenina_core.errors import InputError, validation_message

FieldKind = Literal["bool", "str", "int", "float", "list[str]", "literal", "date"]
"""What a template field holds; a `date` is written as `str`."""


class Step(NamedTuple):
    """One step of an explanation, such as `lowercase: "Bcl-2" → "bcl-2"`.

    Attributes:
        label: What was done.
        before: The value before, as text.
        after: The value after, as text.
    """

    label: str
    before: str
    after: str


class Explanation(NamedTuple):
    """How a primitive came to its verdict.

    Attributes:
        passed: The verdict of the rule.
        steps: What happened to the values on the way.
        reason: One plain sentence.
    """

    passed: bool
    steps: tuple[Step, ...]
    reason: str


class _Rule(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    title: ClassVar[str] = ""
    """What it does, in a few words; the name of the class when nothing is said."""
    applies_to: ClassVar[tuple[FieldKind, ...]] = ()
    """The kinds of field it is made for, the most natural first; empty when nothing is said."""

    @model_validator(mode="before")
    @classmethod
    def _accept_own_type(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("type") == cls.__name__ and "type" not in cls.model_fields:
            return {key: value for key, value in data.items() if key != "type"}
        return data

    @model_serializer(mode="wrap")
    def _name_the_type(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"type": type(self).__name__, **serialize(self)}

    def to_dict(self) -> dict[str, Any]:
        """Return the stored form: the class name under `type`, then every parameter."""
        return self.model_dump(mode="json")


class VerificationPrimitive(_Rule):
    """A deterministic comparison of an extracted value with the expected one.

    Subclass it and implement `check`. Parameters are ordinary pydantic fields.
    """

    uses_ground_truth: ClassVar[bool] = True
    """Whether `expected` decides anything; False where the parameters carry the expectation."""

    def check(self, extracted: Any, expected: Any) -> bool:
        """Say whether `extracted` is right.

        Args:
            extracted: What the judge found in the response. Never raises because of its value.
            expected: The field's ground truth.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement check(extracted, expected).")

    def explain(self, extracted: Any, expected: Any) -> Explanation:
        """Give the verdict of `check` with its reasons."""
        passed = self.check(extracted, expected)
        relation = "matches" if passed else "does not match"
        against = f" {expected!r}" if self.uses_ground_truth else f" {self!r}"
        return Explanation(passed, (), f"{extracted!r} {relation}{against}")


class Comparison(VerificationPrimitive):
    """A primitive that reads both sides as values of one kind and compares them."""

    def check(self, extracted: Any, expected: Any) -> bool:
        found, wanted = self._read(extracted), self._read(expected)
        return found is not None and wanted is not None and self._passes(found, wanted)

    def explain(self, extracted: Any, expected: Any) -> Explanation:
        found, wanted = self._read(extracted), self._read(expected)
        if found is None or wanted is None:
            return self._unreadable(extracted, found, expected)
        return self._compared(extracted, found, expected, wanted)

    def _read(self, value: Any) -> Any:
        """Return the value that is compared, or None where it cannot be read."""
        raise NotImplementedError

    def _passes(self, found: Any, wanted: Any) -> bool:
        raise NotImplementedError

    def _unreadable(self, extracted: Any, found: Any, expected: Any) -> Explanation:
        raise NotImplementedError

    def _compared(self, extracted: Any, found: Any, expected: Any, wanted: Any) -> Explanation:
        raise NotImplementedError


class TracePrimitive(_Rule):
    """A deterministic check of the raw response text, without a judge.

    Subclass it and implement `check_trace`. A field that uses it must be typed `bool`.
    """

    def check_trace(self, raw_trace: str) -> bool:
        """Say whether the condition holds for the raw response text."""
        raise NotImplementedError(f"{type(self).__name__} must implement check_trace(raw_trace).")

    def explain_trace(self, raw_trace: str) -> Explanation:
        """Give the verdict of `check_trace` with its reasons."""
        passed = self.check_trace(raw_trace)
        return Explanation(passed, (), f"{self!r} {'holds' if passed else 'does not hold'} for the response")


Primitive = VerificationPrimitive | TracePrimitive
P = TypeVar("P", bound=type[VerificationPrimitive] | type[TracePrimitive])

REGISTRY: dict[str, type[VerificationPrimitive] | type[TracePrimitive]] = {}


def _register_primitive(cls: P) -> P:
    """Make a primitive class known by its name, so that stored ones can be read back."""
    REGISTRY[cls.__name__] = cls
    _shared.cache_clear()
    return cls


def primitive_from_dict(data: Mapping[str, Any]) -> Primitive:
    """Build the primitive that `to_dict` described.

    Raises:
        InputError: `type` is missing or unknown, or a parameter is not acceptable.
    """
    try:
        primitive = _shared(to_json(data, inf_nan_mode="constants"))
    except ValueError:  # no JSON can hold it; what is wrong with it is said without
        return _built(data)
    # What cannot change may be shared; the questions of a benchmark mostly have the same few rules.
    fixed = all(isinstance(value, str | int | float | None) for value in primitive.__dict__.values())
    return primitive if fixed and primitive.__pydantic_private__ is None else primitive.model_copy(deep=True)


def stored_form(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the complete stored form of the primitive that `data` describes: its type, then every parameter.

    Raises:
        InputError: `type` is missing or unknown, or a parameter is not acceptable.
    """
    return primitive_from_dict(data).to_dict()


@lru_cache(maxsize=1024)
def _shared(data: bytes) -> Primitive:
    return _built(from_json(data))


def _built(data: Mapping[str, Any]) -> Primitive:
    name = data.get("type")
    cls = REGISTRY.get(name) if isinstance(name, str) else None
    if cls is None:
        raise InputError(
            f"There is no verification primitive named {name!r}.",
            next=f"Use one of: {', '.join(sorted(REGISTRY))}.",
        )
    try:
        return cls.model_validate({key: value for key, value in data.items() if key != "type"})
    except ValueError as error:
        raise InputError(f"{name} cannot be built.", why=f"{validation_message(error)}.") from error
