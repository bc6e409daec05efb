"""Which template fields do the models get right?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.clicks import place
from karenina_core.analysis.figures.squares import Square, State, grid, hardest, state_of
from karenina_core.analysis.statistics import field_rates
from karenina_core.analysis.summary import interval
from karenina_core.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


def fields(frame: pd.DataFrame) -> go.Figure:
    """Draw one square per template field and model: the share of answers in which the field is right.

    A row that is wrong everywhere points at the field or its rule rather than at the models.

    Args:
        frame: A table of `fields_frame`.
    """
    if frame.empty:
        return canvas.empty("No verified fields yet: they appear when answers are checked by a template with fields.")
    shown = hardest(frame, ["question_id", "field"], frame["state"] == "right", frame["state"] != "undecided")
    one_question = shown.frame["question_id"].nunique() == 1
    rows = field_numbers(shown.frame).to_dict("records")
    return grid([_square(row, one_question) for row in rows], "field", shown.total)


def field_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rates behind the squares, see `statistics.field_rates`."""
    judges = frame["parsing_model"].nunique() > 1
    by = ["question_id", "question", "field", "answering_model", *(["parsing_model"] if judges else [])]
    return field_rates(frame, by)


def _square(row: dict[Any, Any], one_question: bool) -> Square:
    state, text = _state(row)
    model, judge = row["answering_model"], row.get("parsing_model")
    field, question = canvas.literal(row["field"], 30), canvas.wrapped(row["question"], lines=1)
    column = canvas.literal(model, 30) + (f"<br>{canvas.literal(judge, 30)}" if judge else "")
    return Square(
        row=f"{row['question_id']}\n{row['field']}",
        row_label=field if one_question else f"{field}<br>{question}",
        column=f"{model}\n{judge}",
        column_label=column,
        state=state,
        text=text,
        hover=f"<b>{field}</b> of {question}<br>{column}<br>{_words(row)}",
        click=place(model, judge, row["question_id"], item=row["field"]),
    )


def _state(row: dict[Any, Any]) -> tuple[State, str]:
    if row["evaluated"] and row["not_found"] == row["evaluated"]:
        return "not_found", "∅"
    return state_of(row["right"], row["evaluated"])


def _words(row: dict[Any, Any]) -> str:
    if not row["evaluated"]:
        return f"none of {counted(row['n'], 'answer')} decided"
    parts = [f"{row['right']} of {row['evaluated']} right (95 % interval {interval(row['low'], row['high'])})"]
    parts += [f"{row[name]} {words}" for name, words in _OTHERS.items() if row[name]]
    return "<br>".join(parts)


_OTHERS = {"wrong": "wrong", "not_found": "not found in the response", "undecided": "not decided"}
