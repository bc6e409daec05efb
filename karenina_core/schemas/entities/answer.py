"""`BaseAnswer`: what every answer template inherits from, its verified fields, and how their results are composed."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PrivateAttr, TypeAdapter, model_validator
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


FieldResult = bool | None
"""True: right. False: wrong. None: the judge found nothing, which is never right."""


class _Node(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def field_names(self) -> Iterator[str]:
        """Yield the fields the condition looks at."""
        raise NotImplementedError

    def weight(self, weights: Mapping[str, float]) -> float:
        """Return the summed weight of the fields below."""
        return sum(weights.get(name, 1.0) for name in self.field_names())


class FieldCheck(_Node):
    """Passes when one field's result is exactly True: `FieldCheck(field="target")`."""

    type: Literal["field_check"] = "field_check"
    field_name: str = Field(validation_alias=AliasChoices("field_name", "field"))

    def __init__(self, field_name: str | None = None, **data: Any) -> None:
        super().__init__(**({"field_name": field_name} if field_name is not None else {}), **data)

    def passes(self, results: Mapping[str, FieldResult]) -> bool:
        return results[self.field_name] is True

    def score(self, results: Mapping[str, FieldResult], weights: Mapping[str, float]) -> float:
        return 1.0 if self.passes(results) else 0.0

    def field_names(self) -> Iterator[str]:
        yield self.field_name


class _Group(_Node):
    conditions: list[Condition]

    def __init__(self, conditions: Sequence[Any] | None = None, **data: Any) -> None:
        super().__init__(**({"conditions": conditions} if conditions is not None else {}), **data)

    def field_names(self) -> Iterator[str]:
        for condition in self.conditions:
            yield from condition.field_names()


class AllOf(_Group):
    """Passes when every condition passes; an empty one passes. Scores the weighted mean."""

    type: Literal["all_of"] = "all_of"

    def passes(self, results: Mapping[str, FieldResult]) -> bool:
        return all(condition.passes(results) for condition in self.conditions)

    def score(self, results: Mapping[str, FieldResult], weights: Mapping[str, float]) -> float:
        parts = [(c.weight(weights), c.score(results, weights)) for c in self.conditions]
        total = sum(weight for weight, _ in parts)
        return sum(weight * score for weight, score in parts) / total if total else float(self.passes(results))


class AnyOf(_Group):
    """Passes when one condition passes; an empty one fails. Scores the best."""

    type: Literal["any_of"] = "any_of"

    def passes(self, results: Mapping[str, FieldResult]) -> bool:
        return any(condition.passes(results) for condition in self.conditions)

    def score(self, results: Mapping[str, FieldResult], weights: Mapping[str, float]) -> float:
        return max((condition.score(results, weights) for condition in self.conditions), default=0.0)


class AtLeastN(_Group):
    """Passes when `n` or more conditions pass. Scores the mean of the best `n`."""

    type: Literal["at_least_n"] = "at_least_n"
    n: int = Field(ge=1)

    def __init__(self, n: int | None = None, conditions: Sequence[Any] | None = None, **data: Any) -> None:
        super().__init__(conditions, **({"n": n} if n is not None else {}), **data)

    @model_validator(mode="after")
    def _reachable(self) -> AtLeastN:
        if self.n > len(self.conditions):
            raise ValueError(f"at_least_n asks for {self.n} of only {len(self.conditions)} conditions")
        return self

    def passes(self, results: Mapping[str, FieldResult]) -> bool:
        return sum(condition.passes(results) for condition in self.conditions) >= self.n

    def score(self, results: Mapping[str, FieldResult], weights: Mapping[str, float]) -> float:
        best = sorted((condition.score(results, weights) for condition in self.conditions), reverse=True)
        return sum(best[: self.n]) / self.n


Condition = Annotated[AllOf | AnyOf | AtLeastN | FieldCheck, Field(discriminator="type")]
for _node in (AllOf, AnyOf, AtLeastN):
    _node.model_rebuild()
_ADAPTER: TypeAdapter[AllOf | AnyOf | AtLeastN | FieldCheck] = TypeAdapter(Condition)


def condition_from_dict(data: Mapping[str, Any]) -> AllOf | AnyOf | AtLeastN | FieldCheck:
    """Build a composition from its stored form."""
    return _ADAPTER.validate_python(data)


def describe(condition: AllOf | AnyOf | AtLeastN | FieldCheck) -> str:
    """Name the strategy as result tables show it: `all_of`, `any_of`, `at_least_n(2)`."""
    return f"at_least_n({condition.n})" if isinstance(condition, AtLeastN) else condition.type


