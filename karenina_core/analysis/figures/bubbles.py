"""Bubbles: how often each value occurs, one panel per trait, one row per model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from karenina_core.analysis.figures import canvas

LARGEST = 30
NUMBER = "#FFFFFF"
TITLE_SPACE = 70
ROW_SPACE = 56
MEAN_BELOW = 0.36


@dataclass(frozen=True)
class Bubble:
    """How often one value occurs in one row.

    Attributes:
        row: What is written beside its row.
        x: Place on the panel's axis.
        count: How often the value occurs.
        hover: What it says in full.
        click: Its `customdata`.
    """

    row: str
    x: float
    count: int
    hover: str
    click: list[Any]


@dataclass(frozen=True)
class Mark:
    """The mean of a row with its interval; ends that are not numbers are not drawn."""

    row: str
    x: float
    low: float
    high: float
    hover: str
    click: list[Any]


@dataclass(frozen=True)
class Panel:
    """The values of one trait.

    Attributes:
        title: Written above it.
        ticks: Places on the axis and what is written there.
        bubbles: The values.
        means: Their means, where a mean says something.
    """

    title: str
    ticks: dict[float, str]
    bubbles: Sequence[Bubble]
    means: Sequence[Mark] = field(default=())


def bubble_panels(panels: Sequence[Panel]) -> Any:
    """Draw panels below each other, each on its own range."""
    from plotly.subplots import make_subplots

    heights = [ROW_SPACE * len(_rows(panel)) for panel in panels]
    height = sum(heights) + TITLE_SPACE * len(panels) + 60
    drawing = make_subplots(
        rows=len(panels),
        cols=1,
        row_heights=heights,
        vertical_spacing=TITLE_SPACE / height if len(panels) > 1 else 0,
        subplot_titles=[panel.title for panel in panels],
        figure=canvas.figure([], height=height, showlegend=False),
    )
    for number, panel in enumerate(panels, 1):
        _draw(drawing, panel, number)
    return drawing


def _rows(panel: Panel) -> list[str]:
    return list(dict.fromkeys([*(bubble.row for bubble in panel.bubbles), *(mean.row for mean in panel.means)]))


def _draw(drawing: Any, panel: Panel, number: int) -> None:
    rows = _rows(panel)
    drawing.add_trace(_bubble_trace(panel.bubbles, rows), row=number, col=1)
    if panel.means:
        drawing.add_trace(_mean_trace(panel.means, rows), row=number, col=1)
    places = list(panel.ticks)
    edge = 0.5 * (places[1] - places[0]) if len(places) > 1 else 0.5
    drawing.update_xaxes(
        row=number,
        col=1,
        range=[places[0] - edge, places[-1] + edge],
        tickvals=places,
        ticktext=list(panel.ticks.values()),
        gridcolor=canvas.GRID,
        zeroline=False,
        automargin=True,
    )
    drawing.update_yaxes(
        row=number,
        col=1,
        tickvals=list(range(len(rows))),
        ticktext=rows,
        zeroline=False,
        range=[len(rows) - 0.5, -0.5],
        gridcolor=canvas.GRID,
        automargin=True,
    )


def _bubble_trace(bubbles: Sequence[Bubble], rows: list[str]) -> Any:
    import plotly.graph_objects as go

    most = max(bubble.count for bubble in bubbles)
    return go.Scatter(
        x=[bubble.x for bubble in bubbles],
        y=[rows.index(bubble.row) for bubble in bubbles],
        text=[str(bubble.count) for bubble in bubbles],
        hovertext=[bubble.hover for bubble in bubbles],
        customdata=[bubble.click for bubble in bubbles],
        mode="markers+text",
        textfont={"color": NUMBER, "size": 11},
        marker={
            "color": canvas.RIGHT,
            "opacity": 1,
            # The area, not the width, is what people compare; 14 px keep the number readable.
            "size": [max(14.0, LARGEST * math.sqrt(bubble.count / most)) for bubble in bubbles],
        },
        unselected={"marker": {"opacity": 1}, "textfont": {"color": NUMBER}},
        hoverinfo="text",
    )


def _mean_trace(means: Sequence[Mark], rows: list[str]) -> Any:
    import plotly.graph_objects as go

    known = [not math.isnan(mean.low) for mean in means]
    return go.Scatter(
        x=[mean.x for mean in means],
        y=[rows.index(mean.row) + MEAN_BELOW for mean in means],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [mean.high - mean.x if is_known else 0 for mean, is_known in zip(means, known, strict=True)],
            "arrayminus": [mean.x - mean.low if is_known else 0 for mean, is_known in zip(means, known, strict=True)],
            "visible": any(known),
            "color": canvas.PARTLY,
        },
        hovertext=[mean.hover for mean in means],
        customdata=[mean.click for mean in means],
        mode="markers",
        marker={"symbol": "diamond", "size": 11, "color": canvas.PARTLY, "line": {"width": 1, "color": "#000000"}},
        unselected={"marker": {"opacity": 1}},
        hoverinfo="text",
    )
