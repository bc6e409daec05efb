"""The worked examples a small judge is shown: six kinds of fields, invented for this purpose."""

from __future__ import annotations

from typing import Any, NamedTuple


class Example(NamedTuple):
    """A question, a response to it, the fields asked for, and their values."""

    question: str
    response: str
    fields: str
    values: dict[str, Any]


EXAMPLES = (
    Example(
        "How many legs does a spider have?",
        "A spider has eight legs, unlike insects, which have 6.",
        "- count (whole number): Number of legs the response gives for a spider",
        {"count": 8},
    ),
    Example(
        "Which gas do plants take up for photosynthesis?",
        "Plants take up nitrogen from the air to make sugar.",
        "- gas (text): The gas the response names",
        {"gas": "nitrogen"},
    ),
    Example(
        "Is a whale a fish?",
        "No. A whale is a mammal that lives in the sea.",
        "- is_fish (true or false): Whether the response says that a whale is a fish",
        {"is_fish": False},
    ),
    Example(
        "Name the primary colours of light.",
        "They are red, green and blue.",
        "- colours (list of text): All colours the response lists",
        {"colours": ["red", "green", "blue"]},
    ),
    Example(
        "What kind of rock is granite?",
        "Granite is igneous: it forms from magma that cools slowly.",
        "- kind (one of: igneous, sedimentary, metamorphic): The kind of rock the response states",
        {"kind": "igneous"},
    ),
    Example(
        "Does yeast make bread rise, and at which temperature?",
        "Yes, yeast makes bread rise. Dough rises well at 27 degrees.",
        "- yeast_works (true or false): Whether the response says that yeast makes bread rise\n"
        "- degrees (whole number): Temperature in degrees that the response gives",
        {"yeast_works": True, "degrees": 27},
    ),
)
