"""How several field results make one verdict: all, any, at least n, nested at will."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

FieldResult = bool | None
"""True: right. False: wrong. None: the judge found nothing, which is never right."""


class _Node(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def passes(self, results: Mapping[str, FieldResult]) -> bool:
        """Say whether the condition holds for the field results."""
        raise NotImplementedError

    def score(self, results: Mapping[str, FieldResult], weights: Mapping[str, float]) -> float:
        """Return the degree to which the condition holds, 0 to 1."""
        raise NotImplementedError

    def field_names(self) -> Iterator[str]:
        """Yield the fields the condition looks at."""
        raise NotImplementedError

    def weight(self, weights: Mapping[str, float]) -> float:
        """Return the summed weight of the fields below."""
        return sum(weights.get(name, 1.0) for name in self.field_names())


class FieldCheck(_Node):
    """Passes when one field's result is exactly True."""

    type: Literal["field_check"] = "field_check"
    field_name: str

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
        super().__init__(**({"conditions": list(conditions)} if conditions is not None else {}), **data)

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
