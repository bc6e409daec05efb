"""Are the questions any good?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.clicks import place
from karenina_core.analysis.items import MIN_EXAMINEES, item_analysis
from karenina_core.analysis.summary import rate_sentence

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

MOST_ITEMS = 1_000
Row = dict[Any, Any]


class _Look(NamedTuple):
    colour: str
    symbol: str
    words: str


_LOOKS = {
    "odd": _Look(canvas.WRONG, "x", "below 0: check the question, its reference answer and its rule"),
    "good": _Look(canvas.RIGHT, "circle", "tells good from weak"),
    "same": _Look(canvas.NOTHING, "line-ew-open", "all right or all wrong: tells nobody apart"),
}


def items(frame: pd.DataFrame) -> go.Figure:
    """Draw how hard every question is against how well it tells good models from weak ones.

    Args:
        frame: A table of `results_frame`.
    """
    table = item_analysis(frame) if len(frame) else frame
    if table.empty or table["examinees"].max() < MIN_EXAMINEES:
        return canvas.empty(f"Too few to tell: this needs at least {MIN_EXAMINEES} models or repeats per question.")
    judged = table[(table["evaluated"] > 0) & (table["examinees"] >= MIN_EXAMINEES)]
    rows = judged.sort_values("discrimination", kind="stable").head(MOST_ITEMS).to_dict("records")
    drawing = canvas.figure([_trace(kind, rows) for kind in _LOOKS], height=460)
    drawing.add_hline(y=0, line={"width": 1, "color": canvas.NOTHING})
    drawing.update_xaxes(
        title={"text": "Share right: left is hard, right is easy"}, range=[-0.04, 1.04], tickformat=".0%"
    )
    drawing.update_yaxes(title={"text": "Discrimination"}, range=[-1.08, 1.08])
    if len(rows) < len(table):
        canvas.note(drawing, f"{len(rows):,} of {len(table):,} questions are shown.")
    return drawing


def _trace(kind: str, rows: Sequence[Row]) -> Any:
    import plotly.graph_objects as go

    look, own = _LOOKS[kind], [row for row in rows if _kind(row) == kind]
    return go.Scatter(
        x=canvas.array([row["rate"] for row in own]),
        y=canvas.array([0.0 if math.isnan(row["discrimination"]) else row["discrimination"] for row in own]),
        hovertext=canvas.array([_words(row) for row in own]),
        customdata=canvas.array([place(question_id=row["question_id"]) for row in own]),
        name=look.words,
        mode="markers",
        marker={"size": 10, "color": look.colour, "symbol": look.symbol, "line": {"width": 1.5, "color": look.colour}},
        unselected={"marker": {"opacity": 1}},
        hoverinfo="text",
        showlegend=bool(own),
    )


def _kind(row: Row) -> str:
    if math.isnan(row["discrimination"]):
        return "same"
    return "odd" if row["discrimination"] < 0 else "good"


def _words(row: Row) -> str:
    parts = [f"<b>{canvas.literal(row['question'])}</b>", rate_sentence(row)]
    if not math.isnan(row["discrimination"]):
        spread = f" (95 % interval {row['discrimination_low']:+.2f} to {row['discrimination_high']:+.2f})"
        parts.append(f"discrimination {row['discrimination']:+.2f}{spread}, {row['examinees']} models and repeats")
    return "<br>".join([*parts, _LOOKS[_kind(row)].words])
