"""`BaseAnswer`: what every answer template inherits from."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, PrivateAttr

from karenina_core.schemas.entities.composition import AllOf, AnyOf, AtLeastN, FieldCheck, FieldResult, describe
from karenina_core.schemas.entities.verified_field import Verification, verified_fields
from karenina_core.schemas.primitives.base import TracePrimitive, VerificationPrimitive

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
        return self.strategy() or _all_of(tuple(names))


@lru_cache(maxsize=1024)
def _all_of(names: tuple[str, ...]) -> AllOf:
    return AllOf(conditions=[FieldCheck(name) for name in names])
