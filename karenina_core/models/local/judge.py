"""Leads a very small model through the extraction of values, so that it can stand in for a judge in a demo.

Its schema is narrowed to what the response says: numbers to the numbers in it, texts to its phrases of one to three
words, classes to those that occur. The model only chooses. That forbids paraphrase, so a capable judge must not be led.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from karenina_core.files import read_json
from karenina_core.models.local.judge_examples import EXAMPLES
from karenina_core.models.local.spoken_numbers import numbers

DEMO_JUDGE_NOTE = (
    "demo judge, 13 of 20 extractions right (15 of 20 in this project's own test); "
    "choose a stronger judge for real evaluation"
)

MAX_RESPONSE = 1_500  # characters of a response that are shown and searched
MAX_ITEMS = 8  # items of a list; a small model finds no end
MAX_STRING = 200  # characters of a free text
MAX_DESCRIPTION = 160
MAX_DEPTH = 6
_WORD = re.compile(r"[^\W_](?:[\w'’\-/.%]*[\w%])?", re.UNICODE)
_BREAK = re.compile(r"[.,;:!?()\[\]\"“”\n]+(?=\s|$)|[,;:!?()\[\]\"“”\n]")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been but by can could did do does for from had has have he her his how i if in into is
        it its may might more most no not of on or our she should so some such than that the their them then there these
        they this those to was we were what when where which who why will with would yes you your""",
    )
)
_Schema = dict[str, Any]


def messages(schema: _Schema, question: str, response: str) -> list[dict[str, str]]:
    """Return the prompt: six worked examples, then the task."""
    shown = []
    for example in EXAMPLES:
        shown.append({"role": "user", "content": _task(example.fields, example.question, example.response)})
        shown.append({"role": "assistant", "content": json.dumps(example.values, ensure_ascii=False)})
    return [*shown, {"role": "user", "content": _task(describe(schema), question, response[:MAX_RESPONSE])}]


def describe(schema: _Schema) -> str:
    """Return one line for each field: its name, its kind and its description."""
    return "\n".join(_lines(schema, schema.get("$defs", {}), "", 0))


def grounded(schema: _Schema, response: str) -> _Schema:
    """Return the schema narrowed to values that occur in the response."""
    return _Grounding(schema.get("$defs", {}), response[:MAX_RESPONSE]).narrow(schema, 0)


def bounded(schema: _Schema) -> _Schema:
    """Return the schema with limits on lists and texts that have none, so that a small model comes to an end."""

    def limit(node: Any) -> Any:
        if isinstance(node, list):
            return [limit(item) for item in node]
        if not isinstance(node, dict):
            return node
        limits = {"array": {"maxItems": MAX_ITEMS}, "string": {"maxLength": MAX_STRING}}
        own = {} if "enum" in node or "const" in node else limits.get(str(node.get("type")), {})
        return {**own, **{name: limit(value) for name, value in node.items()}}

    narrowed: _Schema = limit(schema)
    return narrowed


def without_repetitions(reply: str) -> str:
    """Return the JSON text with every item of a list kept once."""

    def once(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: once(item) for name, item in value.items()}
        if isinstance(value, list):
            return list({json.dumps(item): item for item in map(once, value)}.values())
        return value

    try:
        return json.dumps(once(read_json(reply)), ensure_ascii=False)
    except ValueError:
        return reply


def phrases(text: str) -> list[str]:
    """Return the runs of one to three words within a clause that neither begin nor end with a filler word."""
    found: dict[str, None] = {}
    for clause in _BREAK.split(text):
        words = list(_WORD.finditer(clause))
        for first in range(len(words)):
            for last in range(first, min(first + 3, len(words))):
                if not {words[first].group().lower(), words[last].group().lower()} & _STOP_WORDS:
                    found[clause[words[first].start() : words[last].end()]] = None
    return list(found)


class _Grounding:
    def __init__(self, definitions: _Schema, response: str) -> None:
        self._definitions = definitions
        self._response = response
        self._numbers = list(dict.fromkeys(numbers(response)))
        self._phrases = phrases(response)

    def narrow(self, schema: _Schema, depth: int) -> _Schema:
        node, nullable = _core(schema, self._definitions)
        candidates = self._candidates(node)
        if candidates:
            return {"enum": candidates}
        if candidates is not None and nullable:
            return {"type": "null"}
        kind = node.get("type")
        if kind == "array":
            return {"type": "array", "items": self.narrow(node.get("items", {}), depth + 1), "maxItems": MAX_ITEMS}
        if kind == "object" and node.get("properties") and depth < MAX_DEPTH:
            fields = {name: self.narrow(field, depth + 1) for name, field in node["properties"].items()}
            return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
        if kind in ("object", None) and nullable:
            return {"type": "null"}
        return bounded({name: value for name, value in node.items() if name in ("type", "enum", "const")})

    def _candidates(self, node: _Schema) -> list[Any] | None:
        """Return the values to choose from; None when the kind of value is not limited."""
        if "enum" in node:
            return [value for value in node["enum"] if _occurs(str(value), self._response)] or node["enum"]
        kind = node.get("type")
        if kind == "integer":
            return [int(number) for number in self._numbers if number == int(number)]
        if kind == "number":
            return list(self._numbers)
        return self._phrases if kind == "string" else None


def _core(schema: _Schema, definitions: _Schema) -> tuple[_Schema, bool]:
    """Return a schema without references and alternatives, and whether null is one of them."""
    nullable = False
    for _ in range(MAX_DEPTH):
        if "$ref" in schema:
            schema = definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
        elif "anyOf" in schema or "oneOf" in schema:
            options = schema.get("anyOf") or schema.get("oneOf") or []
            nullable = nullable or {"type": "null"} in options
            schema = next((option for option in options if option != {"type": "null"}), {})
        elif isinstance(schema.get("type"), list):
            nullable = nullable or "null" in schema["type"]
            schema = {**schema, "type": next((kind for kind in schema["type"] if kind != "null"), "null")}
        else:
            break
    if None in schema.get("enum", ()):
        schema, nullable = {**schema, "enum": [value for value in schema["enum"] if value is not None]}, True
    return schema, nullable


def _occurs(option: str, response: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(option)}(?!\w)", response, re.IGNORECASE) is not None


def _lines(schema: _Schema, definitions: _Schema, prefix: str, depth: int) -> Iterator[str]:
    node, _ = _core(schema, definitions)
    for name, field in node.get("properties", {}).items():
        core, _ = _core(field, definitions)
        said = " ".join(str(field.get("description") or core.get("description") or "").split())[:MAX_DESCRIPTION]
        yield f"- {prefix}{name} ({_kind(core, definitions)}): {said}"
        if core.get("type") == "object" and depth < MAX_DEPTH:
            yield from _lines(core, definitions, f"{prefix}{name}.", depth + 1)


def _kind(node: _Schema, definitions: _Schema) -> str:
    if "enum" in node:
        return "one of: " + ", ".join(map(str, node["enum"][:20]))
    if node.get("type") == "array":
        return f"list of {_kind(_core(node.get('items', {}), definitions)[0], definitions)}"
    names = {"integer": "whole number", "number": "number", "boolean": "true or false", "string": "text"}
    return names.get(str(node.get("type")), "object")


def _task(fields: str, question: str, response: str) -> str:
    return f"Question: {question}\nResponse: {response}\nFields:\n{fields}\nWhat does the response say? JSON:"
