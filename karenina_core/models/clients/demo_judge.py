"""Leads a very small model through the extraction of values, so that it can stand in for a judge in a demo.

Its schema is narrowed to what the response says: numbers to the numbers in it, texts to its phrases of one to three
words, classes to those that occur. The model only chooses. That forbids paraphrase, so a capable judge is not led.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from karenina_core.files import read_json

DEMO_JUDGE_NOTE = (
    "demo judge, 13 of 20 extractions right (15 of 20 in this project's own test); "
    "choose a stronger judge for real evaluation"
)

MAX_ITEMS = 8  # items of a list; a small model finds no end
MAX_STRING = 200  # characters of a free text
_MAX_RESPONSE = 1_500  # characters of a response that are shown and searched
_MAX_DESCRIPTION = 160
_MAX_DEPTH = 6
_Schema = dict[str, Any]

# Question, response, fields asked for, values: six kinds of fields, invented for this purpose.
_EXAMPLES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    (
        "How many legs does a spider have?",
        "A spider has eight legs, unlike insects, which have 6.",
        "- count (whole number): Number of legs the response gives for a spider",
        {"count": 8},
    ),
    (
        "Which gas do plants take up for photosynthesis?",
        "Plants take up nitrogen from the air to make sugar.",
        "- gas (text): The gas the response names",
        {"gas": "nitrogen"},
    ),
    (
        "Is a whale a fish?",
        "No. A whale is a mammal that lives in the sea.",
        "- is_fish (true or false): Whether the response says that a whale is a fish",
        {"is_fish": False},
    ),
    (
        "Name the primary colours of light.",
        "They are red, green and blue.",
        "- colours (list of text): All colours the response lists",
        {"colours": ["red", "green", "blue"]},
    ),
    (
        "What kind of rock is granite?",
        "Granite is igneous: it forms from magma that cools slowly.",
        "- kind (one of: igneous, sedimentary, metamorphic): The kind of rock the response states",
        {"kind": "igneous"},
    ),
    (
        "Does yeast make bread rise, and at which temperature?",
        "Yes, yeast makes bread rise. Dough rises well at 27 degrees.",
        "- yeast_works (true or false): Whether the response says that yeast makes bread rise\n"
        "- degrees (whole number): Temperature in degrees that the response gives",
        {"yeast_works": True, "degrees": 27},
    ),
)


def messages(schema: _Schema, question: str, response: str) -> list[dict[str, str]]:
    """Return the prompt: six worked examples, then the task."""
    shown = []
    for example_question, example_response, fields, values in _EXAMPLES:
        shown.append({"role": "user", "content": _task(fields, example_question, example_response)})
        shown.append({"role": "assistant", "content": json.dumps(values, ensure_ascii=False)})
    return [*shown, {"role": "user", "content": _task(describe(schema), question, response[:_MAX_RESPONSE])}]


def _task(fields: str, question: str, response: str) -> str:
    return f"Question: {question}\nResponse: {response}\nFields:\n{fields}\nWhat does the response say? JSON:"


def describe(schema: _Schema) -> str:
    """Return one line for each field: its name, its kind and its description."""
    return "\n".join(_lines(schema, schema.get("$defs", {}), "", 0))


def _lines(schema: _Schema, definitions: _Schema, prefix: str, depth: int) -> Iterator[str]:
    node, _ = _core(schema, definitions)
    for name, field in node.get("properties", {}).items():
        core, _ = _core(field, definitions)
        text = " ".join(str(field.get("description") or core.get("description") or "").split())[:_MAX_DESCRIPTION]
        yield f"- {prefix}{name} ({_kind(core, definitions)}): {text}"
        if core.get("type") == "object" and depth < _MAX_DEPTH:
            yield from _lines(core, definitions, f"{prefix}{name}.", depth + 1)


def _kind(node: _Schema, definitions: _Schema) -> str:
    if "enum" in node:
        return "one of: " + ", ".join(map(str, node["enum"][:20]))
    if node.get("type") == "array":
        return f"list of {_kind(_core(node.get('items', {}), definitions)[0], definitions)}"
    names = {"integer": "whole number", "number": "number", "boolean": "true or false", "string": "text"}
    return names.get(str(node.get("type")), "object")


def _core(schema: _Schema, definitions: _Schema) -> tuple[_Schema, bool]:
    """Return a schema without references and alternatives, and whether null is one of them."""
    nullable = False
    for _ in range(_MAX_DEPTH):
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


def grounded(schema: _Schema, response: str) -> _Schema:
    """Return the schema narrowed to values that occur in the response."""
    return _Grounding(schema.get("$defs", {}), response[:_MAX_RESPONSE]).narrow(schema, 0)


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
        if kind == "object" and node.get("properties") and depth < _MAX_DEPTH:
            fields = {name: self.narrow(field, depth + 1) for name, field in node["properties"].items()}
            return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
        if kind in ("object", None) and nullable:
            return {"type": "null"}
        return bounded({name: value for name, value in node.items() if name in ("type", "enum", "const")})

    def _candidates(self, node: _Schema) -> list[Any] | None:
        """Return the values to choose from; None when the kind of value is not limited."""
        if "enum" in node:
            return [value for value in node["enum"] if self._occurs(str(value))] or node["enum"]
        match node.get("type"):
            case "integer":
                return [int(number) for number in self._numbers if number == int(number)]
            case "number":
                return list(self._numbers)
            case "string":
                return self._phrases
        return None

    def _occurs(self, option: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(option)}(?!\w)", self._response, re.IGNORECASE) is not None


def bounded(schema: _Schema) -> _Schema:
    """Return the schema with limits on lists and texts that have none, so that a small model comes to an end."""
    limits = {"array": {"maxItems": MAX_ITEMS}, "string": {"maxLength": MAX_STRING}}

    def limit(node: Any) -> Any:
        if isinstance(node, list):
            return [limit(item) for item in node]
        if not isinstance(node, dict):
            return node
        own = {} if "enum" in node or "const" in node else limits.get(str(node.get("type")), {})
        return {**own, **{name: limit(value) for name, value in node.items()}}

    narrowed: _Schema = limit(schema)
    return narrowed


def without_repetitions(reply: str) -> str:
    """Return the JSON text with every item of a list once."""

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


_UNITS = re.findall(
    r"\w+",
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen""",
)
_TENS = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
_VALUES = {word: value for value, word in enumerate(_UNITS)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_MOST_DIGITS = 300  # a longer number is none that anybody means, and more than Python reads
_DIGITS = re.compile(r"(?<![\w.])[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|(?<![\w.])[-−]?\d{1,18}(?:\.\d{1,15})?(?!\d)")
_NUMBER_WORD = rf"(?:{'|'.join([*_VALUES, *_SCALES])})"
_NUMBER_WORDS = re.compile(rf"(?<!\w){_NUMBER_WORD}(?:(?:[\s-]+|\s+and\s+){_NUMBER_WORD})*(?!\w)", re.IGNORECASE)


def numbers(text: str) -> list[float]:
    """Return the numbers in a text, in order; whole ones as `int`.

    `1,234`, `-2.5`, `forty-six` and `two hundred and six` are understood; digits within words such as `BCL2` are not
    numbers.
    """
    found: list[tuple[int, float]] = []
    for match in _DIGITS.finditer(text):
        digits = match.group().replace(",", "").replace("−", "-")
        if len(match.group()) <= _MOST_DIGITS:
            found.append((match.start(), float(digits) if "." in digits else int(digits)))
    for match in _NUMBER_WORDS.finditer(text):
        found += [(match.start(), value) for value in _spelled_out(match.group().lower())]
    return [value for _, value in sorted(found, key=lambda item: item[0])]


def _spelled_out(text: str) -> Iterator[int]:
    """Yield the numbers in a run of number words; `five six` are two."""
    total, part, last = 0, None, 0
    for word in re.findall(r"[a-z]+", text):
        if word in _SCALES:
            scale = _SCALES[word]
            part = (1 if part is None else part) * scale
            if scale > 100:
                total, part = total + part, None
            last = scale
        elif word in _VALUES:
            value = _VALUES[word]
            if part is not None and not (last >= 100 or (last in range(20, 100, 10) and 0 < value < 10)):
                yield total + part
                total, part = 0, None
            part, last = (part or 0) + value, value
    if part is not None or total:
        yield total + (part or 0)
