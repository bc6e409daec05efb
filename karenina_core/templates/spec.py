"""A declarative template as data: what forms edit and files exchange."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, computed_field, field_validator, model_validator

from karenina_core.schemas import (
    FIELD_TYPES,
    RESERVED_NAMES,
    BaseAnswer,
    Condition,
    describe,
    is_number,
    is_whole,
    share_layout,
)
from karenina_core.schemas.primitives import REGISTRY, Primitive, TracePrimitive, primitive_from_dict, stored_form
from karenina_core.templates.annotation import LENGTH_OPTIONS, NUMERIC_OPTIONS, Choice, Shape, parse_shape
from karenina_core.templates.limits import MAX_CHOICES, MAX_FIELDS, on_deep_stack
from karenina_core.templates.literals import check_plain
from karenina_core.templates.scope import RuleMethod
from karenina_core.text import normal_form

FieldType = Literal["bool", "str", "int", "float", "list_str", "literal", "date", "other"]
ClassName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,99}$")]
HOOKS = ("model_post_init", "ground_truth", "verify", "verify_granular")
OPTIONS = frozenset({"default", "title", "examples", "pattern"}) | NUMERIC_OPTIONS | LENGTH_OPTIONS


_NAMES = {row.annotation: name for name, row in FIELD_TYPES.items() if row.annotation and name != "date"}


class FieldSpec(BaseModel):
    """One field of a template.

    Attributes:
        name: The Python name.
        type: What the field holds. A `date` is a `str` that a date primitive compares.
        description: What the judge shall look for.
        ground_truth: The expected value, as JSON data.
        own_rule: The deciding method of a primitive that the source itself defines; None for all others.
        verify_with: The primitive in its stored form; None for a field that nothing verifies by itself.
        weight: Share in the granular score.
        extraction_hint: Extra help for the judge.
        literal_values: The allowed values, for type `literal`.
        annotation: The Python type in words, for type `other`.
        options: Further options of pydantic's `Field`, such as `{"ge": 0}`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=100)
    type: FieldType = "str"
    description: str = ""
    ground_truth: Any = None
    own_rule: RuleMethod | None = None
    verify_with: dict[str, Any] | None = None
    weight: float = Field(default=1.0, strict=True, ge=0, allow_inf_nan=False)
    extraction_hint: str | None = None
    literal_values: list[Choice] = Field(default_factory=list, max_length=MAX_CHOICES)
    annotation: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    def model_post_init(self, context: Any, /) -> None:
        """Take little memory."""
        share_layout(self)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def is_trace(self) -> bool:
        """Whether the rule reads the raw response instead of an extracted value."""
        return reads_trace(self.verify_with, self.own_rule)

    @property
    def primitive(self) -> Primitive | None:
        """The rule as an object; None where there is none, or only the source defines it."""
        return None if self.verify_with is None or self.own_rule else primitive_from_dict(self.verify_with)

    @property
    def is_semantic(self) -> bool:
        """Whether the rule needs embeddings."""
        return self.verify_with is not None and self.verify_with["type"] == "SemanticMatch"

    def shape(self, models: frozenset[str] = frozenset()) -> Shape:
        """Return the vetted type.

        Args:
            models: Names of the nested models it may use.
        """
        if self.type == "literal":
            return Shape("literal", choices=tuple(self.literal_values))
        return _parsed(FIELD_TYPES[self.type].annotation or self.annotation or "", models)

    @field_validator("name")
    @classmethod
    def _usable_name(cls, name: str) -> str:
        name = normal_form("NFKC", name)
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            raise ValueError(f"{name!r} is not a field name; use letters, digits and underscores")
        if is_reserved(name):
            raise ValueError(f"{name!r} is a reserved name; choose another one")
        return name

    @field_validator("ground_truth", "options", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return check_plain(value)

    @field_validator("description", "extraction_hint")
    @classmethod
    def _clean(cls, value: str | None) -> str | None:
        return None if value is None else str(check_plain(value))

    @field_validator("verify_with")
    @classmethod
    def _known_rule(cls, rule: dict[str, Any] | None, info: ValidationInfo) -> dict[str, Any] | None:
        if rule is None or not info.data.get("own_rule"):
            return None if rule is None else stored_form(rule)
        name = rule.get("type")
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"{name!r} is not the name of a primitive")
        return dict(check_plain(rule))

    @model_validator(mode="before")
    @classmethod
    def _settle(cls, data: Any) -> Any:
        """Drop what does not belong to this kind of field, so that equal fields are equal data."""
        if not isinstance(data, Mapping):
            return data
        rule, kind = data.get("verify_with"), data.get("type", "str")
        if kind in ("str", "date"):
            dated = isinstance(rule, Mapping) and not data.get("own_rule") and str(rule.get("type")).startswith("Date")
            kind = "date" if dated else "str"
        foreign = {"is_trace"}
        if kind != "literal":
            foreign.add("literal_values")
        if kind != "other":
            foreign.add("annotation")
        if rule is None:
            foreign.update(("ground_truth", "weight", "extraction_hint", "own_rule"))
        return {**{key: value for key, value in data.items() if key not in foreign}, "type": kind}

    @model_validator(mode="after")
    def _consistent(self) -> FieldSpec:
        check_options(self.options)
        if self.verify_with is not None and not self.description.strip():
            raise ValueError(f"field {self.name!r} needs a description: it tells the judge what to look for")
        reads_trace = self.is_trace
        if reads_trace and self.type != "bool":
            raise ValueError(f"field {self.name!r} uses a trace primitive and must be typed bool")
        if reads_trace and set(self.options) - {"default", "title", "examples"}:
            raise ValueError(f"field {self.name!r} uses a trace primitive and takes no further options")
        if self.type == "literal" and not self.literal_values:
            raise ValueError(f"field {self.name!r} needs the values it may have")
        if self.type == "other" and not self.annotation:
            raise ValueError(f"field {self.name!r} needs a type")
        return self


