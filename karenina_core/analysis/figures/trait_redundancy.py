"""Do two traits measure the same thing?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.clicks import place
from karenina_core.analysis.redundancy import SAME, trait_correlations

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

SIZE = 34
PITCH = 46
# From the colour of opposite traits over white to that of traits that agree; the number on the square says the same.
_SCALE = [[0.0, canvas.WRONG], [0.5, "#F2F2F2"], [1.0, canvas.RIGHT]]
_DARK_FROM = 0.6
Row = dict[Any, Any]


def trait_redundancy(frame: pd.DataFrame) -> go.Figure:
    """Draw the rank correlation of every two traits as a square.

    Args:
        frame: A table of `traits_frame`.
    """
    table = trait_correlations(frame)
    if table.empty:
        return canvas.empty("Nothing to compare yet: it needs two traits that are scored, yes or no, or patterns.")
    rows = table.to_dict("records")
    names = list(dict.fromkeys([row[side] for row in rows for side in ("first", "second")]))
    drawing = canvas.figure([_trace(rows, dark) for dark in (True, False)], height=120 + PITCH * len(names))
    drawing.update_layout(showlegend=False)
    drawing.update_xaxes(**_axis(names[:-1]), side="bottom", tickangle=-40, showgrid=False)
    drawing.update_yaxes(**_axis(names[1:]), autorange="reversed", showgrid=False)
    return drawing


def _axis(names: list[str]) -> dict[str, Any]:
    labels = [canvas.wrapped(name, 24) for name in names]
    return {"type": "category", "categoryorder": "array", "categoryarray": names, "tickvals": names, "ticktext": labels}


def _trace(rows: Sequence[Row], dark: bool) -> Any:
    """Draw the squares with light text on a dark colour, or those with dark text."""
    import plotly.graph_objects as go

    own = [row for row in rows if (abs(row["correlation"]) >= _DARK_FROM) == dark]
    values = [row["correlation"] for row in own]
    text_colour = "#FFFFFF" if dark else "#000000"
    return go.Scatter(
        x=[row["first"] for row in own],
        y=[row["second"] for row in own],
        text=["–" if math.isnan(value) else f"{value:+.2f}" for value in values],
        hovertext=[_words(row) for row in own],
        customdata=[place(item=row["first"]) for row in own],
        mode="markers+text",
        textfont={"color": text_colour, "size": 11},
        marker={
            "symbol": "square",
            "size": SIZE,
            "color": [0.0 if math.isnan(value) else value for value in values],
            "colorscale": _SCALE,
            "cmin": -1,
            "cmax": 1,
            "line": {"width": 1, "color": canvas.NOTHING},
        },
        unselected={"marker": {"opacity": 1}, "textfont": {"color": text_colour}},
        hoverinfo="text",
    )


def _words(row: Row) -> str:
    names = f"<b>{canvas.literal(row['first'])}</b> and <b>{canvas.literal(row['second'])}</b>"
    if math.isnan(row["correlation"]):
        return f"{names}<br>one of them is the same everywhere (n = {row['n']})"
    parts = [names, f"correlation {row['correlation']:+.2f}, n = {row['n']}"]
    if not math.isnan(row["low"]):
        parts.append(f"95 % interval {row['low']:+.2f} to {row['high']:+.2f}")
    parts += ["too few to tell"] if row["few"] else []
    parts += ["hardly different: one of them may do"] if row["correlation"] >= SAME and not row["few"] else []
    return "<br>".join(parts)
