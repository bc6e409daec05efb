"""Is the dearer model worth its price?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.effort import cost_quality as cost_quality_table
from karenina_core.analysis.figures import canvas, clicks
from karenina_core.analysis.summary import rate_sentence

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_WIDE = 8  # prices that differ by more than this factor are drawn on a logarithmic axis
_MOST_NAMES = 6  # with more models, names of those that are not worth their price would hide the others
Row = dict[Any, Any]


def cost_quality(frame: pd.DataFrame) -> go.Figure:
    """Draw the pass rate of every model against the price of an answer, with the line of models that nobody beats.

    Args:
        frame: A table of `results_frame`.
    """
    rows: list[Row] = cost_quality_table(frame).to_dict("records")
    known = [row for row in rows if row["priced"] and row["evaluated"]]
    if not any(row["cost"] for row in known):
        return canvas.empty(_why_nothing(frame))
    known.sort(key=lambda row: row["cost"])
    remembered = frame.loc[frame["answer_origin"] == "ledger", "answering_model"].value_counts()
    for row in known:
        row["remembered"] = int(remembered.get(row["answering_model"], 0))
    marks = [_mark(row, place, len(known)) for place, row in enumerate(known)]
    drawing = canvas.figure([_frontier(known), *marks], height=420)
    drawing.update_xaxes(title={"text": "US dollars for an answer, the judge left out"}, **_axis(known))
    drawing.update_yaxes(title={"text": "Share right"}, range=[-0.03, 1.06], tickformat=".0%")
    if len(known) < len(rows):
        lacking = [canvas.literal(row["answering_model"], 30) for row in rows if row not in known]
        canvas.note(
            drawing, f"Without a price or a verdict: {', '.join(lacking[:5])}{'…' if len(lacking) > 5 else ''}."
        )
    return drawing


def _why_nothing(frame: pd.DataFrame) -> str:
    """Say why no two prices can be compared."""
    answered = frame[frame["answer_origin"].notna()]
    if answered.empty:
        return "No call behind an answer of this run is on record, so there are no prices to compare."
    if answered["answer_origin"].isin(["recording", "manual"]).all():
        return (
            "The answers of this run were recorded or prepared beforehand: no model was asked, so there are no prices "
            "to compare."
        )
    priced = answered[answered["answer_cost"].notna()]
    if priced.empty:
        return (
            "No price of these models is known: enter prices on the page Configure. They count for the calls that "
            "follow."
        )
    if (priced["verdict"] == "not_evaluated").all():
        return "No answer with a known price has a verdict, so no price can be compared with quality."
    return "The models with a known price and a verdict charge nothing, so there are no prices to compare."


def _axis(rows: Sequence[Row]) -> dict[str, Any]:
    low, high = rows[0]["cost"], rows[-1]["cost"]
    if low <= 0 or high <= _WIDE * low:
        return {"tickprefix": "$", "rangemode": "tozero"}
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"${tick:g}" for tick in ticks]}


def _frontier(rows: Sequence[Row]) -> Any:
    import plotly.graph_objects as go

    best = sorted((row for row in rows if row["best"]), key=lambda row: (row["cost"], row["rate"]))
    return go.Scatter(
        x=[row["cost"] for row in best],
        y=[row["rate"] for row in best],
        mode="lines",
        line={"dash": "dot", "width": 2, "color": canvas.NOTHING, "shape": "hv"},
        name="no model is better for less",
        hoverinfo="skip",
    )


def _mark(row: Row, place: int, of: int) -> Any:
    import plotly.graph_objects as go

    name = canvas.literal(row["answering_model"], 30)
    colour = canvas.RIGHT if row["best"] else canvas.NOTHING
    symbol = "diamond" if row["best"] else "circle"
    return go.Scatter(
        x=[row["cost"]],
        y=[row["rate"]],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [row["high"] - row["rate"]],
            "arrayminus": [row["rate"] - row["low"]],
            "thickness": 2,
            "color": colour,
        },
        text=[name if row["best"] or of <= _MOST_NAMES else ""],
        # Names point inwards, and those of neighbours in price stand on different sides.
        textposition=f"{'bottom' if place % 2 == 0 else 'top'} {'right' if place < of / 2 else 'left'}",
        hovertext=[_words(row)],
        customdata=[clicks.place(row["answering_model"])],
        mode="markers+text",
        marker={"size": 13, "color": colour, "symbol": f"{symbol}-open" if row["few"] else symbol},
        unselected={"marker": {"opacity": 1}},
        hoverinfo="text",
        showlegend=False,
    )


def _words(row: Row) -> str:
    known = "" if row["priced"] == row["n"] else f" (known for {row['priced']} of {row['n']})"
    parts = [f"<b>{canvas.literal(row['answering_model'])}</b>", f"${row['cost']:.5f} an answer{known}"]
    if row["remembered"]:
        parts.append(f"{row['remembered']} of {row['n']} from the ledger, at the price first paid")
    return "<br>".join([*parts, rate_sentence(row), *(["no model is better for less"] if row["best"] else [])])