class ModelSpec(BaseModel):
    """A nested model: a class that only holds fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: ClassName
    description: str | None = None
    fields: list[FieldSpec] = Field(min_length=1, max_length=MAX_FIELDS)


class TemplateSpec(BaseModel):
    """The fields of a template, and how their results make the verdict.

    Attributes:
        fields: At most 200.
        verify_strategy: How field results are composed; all of them when not set.
        models: Nested models, each before its first use.
        own_code: Whether the source has methods or primitives of its own, which this form does not hold.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    fields: list[FieldSpec] = Field(default_factory=list, max_length=MAX_FIELDS)
    verify_strategy: Condition | None = None
    models: list[ModelSpec] = Field(default_factory=list)
    own_code: bool = False

    def model_post_init(self, context: Any, /) -> None:
        """Take little memory."""
        share_layout(self)

    @property
    def verified(self) -> list[FieldSpec]:
        """The fields with a primitive."""
        return [item for item in self.fields if item.verify_with is not None]

    @property
    def judged(self) -> list[FieldSpec]:
        """The fields the judge fills in."""
        return [item for item in self.fields if not item.is_trace]

    @property
    def composition(self) -> str:
        """The strategy as result tables show it, such as `at_least_n(2)`."""
        return describe(self.verify_strategy) if self.verify_strategy else "all_of"

    @property
    def model_names(self) -> frozenset[str]:
        """The names of the nested models."""
        return frozenset(model.name for model in self.models)

    @model_validator(mode="after")
    def _consistent(self) -> TemplateSpec:
        names = [item.name for item in self.fields]
        if len(set(names)) < len(names):
            repeated = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"the field {', '.join(repeated)} is defined twice")
        if not self.own_code and any(item.own_rule for item in self.fields):
            raise ValueError("a primitive that is not built in needs the source that defines it")
        weights = {item.name: item.weight for item in self.verified}
        if weights and not sum(weights.values()):
            raise ValueError("at least one field needs a weight above 0")
        unknown = set(self.verify_strategy.field_names()) - set(weights) if self.verify_strategy else set()
        if unknown:
            raise ValueError(f"verify_strategy names {', '.join(sorted(unknown))}, which is no verified field")
        models = self.model_names
        for item in self.fields:
            item.shape(models)
        return self


def reads_trace(rule: Mapping[str, Any] | None, own_rule: RuleMethod | None) -> bool:
    """Whether a rule in its stored form reads the raw response."""
    if own_rule is not None:
        return own_rule == "check_trace"
    return rule is not None and issubclass(REGISTRY[rule["type"]], TracePrimitive)


@lru_cache(maxsize=1024)
def is_reserved(name: str) -> bool:
    """Whether a template field cannot have this name."""
    taken = name in RESERVED_NAMES or name in HOOKS or hasattr(BaseAnswer, name)
    return taken or name.startswith(("model_validate", "model_dump"))


def check_options(options: Mapping[str, Any]) -> None:
    """Check the options of a field.

    Raises:
        ValueError: One is unknown or has a value it cannot have.
    """
    unknown = sorted(set(options) - OPTIONS)
    if unknown:
        raise ValueError(f"unknown field option: {', '.join(unknown)}")
    for name, value in options.items():
        if name in NUMERIC_OPTIONS and not is_number(value):
            raise ValueError(f"{name} must be a number, not {value!r}")
        if name in LENGTH_OPTIONS and (not is_whole(value) or value < 0):
            raise ValueError(f"{name} must be a whole number of at least 0, not {value!r}")
        if name in ("pattern", "title") and not isinstance(value, str):
            raise ValueError(f"{name} must be text, not {value!r}")


def type_of(shape: Shape) -> dict[str, Any]:
    """Return the part of a `FieldSpec` that describes a type."""
    if shape.kind == "literal":
        return {"type": "literal", "literal_values": list(shape.choices)}
    name = _NAMES.get(shape.text)
    return {"type": name} if name else {"type": "other", "annotation": shape.text}


@lru_cache(maxsize=1024)
def _parsed(annotation: str, models: frozenset[str]) -> Shape:
    return on_deep_stack(lambda: parse_shape(annotation, models), annotation)
