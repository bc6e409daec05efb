"""Files of summer 2025: the root is a `Dataset` and holds its questions under `hasPart`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karenina_core.benchmark.checkpoint.nodes import Repairs


def recognises(document: Mapping[str, Any]) -> bool:
    """Whether the questions stand under `hasPart`; scenarios, which may stand there too, hold no `item`."""
    parts = document.get("hasPart")
    if "dataFeedElement" in document or not isinstance(parts, list):
        return False
    return document.get("@type") == "Dataset" or any(isinstance(part, dict) and "item" in part for part in parts)


def convert(document: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    """Return the document with its questions where the present form has them."""
    repairs.add("the file", "its questions stand under 'hasPart' of a Dataset", "converted")
    rest = {key: value for key, value in document.items() if key != "hasPart"}
    return {**rest, "@type": "DataFeed", "dataFeedElement": document["hasPart"]}
