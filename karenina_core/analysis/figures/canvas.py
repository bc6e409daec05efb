"""What every figure shares: colours, marks, axes, the way from a mark to its rows, and a sentence where data lack."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from karenina_core.analysis.cells import shorten
from karenina_core.analysis.statistics import NO_KEYWORD
from karenina_core.text import visible

if TYPE_CHECKING:
    import pandas as pd

RIGHT = "#0072B2"
WRONG = "#B84A00"
PARTLY = "#E69F00"
NOT_FOUND = "#8A4F7D"
NOTHING = "#737373"
GRID = "rgba(128, 128, 128, 0.25)"
CLEAR = "rgba(0, 0, 0, 0)"
LIGHT_TEXT, DARK_TEXT = "#FFFFFF", "#000000"
_SHADES = [[0, WRONG], [0.5, NOTHING], [1, RIGHT]]  # of numbers from -1 to 1; the text on the square says the same

# Okabe and Ito's colours, told apart with every kind of colour vision; the symbols tell series apart without any.
SERIES_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
SERIES_SYMBOLS = ("circle", "diamond", "square", "cross", "triangle-up", "star", "pentagon")
_SERIES_SPREAD = 0.6  # share of a row over which its series are spread, so that equal values do not hide each other
_AXIS = {"gridcolor": GRID, "zeroline": False, "automargin": True}

# What the places of every mark's `customdata` mean; None stands for any. `item` is a field or a trait, `label` a
# trait's value in words, `keyword` one of the question's keywords.
PLACES = ("answering_model", "parsing_model", "question_id", "replicate", "item", "label", "keyword")

Row = dict[Any, Any]


class Mark(NamedTuple):
    """One mark of a figure.

    Attributes:
        x: Where it stands.
        y: Likewise; in a figure of labelled rows, what is written beside its row.
        hover: What it says in full.
        click: Its `customdata`.
        text: What is written on it or beside it.
        low: Lower end of its interval; not a number without one.
        high: Upper end.
        few: Drawn open: too few rows to tell.
        series: Which series it belongs to, for colour and symbol.
    """

    x: Any
    y: Any
    hover: str
    click: list[Any]
    text: str = ""
    low: float = math.nan
    high: float = math.nan
    few: bool = False
    series: str = ""


def mark(row: Row, x: Any, y: Any, *words: str, text: str = "", series: str = "") -> Mark:
    """Return the mark of a row of statistics, with the row's interval and the way to the rows behind it.

    Args:
        row: The row.
        x: As in `Mark`.
        y: Likewise.
        words: Lines of the hover text; empty ones are left out.
        text: As in `Mark`.
        series: Likewise.
    """
    ends = (row.get("low", math.nan), row.get("high", math.nan))
    return Mark(x, y, lines(*words), place(row), text, *ends, bool(row.get("few")), series)


def figure(traces: list[Any], height: int, **layout: Any) -> Any:
    """Return a figure whose background and text take the colours of the page around it."""
    import plotly.graph_objects as go

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
        "xaxis": _AXIS,
        "yaxis": _AXIS,
    }
    # All at once: every later update makes Plotly look at everything again.
    return go.Figure(traces, {**common, **layout})


def empty(sentence: str) -> Any:
    """Return a figure that says in one sentence why there is nothing to draw."""
    drawing = figure([], 160, xaxis={"visible": False}, yaxis={"visible": False})
    drawing.add_annotation(text=sentence, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    return drawing


def note(drawing: Any, sentence: str) -> None:
    """Write a remark below the axes, such as how many rows are not shown."""
    drawing.add_annotation(text=sentence, x=0, y=0, xref="paper", yref="paper", yanchor="top", showarrow=False)


def trace(
    marks: Sequence[Mark],
    marker: dict[str, Any],
    *,
    text_colour: str = "",
    error: dict[str, Any] | None = None,
    **more: Any,
) -> Any:
    """Return a trace of clickable marks.

    Args:
        marks: The marks.
        marker: Their look.
        text_colour: Colour of the text on them; none is written without.
        error: Look of their intervals, with `axis` for the axis along which they lie; none are drawn without.
        more: Further properties of the trace; `gl` draws thousands of marks quickly.
    """
    import plotly.graph_objects as go

    given: dict[str, Any] = {
        "x": _array([mark.x for mark in marks]),
        "y": _array([mark.y for mark in marks]),
        "hovertext": _array([mark.hover for mark in marks]),
        "customdata": _array([mark.click for mark in marks]),
        "hoverinfo": "text",
        "mode": "markers",
        "marker": marker,
        "unselected": {"marker": {"opacity": 1}},
    }
    if text_colour:
        font = {"color": text_colour}
        given |= {"mode": "markers+text", "text": _array([mark.text for mark in marks])}
        given |= {"textfont": {"size": 11, **font}, "unselected": {"marker": {"opacity": 1}, "textfont": font}}
    if error is not None:
        axis = error["axis"]
        middles = [getattr(mark, axis) for mark in marks]
        # Of 0 and what is not a number, 0 is the larger.
        above = [max(0.0, mark.high - middle) for mark, middle in zip(marks, middles, strict=True)]
        below = [max(0.0, middle - mark.low) for mark, middle in zip(marks, middles, strict=True)]
        look = {name: value for name, value in error.items() if name != "axis"}
        bars = {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "visible": any(above + below)}
        given[f"error_{axis}"] = bars | look
    kind = go.Scattergl if more.pop("gl", False) else go.Scatter
    return kind(**given | more)


def _array(values: Sequence[Any]) -> Any:
    """Return values as Plotly takes them fastest: of lists it looks at every single value, several times."""
    import numpy as np

    return np.array(values, dtype=object)


def series_style(place: int) -> dict[str, Any]:
    """Return colour and symbol of the series at that place."""
    return {
        "color": SERIES_COLOURS[place % len(SERIES_COLOURS)],
        "symbol": SERIES_SYMBOLS[place % len(SERIES_SYMBOLS)],
    }


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """Return an axis of numbers."""
    return {**_AXIS, "title": {"text": title}, **more}


def rows_axis(labels: Sequence[str], **more: Any) -> dict[str, Any]:
    """Return an axis with a label for each of 0, 1, 2 and so on; unless its range is given, the first is at the top."""
    ticks = {"tickvals": list(range(len(labels))), "ticktext": list(labels), "showgrid": False}
    return {**_AXIS, **ticks, "range": [len(labels) - 0.5, -0.5], **more}


def share_axis(title: str = "", **more: Any) -> dict[str, Any]:
    """Return an axis of shares from 0 to 1."""
    return axis(title, **{"range": [-0.03, 1.03], "tickformat": ".0%", **more})


@lru_cache(maxsize=5_000)
def wrapped(text: str, width: int = 30, lines: int = 2) -> str:
    """Return foreign text for a label of a few short lines, so that it leaves room on a narrow screen."""
    parts = textwrap.wrap(" ".join(visible(text).split()), width, max_lines=lines, placeholder="…")
    return "<br>".join(literal(part, width) for part in parts)


@lru_cache(maxsize=5_000)
def literal(text: str, length: int = 60) -> str:
    """Return foreign text for a figure: one line, cut, and shown as it is rather than read as markup."""
    return html.escape(shorten(visible(text), length), quote=False)


def lines(*parts: str) -> str:
    """Return parts of a hover text below each other; empty ones are left out."""
    return "<br>".join(filter(None, parts))


def dot_plot(dots: Sequence[Mark], axis: str) -> Any:
    """Draw dots with their intervals, 0 to 1, one series per model or judge.

    Args:
        dots: The values in the order of their rows; one that is not a number is drawn as a grey cross at 0.
        axis: What the horizontal axis shows.
    """
    rows, series = (list(dict.fromkeys(names)) for names in zip(*((dot.y, dot.series) for dot in dots), strict=True))
    traces = []
    for number, name in enumerate(series):
        own, style = [dot for dot in dots if dot.series == name], series_style(number)
        shift = _SERIES_SPREAD * ((number + 0.5) / len(series) - 0.5)
        known = [not math.isnan(dot.x) for dot in own]
        looks = [f"{style['symbol']}{'-open' if dot.few else ''}" for dot in own]
        marker = {
            "size": 12,
            "color": [style["color"] if is_known else NOTHING for is_known in known],
            "symbol": [look if is_known else "x-thin-open" for look, is_known in zip(looks, known, strict=True)],
            "line": {"width": 2, "color": style["color"]},
        }
        placed = [
            dot._replace(x=dot.x if is_known else 0.0, y=rows.index(dot.y) + shift)
            for dot, is_known in zip(own, known, strict=True)
        ]
        error = {"axis": "x", "thickness": 2, "color": style["color"]}
        traces.append(trace(placed, marker, error=error, name=name, cliponaxis=False))
    most_lines = max(row.count("<br>") + 1 for row in rows)
    height = 110 + len(rows) * max(24 + 18 * len(series), 10 + 16 * most_lines)
    return figure(traces, height, showlegend=len(series) > 1, xaxis=share_axis(axis), yaxis=rows_axis(rows))


def matrix(marks: Sequence[Mark], shades: Sequence[float], size: int, height: int, **layout: Any) -> Any:
    """Draw squares with a text on them, from orange at -1 over grey to blue at 1.

    Args:
        marks: The squares.
        shades: A number for each; grey where it is none.
        size: Pixels of a square.
        height: Pixels of the figure.
        layout: Its axes, and whatever else there is.
    """
    colours = [0.0 if math.isnan(shade) else shade for shade in shades]
    marker = {"symbol": "square", "size": size, "color": colours, "colorscale": _SHADES, "cmin": -1, "cmax": 1}
    return figure([trace(marks, marker, text_colour=LIGHT_TEXT)], height, showlegend=False, **layout)


# From a click back to rows


def place(row: Row) -> list[Any]:
    """Return the `customdata` of a mark, given what is known of the rows behind it by `PLACES` or names of columns."""
    known = {"item": row.get("field", row.get("trait")), "keyword": row.get("keywords"), **row}
    return [known.get(name) for name in PLACES]


def rows_behind(frame: pd.DataFrame, customdata: Iterable[Any]) -> pd.DataFrame:
    """Return the rows of a table that a mark stands for.

    Args:
        frame: The table the figure was drawn from, or another with the same identity columns.
        customdata: The `customdata` of the clicked mark.
    """
    columns = {"item": "field" if "field" in frame else "trait", "keyword": "keywords"}
    for name, wanted in zip(PLACES, customdata, strict=False):
        column = columns.get(name, name)
        if wanted is None or column not in frame:
            continue
        if name == "keyword":
            own = [wanted in keywords if keywords else wanted == NO_KEYWORD for keywords in frame[column]]
            frame = frame[own]
        else:
            frame = frame[frame[column] == wanted]
    return frame


def same_place(customdata: Sequence[Any]) -> list[Any]:
    """Return the `customdata` for the same question, item, label or keyword of any model, judge and repeat.

    Args:
        customdata: The `customdata` of the clicked mark.
    """
    anyone = ("answering_model", "parsing_model", "replicate")
    return [None if name in anyone else wanted for name, wanted in zip(PLACES, customdata, strict=False)]
