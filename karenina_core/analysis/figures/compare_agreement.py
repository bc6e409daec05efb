"""How far do the judges agree?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.comparison.agreement import Consistency
from karenina_core.analysis.figures import canvas
from karenina_core.analysis.summary import interval, percent

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

SIZES = {3: 58, 5: 42}
"""Size of the squares up to so many raters, so that they do not overlap on a narrow screen."""

SMALLEST = 30
_SHADES = [[0, canvas.WRONG], [0.5, canvas.NOTHING], [1, canvas.RIGHT]]


def compare_agreement(pairs: pd.DataFrame, raters: Sequence[str], own: Sequence[Consistency] = ()) -> go.Figure:
    """Draw a square per two raters with Cohen's kappa; on the diagonal, how often repeats had the same verdict.

    Where two raters share too few answers for kappa, their square has no colour and says how many of them agree.

    The `customdata` of a square names its two raters.

    Args:
        pairs: See `agreement.agreement`.
        raters: The raters, in order.
        own: How consistent judges are over repeats, for the diagonal; may lack some.
    """
    marks = [*_pair_marks(pairs, raters), *(_own_mark(item) for item in own if item.n)]
    if not marks:
        return canvas.empty("No two raters looked at the same answer.")
    names = [canvas.wrapped(name, 16) for name in raters]
    drawing = canvas.figure([_squares(marks, raters)], height=140 + 74 * len(raters), showlegend=False)
    places = list(range(len(raters)))
    reach = max(len(raters), 3) - 0.5
    drawing.update_xaxes(side="top", showgrid=False, tickvals=places, ticktext=names, range=[-0.5, reach])
    drawing.update_yaxes(showgrid=False, tickvals=places, ticktext=names, range=[len(raters) - 0.5, -0.5])
    drawing.update_layout(margin={"t": 70})
    return drawing


Mark = dict[str, Any]


def _pair_marks(pairs: pd.DataFrame, raters: Sequence[str]) -> list[Mark]:
    marks = []
    for row in pairs.to_dict("records"):
        if not row["n"]:
            continue
        # Once on each side of the diagonal, so that every row of the matrix reads on its own.
        for x, y in ((row["a"], row["b"]), (row["b"], row["a"])):
            value = math.nan if row["few"] else row["kappa"]
            marks.append({"x": x, "y": y, "value": value, "text": _text(row), "hover": _hover(row)})
    return [mark for mark in marks if mark["x"] in raters and mark["y"] in raters]


def _own_mark(item: Consistency) -> Mark:
    name = canvas.literal(item.judge)
    hover = (
        f"{name}, repeats: the same verdict every time for {item.same} of {item.n} questions "
        f"({percent(item.share)}, 95 % interval {interval(item.low, item.high)})"
        f"<br>Krippendorff's alpha {_number(item.alpha)}"
    )
    text = f"{percent(item.share)}<br>n {item.n}"
    return {"x": item.judge, "y": item.judge, "value": math.nan, "text": text, "hover": hover}


def _squares(marks: Sequence[Mark], raters: Sequence[str]) -> Any:
    import plotly.graph_objects as go

    return go.Scatter(
        x=[raters.index(mark["x"]) for mark in marks],
        y=[raters.index(mark["y"]) for mark in marks],
        text=[mark["text"] for mark in marks],
        hovertext=[mark["hover"] for mark in marks],
        customdata=[[mark["y"], mark["x"]] for mark in marks],
        mode="markers+text",
        textfont={"color": "#FFFFFF", "size": 12},
        marker={
            "symbol": "square",
            "size": _size(len(raters)),
            "color": [0.5 if math.isnan(mark["value"]) else max(0.0, mark["value"]) for mark in marks],
            "colorscale": _SHADES,
            "cmin": 0,
            "cmax": 1,
        },
        unselected={"marker": {"opacity": 1}, "textfont": {"color": "#FFFFFF"}},
        hoverinfo="text",
    )


def _size(raters: int) -> int:
    return next((size for most, size in SIZES.items() if raters <= most), SMALLEST)


def _text(row: dict[Any, Any]) -> str:
    if row["few"]:
        return f"{row['agreed']} of {row['n']}<br>agree"
    return f"{'κ ' + _number(row['kappa']) if not math.isnan(row['kappa']) else '–'}<br>n {row['n']}"


def _hover(row: dict[Any, Any]) -> str:
    kappa = "Cohen's kappa not defined: only one label was given"
    if not math.isnan(row["kappa"]):
        ends = f"{_number(row['kappa_low'])} to {_number(row['kappa_high'])}"
        kappa = f"Cohen's kappa {_number(row['kappa'])} (95 % interval {ends})"
    if row["few"]:
        kappa = "Too few answers for kappa"
    left_out = f"<br>{row['left_out']} left out, without an opinion on one side" if row["left_out"] else ""
    return (
        f"{canvas.literal(row['a'])} and {canvas.literal(row['b'])}<br>the same for {row['agreed']} of {row['n']} "
        f"({percent(row['share'])})<br>{kappa}{left_out}"
    )


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"
