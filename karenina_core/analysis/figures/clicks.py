"""From a click on a mark back to the rows behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.statistics import NO_KEYWORD

if TYPE_CHECKING:
    import pandas as pd

PLACES = ("answering_model", "parsing_model", "question_id", "replicate", "item", "label", "keyword")
"""What the places of every mark's `customdata` mean; None stands for any.

`item` is a field or a trait, `label` a trait's value in words, `keyword` one of the question's keywords.
"""


def place(
    answering_model: str | None = None,
    parsing_model: str | None = None,
    question_id: str | None = None,
    replicate: int | None = None,
    item: str | None = None,
    label: str | None = None,
    keyword: str | None = None,
) -> list[Any]:
    """Return the `customdata` of a mark."""
    # Plain numbers only: numpy's would not survive the way to the browser and back.
    repetition = None if replicate is None else int(replicate)
    return [answering_model, parsing_model, question_id, repetition, item, label, keyword]


def rows_behind(frame: pd.DataFrame, customdata: Sequence[Any]) -> pd.DataFrame:
    """Return the rows of a table that a mark stands for.

    Args:
        frame: The table the figure was drawn from, or another with the same identity columns.
        customdata: The `customdata` of the clicked mark.
    """
    for name, wanted in zip(PLACES, customdata, strict=False):
        column = _column(frame, name)
        if wanted is not None and column is not None:
            frame = frame[_having(frame, wanted) if name == "keyword" else frame[column] == wanted]
    return frame


def same_place(customdata: Sequence[Any]) -> list[Any]:
    """Return the `customdata` for the same question, item, label or keyword of any model, judge and repeat.

    Args:
        customdata: The `customdata` of the clicked mark.
    """
    anyone = ("answering_model", "parsing_model", "replicate")
    return [None if name in anyone else wanted for name, wanted in zip(PLACES, customdata, strict=False)]


def _having(frame: pd.DataFrame, keyword: str) -> pd.Series[bool]:
    return frame["keywords"].map(lambda own: keyword in own if own else keyword == NO_KEYWORD).astype(bool)


def _column(frame: pd.DataFrame, name: str) -> str | None:
    candidates = {"item": ("field", "trait"), "keyword": ("keywords",)}.get(name, (name,))
    return next((candidate for candidate in candidates if candidate in frame.columns), None)
