"""What every figure shares: colours, symbols, a theme-neutral background, and what it looks like without data."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from karenina_core.analysis.cells import shorten
from karenina_core.text import visible

RIGHT = "#0072B2"
WRONG = "#B84A00"
PARTLY = "#E69F00"
NOT_FOUND = "#8A4F7D"
NOTHING = "#737373"
GRID = "rgba(128, 128, 128, 0.25)"
CLEAR = "rgba(0, 0, 0, 0)"

# Okabe and Ito's colours, told apart with every kind of colour vision; the symbols tell series apart without any.
SERIES_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
SERIES_SYMBOLS = ("circle", "diamond", "square", "cross", "triangle-up", "star", "pentagon")


def figure(traces: list[Any], height: int, **layout: Any) -> Any:
    """Return a figure whose background and text take the colours of the page around it."""
    import plotly.graph_objects as go

    axis = {"gridcolor": GRID, "zeroline": False, "automargin": True}
    common = {
        "template": "none",
        "height": height,
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "modebar": {"bgcolor": CLEAR},
        "margin": {"l": 10, "r": 20, "t": 40, "b": 40},
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        "hovermode": "closest",
        "clickmode": "event+select",
        "xaxis": axis,
        "yaxis": axis,
    }
    # All at once: every later update makes Plotly look at everything again.
    return go.Figure(traces, {**common, **layout})


def array(values: Sequence[Any]) -> Any:
    """Return values of marks as Plotly takes them fastest: of lists it looks at every single value, several times."""
    import numpy as np

    return np.array(values, dtype=object)


def empty(sentence: str) -> Any:
    """Return a figure that says in one sentence why there is nothing to draw."""
    drawing = figure([], height=160)
    drawing.update_xaxes(visible=False)
    drawing.update_yaxes(visible=False)
    drawing.add_annotation(text=sentence, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    return drawing


def note(drawing: Any, sentence: str) -> None:
    """Write a remark below the axes, such as how many rows are not shown."""
    drawing.add_annotation(text=sentence, x=0, y=0, xref="paper", yref="paper", yanchor="top", showarrow=False)


def series_style(place: int) -> dict[str, Any]:
    """Return colour and symbol of the series at that place."""
    return {
        "color": SERIES_COLOURS[place % len(SERIES_COLOURS)],
        "symbol": SERIES_SYMBOLS[place % len(SERIES_SYMBOLS)],
    }


@lru_cache(maxsize=5_000)
def wrapped(text: str, width: int = 30, lines: int = 2) -> str:
    """Return foreign text for a label of a few short lines, so that it leaves room on a narrow screen."""
    parts = textwrap.wrap(" ".join(visible(text).split()), width, max_lines=lines, placeholder="…")
    return "<br>".join(literal(part, width) for part in parts)


@lru_cache(maxsize=5_000)
def literal(text: str, length: int = 60) -> str:
    """Return foreign text for a figure: one line, cut, and shown as it is rather than read as markup."""
    return html.escape(shorten(visible(text), length), quote=False)
