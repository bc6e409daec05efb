"""Making text and numbers storable everywhere: one door, at the edge of the store."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError
from pydantic_core import to_json as dump_json

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_NUL = "\\u0000"
_LOST = "\ufffd" * 3  # what the quick way writes for half a surrogate pair in a key


def clean(value: Any) -> Any:
    """Return JSON-like data with everything replaced that a database would refuse.

    NUL characters and lone surrogates become U+FFFD, NaN and the infinities become None. PostgreSQL refuses the
    former in text; one of the latter makes every JSON query over its column fail.
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    return value


def clean_text(text: str) -> str:
    """Return text without NUL characters and lone surrogates, each replaced by U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def to_json(value: Any) -> str:
    """Return clean data as JSON text."""
    return json.dumps(clean(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def clean_json(adapter: TypeAdapter[Any], value: Any) -> str:
    """Return a typed value as clean JSON text.

    The quick way leaves NUL characters in, and writes lone surrogates in keys otherwise and in values not at all; all
    are rare.
    """
    try:
        text = adapter.dump_json(value).decode()
    except PydanticSerializationError:
        text = _NUL
    return dump_json(clean(adapter.dump_python(value))).decode() if _NUL in text or _LOST in text else text
