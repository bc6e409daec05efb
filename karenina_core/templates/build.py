"""Real pydantic classes out of a vetted spec: the answer class, and the form a judge fills in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Optional

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, create_model
from pydantic_core import SchemaError

from karenina_core.schemas import BaseAnswer, VerifiedField
from karenina_core.templates.limits import refuse
from karenina_core.templates.spec import FieldSpec, TemplateSpec

REPLY = ConfigDict(coerce_numbers_to_str=True, allow_inf_nan=False)
_PARAMETERS = ConfigDict(extra="forbid", validate_default=True, allow_inf_nan=False)


class OwnCodeAnswer(BaseAnswer):
    """Base of answer classes whose rules are the author's code: the code runs in the sandbox only."""

    def verify(self) -> NoReturn:
        raise NotImplementedError("This template has code of its own. Evaluate it with Template.evaluate.")

    def verify_granular(self) -> NoReturn:
        raise NotImplementedError("This template has code of its own. Evaluate it with Template.evaluate.")


def build_models(spec: TemplateSpec) -> dict[str, type[BaseModel]]:
    """Return the classes of the nested models by name.

    Raises:
        TemplateError: pydantic does not accept an option.
    """
    models: dict[str, type[BaseModel]] = {}
    for model in spec.models:
        fields = {item.name: _plain_field(item, models) for item in model.fields}
        models[model.name] = _create(model.name, fields, __config__=REPLY, __doc__=model.description)
    return models


def build_answer(spec: TemplateSpec, models: Mapping[str, type[BaseModel]]) -> type[BaseAnswer]:
    """Return the answer class, with working rules unless the template has code of its own.

    Raises:
        TemplateError: pydantic does not accept an option.
    """
    base = OwnCodeAnswer if spec.own_code else BaseAnswer
    fields = {item.name: _field(item, models) for item in spec.fields}
    answer: type[BaseAnswer] = _create(spec.class_name, fields, __base__=base)
    if spec.verify_strategy is not None:
        answer.VerificationStrategy = type("VerificationStrategy", (), {"verify_strategy": spec.verify_strategy})
    return answer


def build_parameters(name: str, parameters: Sequence[FieldSpec]) -> type[BaseModel]:
    """Return the class that checks what a custom primitive is built with, defaults included.

    Raises:
        TemplateError: pydantic does not accept an option.
    """
    fields = {item.name: _plain_field(item, {}) for item in parameters}
    model: type[BaseModel] = _create(name, fields, __config__=_PARAMETERS)
    return model


def build_reply(spec: TemplateSpec, models: Mapping[str, type[BaseModel]]) -> type[BaseModel]:
    """Return the form the judge fills in: every field is required and may be null. It holds no truth.

    Raises:
        TemplateError: pydantic does not accept an option.
    """
    fields: dict[str, Any] = {}
    for item in spec.judged:
        options = {key: value for key, value in item.options.items() if key != "default"}
        definition = Field(description=item.description or None, **options)
        fields[item.name] = (Optional[_type(item, models)], definition)  # noqa: UP045 - only known now
    reply: type[BaseModel] = _create(spec.class_name, fields, __config__=REPLY)
    return reply


def _create(name: str, fields: dict[str, Any], **settings: Any) -> Any:
    try:
        return create_model(name, __module__=__name__, **settings, **fields)
    except (PydanticUserError, SchemaError, TypeError, ValueError, NameError) as error:
        reason = str(error).split("\n")[0]
        raise refuse("schema", "pydantic does not accept these fields", reason, "correct the options") from None


def _field(item: FieldSpec, models: Mapping[str, type[BaseModel]]) -> tuple[Any, Any]:
    rule = item.primitive
    if rule is None:
        return _plain_field(item, models)
    definition = VerifiedField(
        description=item.description,
        ground_truth=item.ground_truth,
        verify_with=rule,
        weight=item.weight,
        extraction_hint=item.extraction_hint,
        **item.options,
    )
    return _type(item, models), definition


def _plain_field(item: FieldSpec, models: Mapping[str, type[BaseModel]]) -> tuple[Any, Any]:
    return _type(item, models), Field(description=item.description or None, **item.options)


def _type(item: FieldSpec, models: Mapping[str, type[BaseModel]]) -> Any:
    return item.shape(frozenset(models)).python(models)