RESERVED_NAMES = frozenset({"correct", "id", "regex"})


class BaseAnswer(BaseModel):
    """An answer template: its fields tell the judge what to extract, its rules decide.

    Three styles work: `model_post_init` that sets `self.correct`, a `ground_truth` method that does so,
    and `VerifiedField`s, for which `verify` and `verify_granular` exist already.
    The class itself must be named `Answer`.
    """

    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)

    _raw_trace: str | None = PrivateAttr(default=None)
    _correct: Any = PrivateAttr(default=None)

    VerificationStrategy: ClassVar[type | None] = None
    """An inner class with `verify_strategy`, a tree of `AllOf`, `AnyOf`, `AtLeastN`, `FieldCheck`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        taken = RESERVED_NAMES & set(inspect.get_annotations(cls))
        if taken:
            raise TypeError(f"A template field cannot be named {', '.join(sorted(taken))}: the name is reserved.")
        super().__init_subclass__(**kwargs)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        fields = verified_fields(cls)
        for name, verification in fields.items():
            if verification.is_trace and cls.model_fields[name].annotation is not bool:
                raise TypeError(f"Field {name!r} uses a trace primitive and must therefore be typed bool.")
        if fields and not any(verification.weight for verification in fields.values()):
            raise TypeError("At least one field of a template needs a weight above 0.")
        strategy = cls.strategy()
        unknown = set(strategy.field_names()) - set(fields) if strategy else set()
        if unknown:
            raise TypeError(f"verify_strategy names {', '.join(sorted(unknown))}, which is no verified field.")

    @property
    def correct(self) -> Any:
        """The expected values, by field for declarative templates."""
        if self._correct is None and verified_fields(type(self)):
            return {name: item.ground_truth for name, item in verified_fields(type(self)).items()}
        return self._correct

    @correct.setter
    def correct(self, value: Any) -> None:
        self._correct = value

    def model_post_init(self, context: Any, /) -> None:
        """Set the expected values by the template's own `ground_truth` method, if it has one."""
        ground_truth = getattr(type(self), "ground_truth", None)
        if callable(ground_truth):
            ground_truth(self)

    @classmethod
    def strategy(cls) -> AllOf | AnyOf | AtLeastN | FieldCheck | None:
        """Return how field results are composed, or None for the default: all of them."""
        return getattr(cls.VerificationStrategy, "verify_strategy", None)

    @classmethod
    def composition_strategy(cls) -> str:
        """Name the composition: `all_of`, `any_of`, `at_least_n(2)`."""
        strategy = cls.strategy()
        return describe(strategy) if strategy else "all_of"

    @classmethod
    def has_verification(cls) -> bool:
        """Whether the class can decide anything: verified fields, or a `verify` of its own."""
        return bool(verified_fields(cls)) or cls.verify is not BaseAnswer.verify

    def field_results(self) -> dict[str, FieldResult]:
        """Return True, False or None (the judge found nothing) for every verified field.

        Raises:
            ValueError: A trace field is present and no raw response was attached.
            NotImplementedError: A `SemanticMatch` field is present; only the pipeline's embedding check decides it.
        """
        return {name: self._field_result(name, item) for name, item in verified_fields(type(self)).items()}

    def _field_result(self, name: str, item: Verification) -> FieldResult:
        match item.verify_with:
            case TracePrimitive() as rule:
                if self._raw_trace is None:
                    raise ValueError(f"Field {name!r} reads the raw response, but none was set (_raw_trace).")
                return rule.check_trace(self._raw_trace) == bool(item.ground_truth)
            case VerificationPrimitive() as rule:
                value = getattr(self, name, None)
                return None if value is None else bool(rule.check(value, item.ground_truth))

    def verify(self) -> bool:
        """Say whether the answer is correct: every verified field, or the composition, holds."""
        return self._strategy().passes(self.field_results())

    def verify_granular(self) -> float:
        """Return the weighted share of fields that are right, 0 to 1."""
        weights = {name: item.weight for name, item in verified_fields(type(self)).items()}
        return self._strategy().score(self.field_results(), weights)

    def _strategy(self) -> AllOf | AnyOf | AtLeastN | FieldCheck:
        names = verified_fields(type(self))
        if not names:
            raise NotImplementedError("This template has no VerifiedField and defines no verify() of its own.")
        return self.strategy() or all_of(tuple(names))


@lru_cache(maxsize=1024)
def all_of(names: tuple[str, ...]) -> AllOf:
    """Return the composition that needs every one of these fields."""
    return AllOf(conditions=[FieldCheck(name) for name in names])
