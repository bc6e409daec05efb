"""How would the pass rate change with another setting of a rule?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.intervals import wilson
from karenina_core.authoring import Curve, Point

if TYPE_CHECKING:
    import plotly.graph_objects as go


def what_if(curve: Curve, now: Any = None, chosen: Any = None) -> go.Figure:
    """Draw the share of stored answers that pass over the settings of one parameter, with its 95 % interval.

    Args:
        curve: Pass counts; settings that are not possible are left out.
        now: The present setting, marked by a dotted line; None marks none.
        chosen: A setting to mark with a diamond.
    """
    import plotly.graph_objects as go

    points = [point for point in curve.points if point.passed is not None]
    if not points or not curve.total:
        return canvas.empty("No stored answer tells what another setting would change.")
    rates = [(point.passed or 0) / curve.total for point in points]
    low, high = wilson(rates, [curve.total] * len(rates))
    settings = [point.setting for point in points]
    edge: dict[str, Any] = {"x": settings, "line": {"width": 0, "shape": "hv"}, "mode": "lines", "hoverinfo": "skip"}
    above = go.Scatter(y=[float(value) for value in high], showlegend=False, **edge)
    below = go.Scatter(
        y=[float(value) for value in low],
        fill="tonexty",
        fillcolor="rgba(0, 114, 178, 0.15)",
        name="95 % interval",
        **edge,
    )
    line = go.Scatter(
        x=settings,
        y=rates,
        mode="lines+markers",
        line={"shape": "hv", "color": canvas.RIGHT},
        marker={"size": 5, "color": canvas.RIGHT},
        hovertext=[_hover(curve, point) for point in points],
        hoverinfo="text",
        name="share that passes",
    )
    drawing = canvas.figure([above, below, line], height=320)
    drawing.update_yaxes(range=[-0.02, 1.02], tickformat=".0%", title=f"pass, of n = {curve.total}")
    drawing.update_xaxes(title=canvas.literal(f"{curve.parameter} of {curve.field}"))
    if now is not None:
        drawing.add_vline(x=now, line_dash="dot", line_color=canvas.NOTHING)
        drawing.add_annotation(x=now, y=0, text="now", showarrow=False, xanchor="left", xshift=4)
    marked = next((at for at, setting in enumerate(settings) if setting == chosen), None)
    if marked is not None:
        mark = {"size": 13, "symbol": "diamond", "color": canvas.WRONG}
        drawing.add_trace(
            go.Scatter(x=[chosen], y=[rates[marked]], mode="markers", marker=mark, hoverinfo="skip", name="chosen")
        )
    return drawing


def _hover(curve: Curve, point: Point) -> str:
    return f"{canvas.literal(curve.parameter)} {point.setting:g}: {point.passed} of {curve.total} pass"
