"""How much better or worse is each candidate, and how sure is that?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.comparison.pairs import Pair
from karenina_core.analysis.comparison.words import Labels, directions, points
from karenina_core.analysis.figures import canvas
from karenina_core.text import counted

if TYPE_CHECKING:
    import plotly.graph_objects as go

_LOOKS = {
    "better": ("better beyond chance", canvas.RIGHT, "triangle-right"),
    "worse": ("worse beyond chance", canvas.WRONG, "triangle-left"),
    "open": ("no difference can be told", canvas.NOTHING, "circle-open"),
    "too_few": ("too few disagreements to tell", canvas.NOTHING, "x-thin-open"),
}


def compare_differences(pairs: Sequence[Pair], labels: Labels) -> go.Figure:
    """Draw the difference of every candidate from its baseline, in percentage points.

    A thick line is its 95 % interval; where there are several candidates, a thin one allows for all of them.
    The `customdata` of a mark is the id of its candidate.

    Args:
        pairs: Candidates against one baseline.
        labels: Names of the arms.
    """
    shown = [pair for pair in pairs if pair.questions]
    if not shown:
        return canvas.empty("No question has a verdict for both sides.")
    rows = [
        f"{canvas.wrapped(labels[pair.candidate])}<br>{counted(pair.questions, 'matched question')}" for pair in shown
    ]
    traces = [trace for finding in _LOOKS for trace in _traces(finding, shown, labels)]
    drawing = canvas.figure([trace for trace in traces if trace.x], height=150 + 56 * len(shown), showlegend=True)
    reach = max(1.0, *(abs(end) for pair in shown for end in _ends(pair))) * 1.1
    drawing.update_xaxes(range=[-reach, reach], title={"text": "Percentage points, candidate minus baseline"})
    drawing.update_yaxes(tickvals=list(range(len(rows))), ticktext=rows, range=[len(rows) - 0.5, -0.5], showgrid=False)
    drawing.add_vline(x=0, line_color=canvas.NOTHING, line_dash="dot")
    return drawing


def _traces(finding: str, pairs: Sequence[Pair], labels: Labels) -> Iterator[Any]:
    import plotly.graph_objects as go

    words, colour, symbol = _LOOKS[finding]
    own = {row: pair for row, pair in enumerate(pairs) if pair.finding == finding}
    shared: dict[str, Any] = {
        "x": [100 * pair.difference for pair in own.values()],
        "y": list(own),
        "customdata": [[pair.candidate.id] for pair in own.values()],
        "hovertext": [_hover(pair, labels) for pair in own.values()],
        "hoverinfo": "text",
        "mode": "markers",
        "marker": {"size": 13, "color": colour, "symbol": symbol, "line": {"width": 2, "color": colour}},
        "unselected": {"marker": {"opacity": 1}},
        "legendgroup": finding,
    }
    if any(pair.pairs > 1 for pair in own.values()):
        joint = [(pair.joint_low, pair.difference, pair.joint_high) for pair in own.values()]
        yield go.Scatter(**shared, error_x=_line(joint, colour, 1, 6), showlegend=False)
    alone = [(pair.low, pair.difference, pair.high) for pair in own.values()]
    yield go.Scatter(**shared, error_x=_line(alone, colour, 4, 0), name=words)


def _line(ends: Sequence[tuple[float, float, float]], colour: str, thickness: int, cap: int) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [_length(high - middle) for _, middle, high in ends],
        "arrayminus": [_length(middle - low) for low, middle, _ in ends],
        "color": colour,
        "thickness": thickness,
        "width": cap,
    }


def _hover(pair: Pair, labels: Labels) -> str:
    ends = "" if math.isnan(pair.low) else f", 95 % interval {points(pair.low)} to {points(pair.high)}"
    if ends and pair.pairs > 1:
        ends += f"<br>allowing for {pair.pairs} comparisons {points(pair.joint_low)} to {points(pair.joint_high)}"
    return (
        f"{canvas.literal(labels[pair.candidate])} against {canvas.literal(labels[pair.baseline])}<br>"
        f"{points(pair.difference)} percentage points{ends}<br>{directions(pair)} of {pair.questions}"
    )


def _length(part: float) -> float:
    return 0.0 if math.isnan(part) else 100 * max(0.0, part)


def _ends(pair: Pair) -> list[float]:
    return [100 * end for end in (pair.joint_low, pair.joint_high, pair.difference) if not math.isnan(end)]
