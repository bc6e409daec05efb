"""Real pydantic classes out of a vetted spec: the answer class, and the form a judge fills in with its JSON schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NoReturn, Optional

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, TypeAdapter, ValidationError, create_model
from pydantic_core import SchemaError

from karenina_core.errors import InputError, validation_message
from karenina_core.schemas import BaseAnswer, VerifiedField
from karenina_core.templates.annotation import Shape
from karenina_core.templates.limits import refuse
from karenina_core.templates.spec import FieldSpec, TemplateSpec

REPLY = ConfigDict(coerce_numbers_to_str=True, allow_inf_nan=False)
_PARAMETERS = ConfigDict(extra="forbid", validate_default=True, allow_inf_nan=False)


class OwnCodeAnswer(BaseAnswer):
    """Base of answer classes whose rules are the author's code: the code runs in the sandbox only."""

    def verify(self) -> NoReturn:
        raise NotImplementedError("This template has code of its own. Evaluate it with Template.evaluate.")

    def verify_granular(self) -> NoReturn:
        self.verify()


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
    answer: type[BaseAnswer] = _create("Answer", fields, __base__=base)
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
    reply: type[BaseModel] = _create("Answer", fields, __config__=REPLY)
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


_VALUES = frozenset({"enum", "const", "examples", "required"})


def judge_schema(reply: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a reply form, closed and complete.

    Descriptions, types, choices and nested definitions stay. Every property is required, nothing else is allowed,
    and defaults are left out, because a default may be the truth.
    """
    schema: dict[str, Any] = closed(reply.model_json_schema())
    schema.setdefault("properties", {})
    schema.setdefault("required", [])
    return schema


def closed(schema: Any) -> Any:
    """Return a schema without titles and defaults, its objects complete and closed."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    whole: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            whole[key] = {name: closed(part) for name, part in value.items()}
        elif key not in ("title", "default"):
            whole[key] = value if key in _VALUES else closed(value)
    if "properties" in schema or (schema.get("type") == "object" and "additionalProperties" not in schema):
        whole |= {"additionalProperties": False, "required": list(schema.get("properties", {}))}
    return whole


_MAX_COMPLAINTS = 10


@dataclass(frozen=True, eq=False)
class _Plain:
    """A type that needs no class: how it is checked, and its schema. Types that are the same share one."""

    check: Callable[[Any], Any]
    schema: dict[str, Any]


class ReplyForm:
    """What the judge of a template fills in: every field is required and may be null. It holds no truth.

    A class of its own takes milliseconds to build. It is built only for nested models and options, whose errors
    belong to the reading of the template, and to explain a reply that does not fit.

    Args:
        spec: The template.
        models: The classes of its nested models by name.

    Attributes:
        fields: The fields the judge fills in.
        names: Their names.
        rebuilds: Whether a stored value may have to become something else, such as a nested model, a
            date or a truth value.

    Raises:
        TemplateError: pydantic does not accept an option.
    """

    def __init__(self, spec: TemplateSpec, models: Mapping[str, type[BaseModel]]) -> None:
        self.fields = tuple(spec.judged)
        self.names = tuple([item.name for item in self.fields])
        self.rebuilds = not {"bool", "other"}.isdisjoint(item.type for item in self.fields)
        self._spec = spec
        self._models = models
        self._plain: dict[str, _Plain] | None = None
        options = {name for item in self.fields for name in item.options}
        shapes = [item.shape(frozenset(models)) for item in self.fields]
        noted = any("annotated" in shape.names for shape in shapes)
        if models or noted or options - {"default", "title"}:
            self._form  # noqa: B018 - built now, so that its errors are met now
        else:
            self._plain = {name: _plain(shape.text, shape) for name, shape in zip(self.names, shapes, strict=True)}

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema; shared, so it must not be changed."""
        if self._plain is None:
            return judge_schema(self._form)
        return _plain_schema(tuple([(item.name, item.description, self._plain[item.name]) for item in self.fields]))

    def read(self, data: Any) -> dict[str, Any]:
        """Return the judge's values by field, typed; None where it found nothing.

        Raises:
            InputError: The reply does not fit; its text can be sent back to the judge.
        """
        if not isinstance(data, dict):
            raise InputError("The reply must be one JSON object with the fields of the schema.")
        if self._plain is not None:
            try:
                return {name: plain.check(data[name]) for name, plain in self._plain.items()}
            except (KeyError, ValidationError):
                pass  # the class below says what is wrong, for all fields together
        try:
            reply = self._form.model_validate(data)
        except ValidationError as error:
            why = validation_message(error, most=_MAX_COMPLAINTS, values=True)
            raise InputError(
                "The reply does not fit the schema.", f"{why}.", "Use null where the response does not say."
            ) from None
        return {name: getattr(reply, name) for name in self.names}

    @cached_property
    def _form(self) -> type[BaseModel]:
        return build_reply(self._spec, self._models)


@lru_cache(maxsize=512)
def _plain(text: str, shape: Shape) -> _Plain:
    """Return how a type is checked. The text is there because `Literal[1]` and `Literal[True]` are equal shapes."""
    annotation: Any = Optional[shape.python({})]  # noqa: UP045 - only known now
    adapter: TypeAdapter[Any] = TypeAdapter(annotation, config=REPLY)
    return _Plain(adapter.validator.validate_python, closed(adapter.json_schema()))


@lru_cache(maxsize=1024)
def _plain_schema(fields: tuple[tuple[str, str, _Plain], ...]) -> dict[str, Any]:
    """Return the schema of such types, by name and description; one for all templates that ask for the same."""
    properties = {}
    for name, description, plain in fields:
        properties[name] = {**plain.schema, "description": description} if description else dict(plain.schema)
    return {"properties": properties, "type": "object", "additionalProperties": False, "required": list(properties)}
