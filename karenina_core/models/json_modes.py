"""The three ways to ask a model for JSON, from the surest to the one that every model understands."""

from __future__ import annotations

import json
from typing import Any, Literal

Mode = Literal["schema", "tool", "instruction"]
NEXT_MODE: dict[Mode, Mode] = {"schema": "tool", "tool": "instruction"}
TOOL = "reply"
_INSTRUCTION = "Reply with one JSON object that follows this JSON schema, and nothing else:"


def settings_for(schema: dict[str, Any], mode: Mode) -> dict[str, Any]:
    """Return what a request says beside its messages; nothing in mode `instruction`."""
    if mode == "schema":
        wanted = {"name": TOOL, "schema": schema, "strict": is_strict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    if mode == "tool":
        function = {"name": TOOL, "description": "Give the reply.", "parameters": schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": TOOL}},
        }
    return {}


def instructed(messages: list[dict[str, str]], schema: dict[str, Any]) -> list[dict[str, str]]:
    """Return the messages with the schema at the end of the last one."""
    *before, last = messages
    return [*before, {**last, "content": f"{last['content']}\n\n{_INSTRUCTION}\n{json.dumps(schema)}"}]


def is_strict(schema: Any) -> bool:
    """Say whether providers accept a schema in strict mode: all properties required, and no others allowed."""
    if isinstance(schema, list):
        return all(is_strict(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    if "properties" in schema or schema.get("type") == "object":
        listed = set(schema.get("required", ())) == set(schema.get("properties", ()))
        if not listed or schema.get("additionalProperties") is not False:
            return False
    return all(is_strict(value) for value in schema.values())
