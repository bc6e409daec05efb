"""Does trying again help, and can one rely on the answer?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.comparison.arms import Arm
from karenina_core.analysis.comparison.words import Labels
from karenina_core.analysis.figures import canvas
from karenina_core.analysis.summary import percent
from karenina_core.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_WORDS = {"once": "right at least once", "always": "right every time"}


def compare_repeats(table: pd.DataFrame, labels: Labels) -> go.Figure:
    """Draw pass@k above and pass^k below, by the number of tries.

    The `customdata` of a mark is the id of its arm.

    Args:
        table: See `replicates.repeat_rates`.
        labels: Names of the arms.
    """
    if table.empty or table["k"].max() < 2:
        return canvas.empty("Every question was answered once: repeat a run to see this.")
    arms: dict[Arm, list[dict[Any, Any]]] = {}
    for row in table.to_dict("records"):
        arms.setdefault(Arm(row["run_id"], row["answering_model"], row["parsing_model"]), []).append(row)
    traces = [
        _trace(arm, rows, place, kind, labels[arm])
        for place, (arm, rows) in enumerate(arms.items())
        for kind in ("once", "always")
    ]
    drawing = canvas.figure(traces, height=520 + 20 * len(arms))
    tries = int(table["k"].max())
    drawing.update_xaxes(tickvals=list(range(1, tries + 1)), range=[0.7, tries + 0.4], title={"text": "Tries (k)"})
    panel = {"range": [-0.03, 1.03], "tickformat": ".0%", "gridcolor": canvas.GRID, "zeroline": False}
    drawing.update_layout(
        yaxis={**panel, "domain": [0.55, 1], "title": {"text": "at least once"}},
        yaxis2={**panel, "domain": [0, 0.45], "title": {"text": "every time"}, "automargin": True},
        legend={"y": 1.02},
    )
    return drawing


def _trace(arm: Arm, rows: list[dict[Any, Any]], place: int, kind: str, label: str) -> Any:
    import plotly.graph_objects as go

    style = canvas.series_style(place)
    # Arms lie side by side, so that their intervals can be told apart.
    shift = 0.04 * place
    return go.Scatter(
        x=[row["k"] + shift for row in rows],
        y=[row[kind] for row in rows],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [_length(row[f"{kind}_high"] - row[kind]) for row in rows],
            "arrayminus": [_length(row[kind] - row[f"{kind}_low"]) for row in rows],
            "color": style["color"],
            "thickness": 1,
        },
        customdata=[[arm.id]] * len(rows),
        hovertext=[_hover(row, label, kind) for row in rows],
        hoverinfo="text",
        name=canvas.literal(label, 50),
        legendgroup=arm.id,
        showlegend=kind == "once",
        xaxis="x",
        yaxis="y" if kind == "once" else "y2",
        mode="lines+markers",
        line={"color": style["color"], "dash": "solid" if kind == "once" else "dash"},
        marker={
            "size": 10,
            "color": style["color"],
            "symbol": style["symbol"] if kind == "once" else f"{style['symbol']}-open",
        },
        unselected={"marker": {"opacity": 1}},
    )


def _length(part: float) -> float:
    return 0.0 if math.isnan(part) else max(0.0, part)


def _hover(row: dict[Any, Any], label: str, kind: str) -> str:
    tries = counted(row["k"], "try").replace("trys", "tries")
    return (
        f"{canvas.literal(label)}<br>{tries}: {_WORDS[kind]} on {percent(row[kind])} of "
        f"{counted(row['questions'], 'question')}"
    )
