"""Columns of the store as arrays, and the rows of a run they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.bulk_columns import Kind, bulk_columns

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from karenina_core.runs import Store

KEY = ("question_id", "answering_model", "parsing_model", "replicate")
"""What tells the results of a run apart."""
Columns = dict[str, Any]
_AT_ONCE = 20_000


class _Codes(dict[Any, int]):
    """Numbers texts in the order in which they appear; a missing text is -1."""

    def __missing__(self, text: str | None) -> int:
        self[text] = number = -1 if text is None else len(self) - (None in self)
        return number


def read_columns(store: Store, table: Any, kinds: dict[str, Kind], run_id: str) -> Columns:
    """Return columns of a table of the store for one run, in no order of their own.

    Args:
        store: The store.
        table: The table.
        kinds: By column how it is returned: `text` as categories, in the order in which they appear; `number` with
            NaN for what is missing; `integer`, where nothing is missing; `any` as it is.
        run_id: The run.
    """
    import numpy as np
    import pandas as pd

    codes = {name: _Codes() for name, kind in kinds.items() if kind == "text"}
    dtypes: dict[str, Any] = {"text": "int32", "number": "float64", "integer": "int64", "any": object}
    parts = bulk_columns(store, table, kinds, run_id, codes)
    if parts is None:
        codes = {name: _Codes() for name in codes}
        parts = {name: [] for name in kinds}
        for rows in _pages(store, table, list(kinds), run_id):
            for (name, kind), values in zip(kinds.items(), zip(*rows, strict=True), strict=True):
                shown = list(map(codes[name].__getitem__, values)) if kind == "text" else values
                parts[name].append(objects(shown) if kind == "any" else np.asarray(shown, dtype=dtypes[kind]))
    columns: Columns = {
        name: np.concatenate([np.empty(0, dtype=dtypes[kind]), *parts[name]]) for name, kind in kinds.items()
    }
    for name, known in codes.items():
        names = pd.Index([text for text in known if text is not None], dtype="str")
        columns[name] = pd.Categorical.from_codes(columns[name], categories=names)
    return columns


def _pages(store: Store, table: Any, names: Sequence[str], run_id: str) -> Iterator[Sequence[Any]]:
    from sqlalchemy import select

    with store.reading() as connection:
        found = connection.execute(select(*(table.c[name] for name in names)).where(table.c.run_id == run_id))
        # The driver's own rows: a row object for each of half a million takes longer than the reading itself.
        cursor: Any = found.cursor
        while rows := cursor.fetchmany(_AT_ONCE):
            yield rows


def renamed(values: pd.Categorical[Any], names: Sequence[Any]) -> pd.Categorical:
    """Return categories under other names, one for each; several of the same name become one."""
    import numpy as np
    import pandas as pd

    codes, found = pd.factorize(objects(names))
    # A missing value has the code -1, which looks up the last entry.
    return pd.Categorical.from_codes(np.append(codes, -1)[values.codes], categories=pd.Index(found, dtype="str"))


def in_order_of_appearance(values: pd.Categorical) -> pd.Categorical:
    """Return the same values with their categories in the order in which they appear."""
    import pandas as pd

    codes, found = pd.factorize(values.codes, use_na_sentinel=False)
    missing = found < 0
    names = values.categories[found[~missing]]
    places = (~missing).cumsum() - 1
    places[missing] = -1
    return pd.Categorical.from_codes(places[codes], categories=names)


def objects(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return values as an array of one dimension, also where they are lists."""
    import numpy as np

    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def places(results: pd.DataFrame, columns: Columns) -> np.ndarray[Any, Any]:
    """Return for every row of `columns` the place of its result in the table; -1 where it has none.

    Args:
        results: A table with the columns of `KEY`, all but the last as categories.
        columns: Columns of the same names and kinds.
    """
    import numpy as np
    import pandas as pd

    wanted, known = columns["replicate"] * 0, results["replicate"].to_numpy() * 0
    lost = np.zeros(len(wanted), dtype=bool)
    for name in KEY[:-1]:
        names = results[name].cat.categories
        codes = np.append(names.get_indexer(columns[name].categories), -1)[columns[name].codes]
        lost |= codes < 0
        wanted, known = wanted * len(names) + codes, known * len(names) + results[name].cat.codes.to_numpy()
    repeats = 1 + max(
        (int(some.max()) for some in (columns["replicate"], results["replicate"]) if len(some)), default=0
    )
    wanted, known = wanted * repeats + columns["replicate"], known * repeats + results["replicate"].to_numpy()
    found = pd.Index(known).get_indexer(wanted)
    return np.where(lost, -1, found)
