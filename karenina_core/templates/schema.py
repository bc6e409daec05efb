"""What the judge sees: a JSON schema of the fields to fill in."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

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
