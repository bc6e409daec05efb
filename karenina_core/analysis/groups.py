"""Rows of a table by group, as numbers: what pandas' own grouping takes several passes for is one count here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

_ROOM = 4  # places for each row, up to which groups are counted off rather than looked up
_MOST = 2**31  # numbers below this can be multiplied by the size of another column without overflow


@dataclass(frozen=True)
class Groups:
    """Rows by group; groups are numbered in the order in which they appear.

    Attributes:
        codes: By row the number of its group.
        first: By group the place of its first row.
    """

    codes: np.ndarray[Any, Any]
    first: np.ndarray[Any, Any]

    def __len__(self) -> int:
        """Return how many groups there are."""
        return len(self.first)

    def count(self, rows: Any = None) -> np.ndarray[Any, Any]:
        """Return how many rows every group has: all, or those for which `rows` is true."""
        import numpy as np

        return np.bincount(self.codes if rows is None else self.codes[rows], minlength=len(self.first))

    def total(self, values: Any) -> np.ndarray[Any, Any]:
        """Return the sum of a value of every row by group; what is not a number makes the sum none."""
        import numpy as np

        return np.bincount(self.codes, np.asarray(values, dtype=float), minlength=len(self.first))


def grouped(columns: Sequence[Any], rows: int) -> Groups:
    """Group rows by columns; a missing value is a value of its own. Without columns all rows are one group.

    Args:
        columns: Series or arrays of one length; categories and whole numbers are fastest.
        rows: That length.
    """
    import numpy as np

    number, size = np.zeros(rows, dtype=np.int64), 1
    for column in columns:
        codes, own = _codes(column)
        if size * own >= _MOST:
            number, size = _in_order(number, size)
        number, size = number * own + codes, size * own
    codes, found = _in_order(number, size)
    first = np.empty(found, dtype=np.int64)
    first[codes[::-1]] = np.arange(rows - 1, -1, -1)  # of several rows of a group the last one written stays
    return Groups(codes, first)


def keys(frame: pd.DataFrame, names: Sequence[str]) -> Groups:
    """Group the rows of a table by its columns of these names."""
    return grouped([frame[name] for name in names], len(frame))


def labels(groups: Groups, frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return the values of these columns, one row per group."""
    return frame[list(names)].iloc[groups.first].reset_index(drop=True)


def _codes(column: Any) -> tuple[Any, int]:
    """Return the values of a column as numbers from 0, and how many numbers there may be."""
    import numpy as np
    import pandas as pd

    values = getattr(column, "array", column)
    if isinstance(values, pd.Categorical):
        return values.codes.astype(np.int64) + 1, len(values.categories) + 1
    codes, found = pd.factorize(values, use_na_sentinel=False)
    return codes, max(1, len(found))


def _in_order(number: Any, size: int) -> tuple[Any, int]:
    """Return numbers below `size` as numbers without gaps, in the order in which they appear."""
    import numpy as np
    import pandas as pd

    if size > _ROOM * len(number):
        codes, found = pd.factorize(number)
        return codes, len(found)
    first = np.full(size, -1)
    first[number[::-1]] = np.arange(len(number) - 1, -1, -1)
    present = np.flatnonzero(first >= 0)
    places = np.empty(size, dtype=np.int64)
    places[present[np.argsort(first[present])]] = np.arange(len(present))
    return places[number], len(present)
