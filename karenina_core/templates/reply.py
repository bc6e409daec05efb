"""The form a judge fills in: its JSON schema, and what becomes of a reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Optional

from pydantic import BaseModel, TypeAdapter, ValidationError

from karenina_core.errors import InputError, validation_message
from karenina_core.templates.annotation import Shape
from karenina_core.templates.build import REPLY, build_reply
from karenina_core.templates.schema import closed, judge_schema
from karenina_core.templates.spec import TemplateSpec

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
        rebuilds: Whether a stored value may have to become something else, such as a nested model or a date.

    Raises:
        TemplateError: pydantic does not accept an option.
    """

    def __init__(self, spec: TemplateSpec, models: Mapping[str, type[BaseModel]]) -> None:
        self.fields = tuple(spec.judged)
        self.names = tuple([item.name for item in self.fields])
        self.rebuilds = "other" in {item.type for item in self.fields}
        self._spec = spec
        self._models = models
        self._plain: dict[str, _Plain] | None = None
        options = {name for item in self.fields for name in item.options}
        if models or options - {"default", "title"}:
            self._form  # noqa: B018 - built now, so that its errors are met now
        else:
            shapes = [item.shape() for item in self.fields]
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
