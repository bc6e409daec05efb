"""Figures of a comparison, and of another setting of a rule. The `customdata` of a mark is the id of its arm."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.comparison.arms import ARM, Arm
from karenina_core.analysis.comparison.judges import Consistency
from karenina_core.analysis.comparison.pairs import Pair
from karenina_core.analysis.comparison.words import Labels, directions, points
from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.canvas import Mark, Row, literal
from karenina_core.analysis.figures.results import SHARE_RIGHT
from karenina_core.analysis.statistics import wilson
from karenina_core.analysis.summary import interval, number, percent, rate_sentence
from karenina_core.authoring import Curve
from karenina_core.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_ARM_ROW = 56  # pixels of a row: a name of two lines, and a third for its group
_FINDINGS = {
    "better": ("better beyond chance", canvas.RIGHT, "triangle-right"),
    "worse": ("worse beyond chance", canvas.WRONG, "triangle-left"),
    "open": ("no difference can be told", canvas.NOTHING, "circle-open"),
    "too_few": ("too few disagreements to tell", canvas.NOTHING, "x-thin-open"),
}
_TRIES = {"once": "right at least once", "always": "right every time"}
_SQUARE_SIZES = {3: 58, 5: 42, math.inf: 30}  # up to so many raters, so that squares do not overlap on a narrow screen


def compare_differences(pairs: Sequence[Pair], labels: Labels) -> go.Figure:
    """Draw the difference of every candidate from its baseline, in percentage points.

    A thick line is its 95 % interval; where there are several candidates, a thin one allows for all of them.

    Args:
        pairs: Candidates against one baseline.
        labels: Names of the arms.
    """
    shown = [pair for pair in pairs if pair.questions]
    if not shown:
        return canvas.empty("No question has a verdict for both sides.")
    rows = [canvas.lines(canvas.wrapped(labels[p.candidate]), counted(p.questions, "matched question")) for p in shown]
    ends = [100 * abs(end) for p in shown for end in (p.joint_low, p.joint_high, p.difference) if not math.isnan(end)]
    reach = max(1.0, *ends) * 1.1
    drawing = canvas.figure(
        [drawn for finding in _FINDINGS for drawn in _difference_traces(finding, shown, labels)],
        height=150 + _ARM_ROW * len(shown),
        showlegend=True,
        xaxis=canvas.share_axis("Percentage points, candidate minus baseline", range=[-reach, reach], tickformat=""),
        yaxis=canvas.rows_axis(rows),
    )
    drawing.add_vline(x=0, line_color=canvas.NOTHING, line_dash="dot")
    return drawing


def _difference_traces(finding: str, pairs: Sequence[Pair], labels: Labels) -> Iterator[Any]:
    words, colour, symbol = _FINDINGS[finding]
    own = [(row, pair) for row, pair in enumerate(pairs) if pair.finding == finding]
    marker = {"size": 13, "color": colour, "symbol": symbol, "line": {"width": 2, "color": colour}}
    lines = [("joint_", 1, 6, False)] if any(pair.pairs > 1 for _, pair in own) else []
    for prefix, thickness, cap, in_legend in [*lines, ("", 4, 0, True)] if own else []:
        marks = [
            Mark(
                100 * pair.difference,
                row,
                _difference_words(pair, labels),
                [pair.candidate.id],
                low=100 * getattr(pair, f"{prefix}low"),
                high=100 * getattr(pair, f"{prefix}high"),
            )
            for row, pair in own
        ]
        error = {"axis": "x", "color": colour, "thickness": thickness, "width": cap}
        yield canvas.trace(marks, marker, error=error, name=words, showlegend=in_legend, legendgroup=finding)


def _difference_words(pair: Pair, labels: Labels) -> str:
    ends = "" if math.isnan(pair.low) else f", 95 % interval {points(pair.low)} to {points(pair.high)}"
    joint = f"allowing for {pair.pairs} comparisons {points(pair.joint_low)} to {points(pair.joint_high)}"
    return canvas.lines(
        f"{literal(labels[pair.candidate])} against {literal(labels[pair.baseline])}",
        f"{points(pair.difference)} percentage points{ends}",
        joint if ends and pair.pairs > 1 else "",
        f"{directions(pair)} of {pair.questions}",
    )


def compare_leaderboard(table: pd.DataFrame, labels: Labels) -> go.Figure:
    """Draw the share of right answers of every arm, the best first, with the letters of its tie groups.

    Args:
        table: See `leaderboard`.
        labels: Names of the arms.
    """
    if table.empty:
        return canvas.empty("No arm to rank.")
    dots = []
    for row in table.to_dict("records"):
        arm = Arm(*(row[name] for name in ARM))
        label = f"{canvas.wrapped(labels[arm])}<br>group {row['ties']} · n = {row['evaluated']}"
        name = f"{literal(labels[arm])}, group {row['ties']}"
        dots.append(canvas.mark(row, row["rate"], label, name, rate_sentence(row))._replace(click=[arm.id]))
    return canvas.dot_plot(dots, SHARE_RIGHT).update_layout(height=110 + _ARM_ROW * len(dots))


def compare_repeats(table: pd.DataFrame, labels: Labels) -> go.Figure:
    """Draw pass@k as a solid line and pass^k as a dashed one, by the number of tries.

    Args:
        table: See `repeat_rates`.
        labels: Names of the arms.
    """
    if table.empty or table["k"].max() < 2:
        return canvas.empty("Every question was answered once: repeat a run to see this.")
    arms = {Arm(*map(str, key)): rows.to_dict("records") for key, rows in table.groupby(ARM, sort=False, observed=True)}
    traces = [
        _tries_trace(arm, rows, at, kind, labels[arm]) for at, (arm, rows) in enumerate(arms.items()) for kind in _TRIES
    ]
    tries = int(table["k"].max())
    return canvas.figure(
        traces,
        height=420 + 20 * len(arms),
        xaxis=canvas.axis("Tries (k)", tickvals=list(range(1, tries + 1)), range=[0.7, tries + 0.4]),
        yaxis=canvas.share_axis("Share of questions"),
    )


def _tries_trace(arm: Arm, rows: Sequence[Row], at: int, kind: str, label: str) -> Any:
    style, once = canvas.series_style(at), kind == "once"
    marks = [
        Mark(
            row["k"] + 0.04 * at,  # arms lie side by side, so that their intervals can be told apart
            row[kind],
            f"{literal(label)}<br>{row['k']} {'try' if row['k'] == 1 else 'tries'}: {_TRIES[kind]} on "
            f"{percent(row[kind])} of {counted(row['questions'], 'question')}",
            [arm.id],
            low=row[f"{kind}_low"],
            high=row[f"{kind}_high"],
        )
        for row in rows
    ]
    symbol = style["symbol"] if once else f"{style['symbol']}-open"
    drawn = canvas.trace(
        marks,
        {"size": 10, "color": style["color"], "symbol": symbol},
        error={"axis": "y", "color": style["color"], "thickness": 1},
        line={"color": style["color"], "dash": "solid" if once else "dash"},
        name=literal(label, 50),
        legendgroup=arm.id,
        showlegend=once,
    )
    return drawn.update(mode="lines+markers")


def compare_agreement(pairs: pd.DataFrame, raters: Sequence[str], own: Sequence[Consistency] = ()) -> go.Figure:
    """Draw a square per two raters with Cohen's kappa; on the diagonal, how often repeats had the same verdict.

    Where two raters share too few answers for kappa, their square has no colour and says how many of them agree. The
    `customdata` of a square names its two raters.

    Args:
        pairs: See `agreement`.
        raters: The raters, in order.
        own: How consistent judges are over repeats, for the diagonal; may lack some.
    """
    rows = [row for row in pairs.to_dict("records") if row["n"] and {row["a"], row["b"]} <= set(raters)]
    # Once on each side of the diagonal, so that every row of the matrix reads on its own.
    sides = [(row, x, y) for row in rows for x, y in ((row["a"], row["b"]), (row["b"], row["a"]))]
    marks = [
        *(Mark(raters.index(x), raters.index(y), _kappa_words(row), [y, x], _kappa_text(row)) for row, x, y in sides),
        *(_consistency_mark(item, raters.index(item.judge)) for item in own if item.n),
    ]
    if not marks:
        return canvas.empty("No two raters looked at the same answer.")
    shades = [math.nan if row["few"] else row["kappa"] for row, _, _ in sides]
    names = [canvas.wrapped(name, 16) for name in raters]
    return canvas.matrix(
        marks,
        shades + [math.nan] * (len(marks) - len(shades)),
        size=next(size for most, size in _SQUARE_SIZES.items() if len(raters) <= most),
        height=140 + 74 * len(raters),
        xaxis=canvas.rows_axis(names, side="top", range=[-0.5, max(len(raters), 3) - 0.5]),
        yaxis=canvas.rows_axis(names),
        margin={"l": 10, "r": 20, "t": 70, "b": 40},
    )


def _consistency_mark(item: Consistency, at: int) -> Mark:
    hover = (
        f"{literal(item.judge)}, repeats: the same verdict every time for {item.same} of {item.n} questions "
        f"({percent(item.share)}, 95 % interval {interval(item.low, item.high)})"
        f"<br>Krippendorff's alpha {number(item.alpha)}"
    )
    return Mark(at, at, hover, [item.judge, item.judge], f"{percent(item.share)}<br>n {item.n}")


def _kappa_text(row: Row) -> str:
    if row["few"]:
        return f"{row['agreed']} of {row['n']}<br>agree"
    return f"{'–' if math.isnan(row['kappa']) else 'κ ' + number(row['kappa'])}<br>n {row['n']}"


def _kappa_words(row: Row) -> str:
    kappa = f"Cohen's kappa {number(row['kappa'])} (95 % interval "
    kappa += f"{number(row['kappa_low'])} to {number(row['kappa_high'])})"
    if math.isnan(row["kappa"]):
        kappa = "Cohen's kappa not defined: only one label was given"
    return canvas.lines(
        f"{literal(row['a'])} and {literal(row['b'])}",
        f"the same for {row['agreed']} of {row['n']} ({percent(row['share'])})",
        "Too few answers for kappa" if row["few"] else kappa,
        f"{row['left_out']} left out, without an opinion on one side" if row["left_out"] else "",
    )


def what_if(curve: Curve, now: Any = None, chosen: Any = None) -> go.Figure:
    """Draw the share of stored answers that pass over the settings of one parameter, with its 95 % interval.

    Args:
        curve: Pass counts.
        now: The present setting, marked by a dotted line; None marks none.
        chosen: A setting to mark with a diamond.
    """
    known = {point.setting: point.passed for point in curve.points}
    if not known or not curve.total:
        return canvas.empty("No stored answer tells what another setting would change.")
    settings, rates = list(known), [passed / curve.total for passed in known.values()]
    parameter, lows_and_highs = literal(curve.parameter), wilson(rates, [curve.total] * len(rates))
    marks = [
        Mark(setting, rate, f"{parameter} {setting:g}: {known[setting]} of {curve.total} pass", [], low=low, high=high)
        for setting, rate, low, high in zip(settings, rates, *lows_and_highs, strict=True)
    ]
    marker = {
        "size": [13 if setting == chosen else 5 for setting in settings],
        "symbol": ["diamond" if setting == chosen else "circle" for setting in settings],
        "color": [canvas.WRONG if setting == chosen else canvas.RIGHT for setting in settings],
    }
    line = canvas.trace(marks, marker, error={"axis": "y", "color": canvas.RIGHT, "thickness": 1}, customdata=None)
    line.update(mode="lines+markers", line={"shape": "hv", "color": canvas.RIGHT})
    drawing = canvas.figure(
        [line],
        height=320,
        xaxis=canvas.axis(literal(f"{curve.parameter} of {curve.field}")),
        yaxis=canvas.share_axis(f"pass, of n = {curve.total}"),
    )
    if now is not None:
        drawing.add_vline(x=now, line_dash="dot", line_color=canvas.NOTHING)
        drawing.add_annotation(x=now, y=0, text="now", showarrow=False, xanchor="left", xshift=4)
    return drawing
