"""Values as text for table cells and exports."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from karenina_core.schemas import ConfusionPart, VerificationResult

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Return `text` without what no file or table can hold: NUL and lone surrogates become `�`."""
    if not _UNSTORABLE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "�")


def shorten(text: str, length: int = 80) -> str:
    """Return `text` on one line, cut to `length` characters."""
    line = " ".join(clean_text(text).split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def readable(value: Any) -> str | None:
    """Return a value as text: text as it is, None as None, everything else as JSON."""
    if value is None:
        return None
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "a value nested too deep to be shown"
    return clean_text(text)


def value_at(result: VerificationResult, path: str) -> Any:
    """Return what stands in a result at a path such as `answer.text`; None where a part on the way is missing."""
    value: Any = result
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value


def items_in_words(part: ConfusionPart) -> str:
    """Return the items behind the metrics of a trait by bucket; mistakes that the trait expects are told apart."""
    unexpected = {
        name: [item for item in getattr(part, name) if item not in getattr(part, f"expected_{name}")]
        for name in ("fp", "fn")
    }
    buckets = {
        "found": part.tp,
        "expected false positives": part.expected_fp,
        "unexpected false positives": unexpected["fp"],
        "rightly excluded": part.tn,
        "expected misses": part.expected_fn,
        "unexpected misses": unexpected["fn"],
    }
    return clean_text("; ".join(f"{name}: {', '.join(items)}" for name, items in buckets.items() if items))


def redactor() -> Callable[[str], str]:
    """Return a function that hides keys in texts, for one export.

    It remembers what it has seen, because ids, labels and answers repeat from row to row.
    """
    from karenina_core.redact import redact

    return lru_cache(maxsize=10_000)(lambda text: redact(clean_text(text)))


def json_line(value: Any, change: Callable[[str], str]) -> str:
    """Return a value as one line of JSON, as `clean_json` makes it."""
    return json.dumps(clean_json(value, change), ensure_ascii=False, allow_nan=False)


def clean_json(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON-like value with every text changed and without numbers that JSON has no word for.

    Those become their names, `NaN` and `Infinity`, which pydantic reads back as numbers.
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(str(key)): clean_json(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item, change) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
