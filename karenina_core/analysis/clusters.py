"""Rows clustered by question: repeated answers to one question count for less than as many questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from karenina_core.analysis.groups import grouped

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


class Cells(NamedTuple):
    """The rows of every question in every group: their group, how many they are, and sums of values over them."""

    group: np.ndarray[Any, Any]
    size: np.ndarray[Any, Any]
    sums: Mapping[str, np.ndarray[Any, Any]]


def question_cells(evaluated: pd.DataFrame, codes: Any, values: Mapping[str, Any]) -> Cells:
    """Return the cells of evaluated rows.

    Args:
        evaluated: The rows, with their `question_id`.
        codes: By row the number of its group.
        values: By name a value of every row.
    """
    cells = grouped([codes, evaluated["question_id"]], len(evaluated))
    return Cells(codes[cells.first], cells.count(), {name: cells.total(own) for name, own in values.items()})


def effective_sizes(rate: Any, n: Any, questions: Any, cells: Cells, success: str) -> Any:
    """Return `intervals.effective_size` of every group, all at once."""
    import numpy as np

    # The clustered variance of a mean: squared sums of what a question's answers differ from it.
    away = cells.sums[success] - rate[cells.group] * cells.size
    error = np.bincount(cells.group, away**2, minlength=len(n)) / np.where(n > 0, n, 1) ** 2
    spread = rate * (1 - rate)
    worth = np.where(error > 0, np.minimum(n, spread / np.where(error > 0, error, 1)), n)
    return np.where((questions < 2) | (questions == n), n, np.where(spread == 0, questions, worth))
