"""Grids of clickable squares: questions, template fields and keywords by model; what is right, wrong or missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.canvas import DARK_TEXT, LIGHT_TEXT, Mark, Row, literal, place
from karenina_core.analysis.statistics import Groups, field_rates, pass_rate
from karenina_core.analysis.summary import interval, percent
from karenina_core.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

State = Literal["right", "partly", "wrong", "not_found", "nothing"]
MOST_ROWS = 100
MOST_COLUMNS = 12  # up to this many columns, every repetition has one of its own
MOST_SVG_MARKS = 3_000
SIZE, PITCH = 26, 36  # pixels of a square, and from one to the next
MOST_STRETCHED = 6  # columns; more keep their width, and the figure scrolls on a narrow screen
ROW_LABEL = 190  # pixels of the longest label of a row
LABEL_SPACE = 310  # labels of rows, and what the last tilted label of a column reaches over
FLAT_HEAD = FOOT = 60
MOST_FLAT_LABELS, MOST_FLAT_TEXT = 4, 30  # labels and characters above all columns; more overlap on a narrow screen


class Look(NamedTuple):
    """How a state is drawn: colour, colour of the text on it, and its words in the legend."""

    colour: str
    text_colour: str
    words: str


LOOKS: dict[State, Look] = {
    "right": Look(canvas.RIGHT, LIGHT_TEXT, "✓ right"),
    "partly": Look(canvas.PARTLY, DARK_TEXT, "% partly right"),
    "wrong": Look(canvas.WRONG, LIGHT_TEXT, "✗ wrong"),
    "not_found": Look(canvas.NOT_FOUND, LIGHT_TEXT, "∅ not found"),
    "nothing": Look(canvas.NOTHING, LIGHT_TEXT, "– not evaluated"),
}


class Square(NamedTuple):
    """One cell of a grid.

    Attributes:
        row: Identity of its row, and what is written beside it.
        column: Identity of its column, and what is written above it.
        state: What it says, and what is written on it.
        hover: What it says in full.
        click: Its `customdata`.
    """

    row: tuple[str, str]
    column: tuple[str, str]
    state: tuple[State, str]
    hover: str
    click: list[Any]


def state_of(right: int, evaluated: int) -> tuple[State, str]:
    """Return the state of a cell that sums up several answers, and the text on it."""
    if not evaluated:
        return "nothing", "–"
    if right == evaluated:
        return "right", "✓"
    return ("partly", percent(right / evaluated).removesuffix(" %")) if right else ("wrong", "✗")


def hardest(frame: pd.DataFrame, by: list[str], right: Any, decided: Any) -> tuple[pd.DataFrame, int]:
    """Return the rows of a table that a grid has room for, and how many rows the grid would have in all.

    Args:
        frame: The table; what is returned is all of it, or the part of its hardest rows, hardest first.
        by: Columns that make a row of the grid.
        right: Says of every row of the table whether it is right.
        decided: Says of every row of the table whether that is known.
    """
    import numpy as np

    rows = Groups(frame, by)
    if len(rows) <= MOST_ROWS:
        return frame, len(rows)
    known = rows.count(decided.to_numpy())
    rates = rows.count(right.to_numpy()) / np.where(known > 0, known, np.nan)
    shown = np.argsort(rates, kind="stable")[:MOST_ROWS]  # what was never decided stands last
    ranks = np.full(len(rows), MOST_ROWS)
    ranks[shown] = np.arange(MOST_ROWS)
    chosen = np.flatnonzero(ranks[rows.codes] < MOST_ROWS)
    return frame.iloc[chosen[np.argsort(ranks[rows.codes[chosen]], kind="stable")]], len(rows)


def grid(squares: Sequence[Square], noun: str, total: int) -> Any:
    """Draw squares in the order of their rows and columns.

    Args:
        squares: The cells.
        noun: What a row is, such as `question`, for the remark when there are too many.
        total: Rows there are in all, when not all are among the squares.

    Returns:
        The figure; its layout's `meta` says under `least_width` from how many pixels on no squares overlap.
    """
    rows, columns = dict(square.row for square in squares), dict(square.column for square in squares)
    lengths = [max(map(len, label.split("<br>"))) for label in columns.values()]
    tilted = len(lengths) > MOST_FLAT_LABELS or sum(lengths) > MOST_FLAT_TEXT
    head = FLAT_HEAD + 5 * max(lengths) if tilted else FLAT_HEAD
    right = min(70, max(20, 4 * lengths[-1] - PITCH // 2)) if tilted else 20  # the last label leans over the edge
    drawing = canvas.figure(
        [_state_trace(state, squares) for state in LOOKS],
        height=head + PITCH * len(rows) + FOOT,
        xaxis=canvas.names_axis(columns, side="top", automargin=False, tickangle=-50 if tilted else 0),
        yaxis=canvas.names_axis(rows, range=[len(rows) - 0.5, -0.5]),
        margin={"l": 10, "t": head, "b": FOOT, "r": right},
        meta={"least_width": ROW_LABEL + right + (SIZE + 4) * len(lengths)},
        legend={"orientation": "h", "xref": "container", "yref": "container", "x": 0, "y": 0, "yanchor": "bottom"},
        # Squares would overlap on a narrow screen: there the figure is wider than the screen and scrolls.
        width=LABEL_SPACE + PITCH * len(lengths) if len(lengths) > MOST_STRETCHED else None,
    )
    if total > len(rows):
        canvas.note(drawing, f"The {len(rows)} hardest of {total:,} {noun}s are shown. Filter to see others.")
    return drawing


def _state_trace(state: State, squares: Sequence[Square]) -> Any:
    look = LOOKS[state]
    marks = [
        Mark(square.column[0], square.row[0], square.hover, square.click, square.state[1])
        for square in squares
        if square.state[0] == state
    ]
    marker = {"symbol": "square", "size": SIZE, "color": look.colour}
    more: dict[str, Any] = {"name": look.words, "showlegend": bool(marks), "gl": len(squares) > MOST_SVG_MARKS}
    return canvas.trace(marks, marker, text_colour=look.text_colour, **more)


def questions(frame: pd.DataFrame, replicates: bool | None = None) -> go.Figure:
    """Draw one square per question and model.

    Args:
        frame: A table of `results_frame`.
        replicates: Whether every repetition has its own column; decided by their number when not given.
    """
    if frame.empty:
        return canvas.empty("No results yet: start a run to see them question by question.")
    shown, total = hardest(frame, ["question_id"], frame["verdict"] == "pass", frame["verdict"] != "not_evaluated")
    rows = question_numbers(shown, replicates).to_dict("records")
    return grid([_question_square(row) for row in rows], "question", total)


def question_numbers(frame: pd.DataFrame, replicates: bool | None = None) -> pd.DataFrame:
    """Return the rates behind the squares, see `statistics.pass_rate`."""
    import numpy as np

    columns = ["answering_model", *(["parsing_model"] if frame["parsing_model"].nunique() > 1 else [])]
    repeated = frame["replicate"].nunique() > 1
    if replicates is None:
        replicates = len(frame[[*columns, "replicate"]].drop_duplicates()) <= MOST_COLUMNS
    if repeated and replicates:
        columns.append("replicate")
    # Columns in the order of their models, not in the order in which answers came in.
    order = [
        frame[name].to_numpy() if name == "replicate" else Groups(frame, [name]).codes
        for name in ("question_id", *columns)
    ]
    return pass_rate(frame.iloc[np.lexsort(order[::-1])], ["question_id", "question", *columns])


def _question_square(row: Row) -> Square:
    model, judge, replicate = row["answering_model"], row.get("parsing_model"), row.get("replicate")
    label = canvas.lines(*(literal(name, 30) for name in (model, judge) if name), f"#{replicate}" if replicate else "")
    if row["n"] == 1:
        words = "right" if row["passed"] else "wrong" if row["evaluated"] else "not evaluated"
    else:
        words = f"{row['passed']} of {counted(row['evaluated'], 'answer')} right"
        words += f", {row['not_evaluated']} not evaluated" if row["not_evaluated"] else ""
    return Square(
        (row["question_id"], canvas.wrapped(row["question"])),
        (f"{model}\n{judge}\n{replicate}", label),
        state_of(row["passed"], row["evaluated"]),
        canvas.lines(f"<b>{literal(row['question'])}</b>", label, words),
        place(model, judge, row["question_id"], replicate),
    )


def fields(frame: pd.DataFrame) -> go.Figure:
    """Draw one square per template field and model: the share of answers in which the field is right.

    A row that is wrong everywhere points at the field or its rule rather than at the models.

    Args:
        frame: A table of `fields_frame`.
    """
    if frame.empty:
        return canvas.empty("No verified fields yet: they appear when answers are checked by a template with fields.")
    shown, total = hardest(frame, ["question_id", "field"], frame["state"] == "right", frame["state"] != "undecided")
    one_question = shown["question_id"].nunique() == 1
    return grid([_field_square(row, one_question) for row in field_numbers(shown).to_dict("records")], "field", total)


def field_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rates behind the squares, see `statistics.field_rates`."""
    judges = ["parsing_model"] if frame["parsing_model"].nunique() > 1 else []
    return field_rates(frame, ["question_id", "question", "field", "answering_model", *judges])


def _field_square(row: Row, one_question: bool) -> Square:
    model, judge = row["answering_model"], row.get("parsing_model")
    field, question = literal(row["field"], 30), canvas.wrapped(row["question"], lines=1)
    column = canvas.lines(literal(model, 30), literal(judge, 30) if judge else "")
    nothing_found = row["evaluated"] and row["not_found"] == row["evaluated"]
    words = [f"none of {counted(row['n'], 'answer')} decided"]
    if row["evaluated"]:
        others = {"wrong": "wrong", "not_found": "not found in the response", "undecided": "not decided"}
        words = [f"{row['right']} of {row['evaluated']} right (95 % interval {interval(row['low'], row['high'])})"]
        words += [f"{row[name]} {meaning}" for name, meaning in others.items() if row[name]]
    return Square(
        (f"{row['question_id']}\n{row['field']}", field if one_question else f"{field}<br>{question}"),
        (f"{model}\n{judge}", column),
        ("not_found", "∅") if nothing_found else state_of(row["right"], row["evaluated"]),
        canvas.lines(f"<b>{field}</b> of {question}", column, *words),
        place(model, judge, row["question_id"], item=row["field"]),
    )
