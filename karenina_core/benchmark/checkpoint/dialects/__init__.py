"""Older forms of benchmark files, each turned into the present one.

A dialect is one file with `recognises(document)` and `convert(document, repairs)`, and one line in `STEPS`. Conversion
moves things to where the reader expects them, keeps what it does not know, and never changes the document it is given.
"""

from __future__ import annotations

from typing import Any

from karenina_core.benchmark.checkpoint.dialects import dataset, elements, gui_v2
from karenina_core.benchmark.checkpoint.nodes import Repairs

STEPS = (gui_v2, dataset, elements)


def to_current(document: dict[str, Any], repairs: Repairs) -> tuple[dict[str, Any], bool]:
    """Return the document in the present form, and whether it had to be converted."""
    converted = False
    for step in STEPS:
        if step.recognises(document):
            document = step.convert(document, repairs)
            converted = True
    return document, converted
