"""A live answer class as a spec: the way back from Python objects to data."""

from __future__ import annotations

from datetime import date, datetime, time
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from karenina_core.errors import InputError, validation_message
from karenina_core.schemas import BaseAnswer, Verification, verification_of
from karenina_core.schemas.primitives import REGISTRY, Primitive
from karenina_core.templates.annotation import ANYTHING, TEXT, Shape
from karenina_core.templates.scope import RuleMethod
from karenina_core.templates.spec import OPTIONS, FieldSpec, ModelSpec, TemplateSpec, type_of

_SCALARS: dict[Any, Shape] = {kind: Shape(kind.__name__) for kind in (bool, int, float, str, date, datetime, time)}
_COLLECTIONS: dict[Any, str] = {list: "list", set: "set", frozenset: "set", tuple: "tuple", dict: "dict"}


def spec_of(cls: type[BaseAnswer]) -> TemplateSpec:
    """Return the spec of an answer class that has no methods of its own. It does not hold custom primitives.

    Raises:
        InputError: A field's type or rule cannot be expressed as data.
    """
    models: dict[str, ModelSpec] = {}
    try:
        fields = [_field(name, info, models) for name, info in cls.model_fields.items()]
        return TemplateSpec(
            class_name=cls.__name__,
            fields=fields,
            verify_strategy=cls.strategy(),
            models=list(models.values()),
            own_code=any(item.own_rule for item in fields),
        )
    except ValidationError as error:
        raise InputError(
            f"Class {cls.__name__} cannot be written as a template.", validation_message(error, most=1)
        ) from None


def is_unregistered(primitive: Primitive) -> bool:
    """Whether stored forms of a primitive cannot be read back without the source of its class."""
    return REGISTRY.get(type(primitive).__name__) is not type(primitive)


def _field(name: str, info: FieldInfo, models: dict[str, ModelSpec]) -> FieldSpec:
    settings = type_of(_shape(info.annotation, models))
    verification = verification_of(info)
    if verification is not None:
        settings |= _rule(verification)
    return FieldSpec.model_validate(
        {"name": name, "description": info.description or "", "options": _options(info), **settings}
    )


def _rule(verification: Verification) -> dict[str, Any]:
    own_rule: RuleMethod = "check_trace" if verification.is_trace else "check"
    return {
        "own_rule": own_rule if is_unregistered(verification.verify_with) else None,
        "ground_truth": verification.ground_truth,
        "verify_with": verification.verify_with.to_dict(),
        "weight": verification.weight,
        "extraction_hint": verification.extraction_hint,
    }


def _options(info: FieldInfo) -> dict[str, Any]:
    found = {
        option: getattr(item, option)
        for item in info.metadata
        for option in sorted(OPTIONS)
        if getattr(item, option, None) is not None
    }
    if not info.is_required():
        found["default"] = info.get_default(call_default_factory=True)
    if info.title:
        found["title"] = info.title
    if info.examples:
        found["examples"] = info.examples
    return found


def _shape(annotation: Any, models: dict[str, ModelSpec]) -> Shape:
    if annotation in (None, NoneType):
        return Shape("none")
    if annotation is Any:
        return ANYTHING
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return Shape("literal", choices=arguments)
    if origin in (Union, UnionType):
        return Shape("union", tuple(_shape(argument, models) for argument in arguments))
    kind = _COLLECTIONS.get(origin or annotation)
    if kind:
        return _collection(kind, [_shape(argument, models) for argument in arguments if argument is not Ellipsis])
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return Shape("literal", choices=tuple(member.value for member in annotation))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _model(annotation, models)
    raise InputError(f"The type {annotation!r} cannot be written in a template.", next="Use a simpler type.")


def _collection(kind: str, parts: list[Shape]) -> Shape:
    return Shape(kind, tuple(parts) or ((TEXT, ANYTHING) if kind == "dict" else (ANYTHING,)))


def _model(cls: type[BaseModel], models: dict[str, ModelSpec]) -> Shape:
    if cls.__name__ not in models:
        fields = [_field(name, info, models) for name, info in cls.model_fields.items()]
        own = vars(cls).get("__doc__")
        models[cls.__name__] = ModelSpec(name=cls.__name__, description=own, fields=fields)
    return Shape("model", model=cls.__name__)
