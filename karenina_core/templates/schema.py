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
    schema: dict[str, Any] = _closed(reply.model_json_schema())
    schema.setdefault("properties", {})
    schema.setdefault("required", [])
    return schema


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            closed[key] = {name: _closed(part) for name, part in value.items()}
        elif key not in ("title", "default"):
            closed[key] = value if key in _VALUES else _closed(value)
    if "properties" in schema or (schema.get("type") == "object" and "additionalProperties" not in schema):
        closed |= {"additionalProperties": False, "required": list(schema.get("properties", {}))}
    return closed
