"""How long does an answer take?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.effort import latencies
from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.clicks import place

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_WIDE = 20
_AXES = {
    "answer": "Seconds until the answer was there",
    "evaluation": "Seconds for the whole evaluation, judge included",
}
Row = dict[Any, Any]


def latency(frame: pd.DataFrame) -> go.Figure:
    """Draw median, middle 80 % and slowest 1 % of the times of every model.

    Args:
        frame: A table of `results_frame`.
    """
    rows: list[Row] = [row for row in latencies(frame).to_dict("records") if row["n"]]
    if not rows or not max(row["p99"] for row in rows):
        return canvas.empty("No times yet: they appear when models were asked just now, rather than recordings read.")
    labels = [f"{canvas.literal(row['answering_model'])}<br>n = {row['n']:,}" for row in rows]
    traces = [_middle(rows), _slowest(rows), _medians(rows)]
    drawing = canvas.figure(traces, height=130 + 44 * len(rows))
    wide = min(row["p10"] for row in rows) > 0 and max(row["p99"] for row in rows) > _WIDE * min(
        row["p10"] for row in rows
    )
    drawing.update_xaxes(
        title={"text": _AXES[rows[0]["of"]]}, ticksuffix=" s", **({"type": "log"} if wide else {"rangemode": "tozero"})
    )
    drawing.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=labels, range=[len(rows) - 0.5, -0.5], showgrid=False
    )
    return drawing


def _medians(rows: Sequence[Row]) -> Any:
    symbols = ["circle-open" if row["few"] else "circle" for row in rows]
    return _points(rows, "median", "median", {"size": 13, "color": canvas.RIGHT, "symbol": symbols})


def _slowest(rows: Sequence[Row]) -> Any:
    marker = {"size": 12, "color": canvas.PARTLY, "symbol": "line-ns-open", "line": {"width": 3}}
    return _points(rows, "p99", "slowest 1 %", marker)


def _points(rows: Sequence[Row], column: str, name: str, marker: dict[str, Any]) -> Any:
    import plotly.graph_objects as go

    return go.Scatter(
        x=[row[column] for row in rows],
        y=list(range(len(rows))),
        hovertext=[_words(row) for row in rows],
        customdata=[place(row["answering_model"]) for row in rows],
        name=name,
        mode="markers",
        marker=marker,
        unselected={"marker": {"opacity": 1}},
        hoverinfo="text",
    )


def _middle(rows: Sequence[Row]) -> Any:
    import plotly.graph_objects as go

    return go.Scatter(
        x=[end for row in rows for end in (row["p10"], row["p90"], None)],
        y=[end for place in range(len(rows)) for end in (place, place, None)],
        name="middle 80 %",
        mode="lines",
        line={"width": 6, "color": canvas.RIGHT},
        opacity=0.45,
        hoverinfo="skip",
    )


def _words(row: Row) -> str:
    parts = [
        f"<b>{canvas.literal(row['answering_model'])}</b>",
        f"median {row['median']:.2f} s, n = {row['n']:,}",
        f"80 % between {row['p10']:.2f} and {row['p90']:.2f} s",
        f"1 % longer than {row['p99']:.2f} s",
    ]
    parts += [f"{row['missing']} without a time"] if row["missing"] else []
    parts += ["too few to tell"] if row["few"] else []
    return "<br>".join(parts)
