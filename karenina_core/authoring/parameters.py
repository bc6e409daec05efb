"""The parameters of a primitive, as a form asks for them: read from its pydantic model and its docstring."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from karenina_core.schemas.primitives import TracePrimitive, VerificationPrimitive

RuleClass = type[VerificationPrimitive] | type[TracePrimitive]
ParameterKind = Literal["bool", "int", "float", "text", "choice", "texts", "normalizers", "data"]
"""`data`: anything else, as JSON."""
_SIMPLE: dict[str, ParameterKind] = {"boolean": "bool", "integer": "int", "number": "float", "string": "text"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a primitive.

    Attributes:
        name: Its name in source.
        kind: What it holds.
        meaning: What it does, in a sentence or two of Markdown; blank where the class does not say.
        required: Whether it has no default.
        optional: Whether it may be None.
        default: Its default, in the stored form; None where it is required.
        choices: What it may be, for kind `choice`.
        least: The least number it may be, where there is one.
        most: The greatest number it may be, where there is one.
    """

    name: str
    kind: ParameterKind
    meaning: str = ""
    required: bool = False
    optional: bool = False
    default: Any = None
    choices: tuple[Any, ...] = ()
    least: float | None = None
    most: float | None = None


@lru_cache(maxsize=256)
def parameters_of(rule: RuleClass) -> tuple[Parameter, ...]:
    """Return the parameters of a primitive, in the order its class lists them."""
    schema = rule.model_json_schema()
    meanings = _meanings(rule)
    needed = set(schema.get("required", ()))
    defaults = {
        name: info.get_default(call_default_factory=True)
        for name, info in rule.model_fields.items()
        if not info.is_required()
    }
    return tuple(
        _parameter(name, entry, meanings.get(name, ""), name in needed, defaults.get(name))
        for name, entry in schema.get("properties", {}).items()
    )


def defaults_of(rule: RuleClass) -> dict[str, Any]:
    """Return a primitive in its stored form with the defaults of its parameters; required ones are None."""
    return {"type": rule.__name__, **{item.name: copy.deepcopy(item.default) for item in parameters_of(rule)}}


def summary_of(rule: RuleClass) -> str:
    """Return what a primitive does: the first paragraph of its docstring, in one line."""
    return " ".join((inspect.getdoc(rule) or "").partition("\n\n")[0].split())


def _parameter(name: str, schema: Mapping[str, Any], meaning: str, required: bool, default: Any) -> Parameter:
    parts = [part for part in schema.get("anyOf", [schema]) if part.get("type") != "null"]
    part = parts[0] if len(parts) == 1 else {}
    return Parameter(
        name=name,
        kind=_kind(part),
        meaning=meaning,
        required=required,
        optional=len(parts) < len(schema.get("anyOf", [schema])),
        default=default,
        choices=tuple(part.get("enum", ())),
        least=part.get("minimum", part.get("exclusiveMinimum")),
        most=part.get("maximum", part.get("exclusiveMaximum")),
    )


def _kind(schema: Mapping[str, Any]) -> ParameterKind:
    if "enum" in schema:
        return "choice"
    if schema.get("type") == "array":
        items = schema.get("items", {})
        if items.get("type") == "string":
            return "texts"
        references = [str(part.get("$ref", "")) for part in items.get("anyOf", ())]
        return "normalizers" if any(name.endswith("/SynonymMap") for name in references) else "data"
    return _SIMPLE.get(str(schema.get("type")), "data")


def _meanings(rule: RuleClass) -> dict[str, str]:
    """Return what the docstring says of each parameter, under `Attributes:`."""
    _, _, listed = (inspect.getdoc(rule) or "").partition("Attributes:\n")
    found: dict[str, str] = {}
    name = ""
    for line in listed.splitlines():
        text = line.strip()
        if line.startswith("    ") and not line.startswith("     ") and ":" in text:
            name, _, text = text.partition(":")
            found[name] = text.strip()
        elif name and text:
            found[name] += f" {text}"
    return found
