"""A spec as template source, in one canonical form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.errors import InputError
from karenina_core.schemas import SCALARS, AllOf, AnyOf, AtLeastN, FieldCheck
from karenina_core.schemas.primitives import Primitive, SynonymMap
from karenina_core.templates.literals import quote
from karenina_core.templates.spec import FieldSpec, ModelSpec, TemplateSpec

_INDENT = "    "


def write_template(spec: TemplateSpec) -> str:
    """Return the source of a declarative template. Reading it gives the same spec.

    Raises:
        InputError: The spec verifies nothing, or belongs to a source with code of its own, which it does not hold.
    """
    if spec.own_code:
        raise InputError(
            "This template has primitives or methods of its own.",
            "A form does not hold them.",
            "Edit its source instead.",
        )
    if not spec.verified:
        raise InputError("The template verifies nothing.", next="Give at least one field a primitive.")
    return write_fields(spec)


def write_fields(spec: TemplateSpec) -> str:
    """Return the source of what a spec holds, without the custom primitives it may name."""
    blocks = [_imports(spec), *(_model(model) for model in spec.models), _answer(spec)]
    return "\n\n\n".join(block for block in blocks if block) + "\n"


def write_primitive(primitive: Primitive) -> str:
    """Return the call that builds a primitive, with the parameters that differ from their defaults."""
    arguments = []
    for name, info in type(primitive).model_fields.items():
        value = getattr(primitive, name)
        if info.is_required() or value != info.get_default(call_default_factory=True):
            arguments.append(f"{name}={_parameter(value)}")
    return f"{type(primitive).__name__}({', '.join(arguments)})"


def write_field(item: FieldSpec) -> list[str]:
    """Return the lines that define a field, one argument per line, indented as in a class body."""
    arguments = [f"{_INDENT * 2}{name}={value}," for name, value in write_arguments(item).items()]
    opening = f"{_INDENT}{item.name}: {write_annotation(item)} = "
    return [f"{opening}{'Field' if item.verify_with is None else 'VerifiedField'}(", *arguments, f"{_INDENT})"]


def write_arguments(item: FieldSpec) -> dict[str, str]:
    """Return the arguments of a field's definition by name, as source, without those that say nothing."""
    written: dict[str, str] = {}
    if item.description:
        written["description"] = quote(item.description)
    if item.verify_with is not None:
        written["ground_truth"] = quote(item.ground_truth)
        written["verify_with"] = _rule(item.verify_with) if item.primitive is None else write_primitive(item.primitive)
        if item.weight != 1.0:
            written["weight"] = repr(item.weight)
        if item.extraction_hint is not None:
            written["extraction_hint"] = quote(item.extraction_hint)
    return written | {name: quote(value) for name, value in item.options.items()}


def write_annotation(item: FieldSpec) -> str:
    """Return the type of a field as source."""
    return item.annotation if item.type == "other" and item.annotation else item.shape().text


def write_condition(condition: AllOf | AnyOf | AtLeastN | FieldCheck) -> str:
    """Return the expression that builds a composition."""
    if isinstance(condition, FieldCheck):
        return f"FieldCheck(field={quote(condition.field_name)})"
    number = f"n={condition.n}, " if isinstance(condition, AtLeastN) else ""
    inside = ", ".join(write_condition(part) for part in condition.conditions)
    return f"{type(condition).__name__}({number}conditions=[{inside}])"


def _parameter(value: Any) -> str:
    if isinstance(value, SynonymMap):
        return f"SynonymMap(mapping={quote(value.mapping)})"
    if isinstance(value, list):
        return f"[{', '.join(_parameter(item) for item in value)}]"
    return quote(value)


def _imports(spec: TemplateSpec) -> str:
    """Import what a template cannot name without an import; the rest of the names is always there."""
    fields = [*spec.fields, *(item for model in spec.models for item in model.fields)]
    used = frozenset[str]().union(*(item.shape(spec.model_names).names for item in fields))
    places = {(SCALARS[name][0].__module__.partition(".")[0], name) for name in used & SCALARS.keys() - {"Any"}}
    places |= {("typing", "Annotated")} if "annotated" in used else set()
    places |= {("pydantic", "BaseModel"), ("pydantic", "Field")} if spec.models else set()
    return "\n".join(f"from {module} import {name}" for module, name in sorted(places) if module != "builtins")


def _model(model: ModelSpec) -> str:
    lines = [f"class {model.name}(BaseModel):"]
    if model.description:
        lines += [f"{_INDENT}{quote(model.description)}", ""]
    lines += [line for item in model.fields for line in write_field(item)]
    return "\n".join(lines)


def _answer(spec: TemplateSpec) -> str:
    lines = ["class Answer(BaseAnswer):"]
    lines += [line for item in spec.fields for line in write_field(item)]
    if spec.verify_strategy is not None:
        lines += ["", f"{_INDENT}class VerificationStrategy:"]
        lines += [f"{_INDENT * 2}verify_strategy = {write_condition(spec.verify_strategy)}"]
    return "\n".join(lines)


def _rule(stored: Mapping[str, Any]) -> str:
    """Return the call that builds a primitive which only the source defines."""
    arguments = [f"{name}={quote(value)}" for name, value in stored.items() if name != "type"]
    return f"{stored['type']}({', '.join(arguments)})"
