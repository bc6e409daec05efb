"""A grid of clickable squares: what is right, wrong or missing, row by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.groups import keys
from karenina_core.analysis.summary import percent

if TYPE_CHECKING:
    import pandas as pd

State = Literal["right", "partly", "wrong", "not_found", "nothing"]
MOST_ROWS = 100
MOST_SVG_MARKS = 3_000
SIZE = 26
PITCH = 36
MOST_STRETCHED = 6
ROW_LABEL = 190  # pixels of the longest label of a row
LABEL_SPACE = 310  # labels of rows, and what the last tilted label of a column reaches over
FLAT_HEAD = 60
FOOT = 60
MOST_FLAT_LABELS = 4
MOST_FLAT_TEXT = 30  # characters above all columns; more overlap on a narrow screen


class Look(NamedTuple):
    """How a state is drawn: colour, colour of the text on it, and its words in the legend."""

    colour: str
    text_colour: str
    words: str


LOOKS: dict[State, Look] = {
    "right": Look(canvas.RIGHT, "#FFFFFF", "✓ right"),
    "partly": Look(canvas.PARTLY, "#000000", "% partly right"),
    "wrong": Look(canvas.WRONG, "#FFFFFF", "✗ wrong"),
    "not_found": Look(canvas.NOT_FOUND, "#FFFFFF", "∅ not found"),
    "nothing": Look(canvas.NOTHING, "#FFFFFF", "– not evaluated"),
}


class Hardest(NamedTuple):
    """Rows of a table that fit into a grid, and how many rows the grid would have in all."""

    frame: pd.DataFrame
    total: int


@dataclass(frozen=True)
class Square:
    """One cell of the grid.

    Attributes:
        row: Identity of its row.
        row_label: What is written beside the row.
        column: Identity of its column.
        column_label: What is written above the column.
        state: What it says.
        text: What is written on it.
        hover: What it says in full.
        click: Its `customdata`.
    """

    row: str
    row_label: str
    column: str
    column_label: str
    state: State
    text: str
    hover: str
    click: list[Any]


def state_of(right: int, evaluated: int) -> tuple[State, str]:
    """Return the state of a cell that sums up several answers, and the text on it."""
    if not evaluated:
        return "nothing", "–"
    if right == evaluated:
        return "right", "✓"
    return ("partly", percent(right / evaluated).removesuffix(" %")) if right else ("wrong", "✗")


def hardest(frame: pd.DataFrame, by: list[str], right: pd.Series[bool], decided: pd.Series[bool]) -> Hardest:
    """Return the rows of a table that a grid has room for: all of them, or those of its hardest rows, hardest first.

    Args:
        frame: The table.
        by: Columns that make a row of the grid.
        right: Says of every row of the table whether it is right.
        decided: Says of every row of the table whether that is known.
    """
    import numpy as np

    rows = keys(frame, by)
    if len(rows) <= MOST_ROWS:
        return Hardest(frame, len(rows))
    decided_rows = rows.count(decided.to_numpy())
    rates = rows.count(right.to_numpy()) / np.where(decided_rows > 0, decided_rows, np.nan)
    shown = np.argsort(rates, kind="stable")[:MOST_ROWS]  # what was never decided stands last
    ranks = np.full(len(rows), MOST_ROWS)
    ranks[shown] = np.arange(MOST_ROWS)
    kept = np.flatnonzero(ranks[rows.codes] < MOST_ROWS)
    in_order = kept[np.argsort(ranks[rows.codes[kept]], kind="stable")]
    return Hardest(frame.iloc[in_order], len(rows))


def grid(squares: Sequence[Square], noun: str, total: int | None = None) -> Any:
    """Draw squares in the order of their rows and columns.

    Args:
        squares: The cells.
        noun: What a row is, such as `question`, for the remark when there are too many.
        total: Rows there are in all, when not all are among the squares.

    Returns:
        The figure; its layout's `meta` says under `least_width` from how many pixels on no squares overlap.
    """
    columns, labels = _axis(squares, "column"), _axis(squares, "row")
    kept, shown = squares, labels["categoryarray"]
    lengths = [max(len(line) for line in label.split("<br>")) for label in columns["ticktext"]]
    tilted = len(lengths) > MOST_FLAT_LABELS or sum(lengths) > MOST_FLAT_TEXT
    head = FLAT_HEAD + 5 * max(lengths, default=0) if tilted else FLAT_HEAD
    drawing = canvas.figure([_trace(state, kept) for state in LOOKS], height=head + PITCH * len(shown) + FOOT)
    drawing.update_xaxes(side="top", showgrid=False, automargin=False, tickangle=-50 if tilted else 0, **columns)
    drawing.update_yaxes(range=[len(shown) - 0.5, -0.5], showgrid=False, **labels)
    right = min(70, max(20, 4 * lengths[-1] - PITCH // 2)) if tilted else 20  # the last label leans over the edge
    drawing.update_layout(
        margin={"t": head, "b": FOOT, "r": right},
        meta={"least_width": ROW_LABEL + right + (SIZE + 4) * len(lengths)},
        legend={"xref": "container", "yref": "container", "x": 0, "y": 0, "yanchor": "bottom"},
    )
    if len(lengths) > MOST_STRETCHED:
        # Squares would overlap on a narrow screen: there the figure is wider than the screen and scrolls.
        drawing.update_layout(width=LABEL_SPACE + PITCH * len(lengths))
    if total is not None and total > len(shown):
        canvas.note(drawing, f"The {len(shown)} hardest of {total:,} {noun}s are shown. Filter to see others.")
    return drawing


def _trace(state: State, squares: Sequence[Square]) -> Any:
    import plotly.graph_objects as go

    look = LOOKS[state]
    own = [square for square in squares if square.state == state]
    kind = go.Scatter if len(squares) <= MOST_SVG_MARKS else go.Scattergl
    return kind(
        x=canvas.array([square.column for square in own]),
        y=canvas.array([square.row for square in own]),
        text=canvas.array([square.text for square in own]),
        hovertext=canvas.array([square.hover for square in own]),
        customdata=canvas.array([square.click for square in own]),
        name=look.words,
        mode="markers+text",
        textfont={"color": look.text_colour, "size": 11},
        marker={"symbol": "square", "size": SIZE, "color": look.colour},
        unselected={"marker": {"opacity": 1}, "textfont": {"color": look.text_colour}},
        hoverinfo="text",
        showlegend=bool(own),
    )


def _axis(squares: Sequence[Square], side: Literal["row", "column"]) -> dict[str, Any]:
    labels = {getattr(square, side): getattr(square, f"{side}_label") for square in squares}
    order = list(labels)
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": order,
        "tickmode": "array",
        "tickvals": order,
        "ticktext": list(labels.values()),
    }
