"""Dots with intervals: one row per thing, one series per model or judge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from karenina_core.analysis.figures import canvas

SPREAD = 0.6
"""Share of a row over which its series are spread, so that equal values do not hide each other."""


@dataclass(frozen=True)
class Dot:
    """One value, 0 to 1.

    Attributes:
        row: What is written beside its row; dots of the same text share the row.
        series: Which series it belongs to, for colour and symbol.
        value: Where it stands; not a number when there is nothing to show but the row.
        hover: What it says in full.
        click: Its `customdata`.
        low: Lower end of the interval, not a number without one.
        high: Upper end.
        few: Drawn open: too few rows to tell.
    """

    row: str
    series: str
    value: float
    hover: str
    click: list[Any]
    low: float = math.nan
    high: float = math.nan
    few: bool = False


def dot_plot(dots: Sequence[Dot], axis: str) -> Any:
    """Draw dots in the order of their rows.

    Args:
        dots: The values.
        axis: What the horizontal axis shows.
    """
    rows = list(dict.fromkeys(dot.row for dot in dots))
    series = list(dict.fromkeys(dot.series for dot in dots))
    traces = [_trace(name, place, len(series), rows, dots) for place, name in enumerate(series)]
    lines = max((row.count("<br>") + 1 for row in rows), default=1)
    row_height = max(24 + 18 * len(series), 10 + 16 * lines)
    drawing = canvas.figure(traces, height=110 + len(rows) * row_height, showlegend=len(series) > 1)
    drawing.update_xaxes(range=[-0.03, 1.03], tickformat=".0%", title={"text": axis})
    drawing.update_yaxes(tickvals=list(range(len(rows))), ticktext=rows, range=[len(rows) - 0.5, -0.5], showgrid=False)
    return drawing


def _trace(name: str, place: int, count: int, rows: list[str], dots: Sequence[Dot]) -> Any:
    import plotly.graph_objects as go

    own = [dot for dot in dots if dot.series == name]
    shift = SPREAD * ((place + 0.5) / count - 0.5)
    style = canvas.series_style(place)
    return go.Scatter(
        # A dot without a value stands at 0 as a cross: nothing there, and said so.
        x=[0.0 if math.isnan(dot.value) else dot.value for dot in own],
        y=[rows.index(dot.row) + shift for dot in own],
        error_x={**_error_bars(own), "color": style["color"]},
        hovertext=[dot.hover for dot in own],
        customdata=[dot.click for dot in own],
        name=name,
        mode="markers",
        marker={
            "size": 12,
            "color": [canvas.NOTHING if math.isnan(dot.value) else style["color"] for dot in own],
            "symbol": [_symbol(dot, style["symbol"]) for dot in own],
            "line": {"width": 2, "color": style["color"]},
        },
        unselected={"marker": {"opacity": 1}},
        hoverinfo="text",
        cliponaxis=False,
    )


def _symbol(dot: Dot, symbol: str) -> str:
    if math.isnan(dot.value):
        return "x-thin-open"
    return f"{symbol}-open" if dot.few else symbol


def _error_bars(dots: Sequence[Dot]) -> dict[str, Any]:
    known = [not math.isnan(dot.low) and not math.isnan(dot.value) for dot in dots]
    return {
        "type": "data",
        "symmetric": False,
        "array": [dot.high - dot.value if is_known else 0 for dot, is_known in zip(dots, known, strict=True)],
        "arrayminus": [dot.value - dot.low if is_known else 0 for dot, is_known in zip(dots, known, strict=True)],
        "thickness": 2,
        "visible": any(known),
    }
