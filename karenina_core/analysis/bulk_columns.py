"""Columns of SQLite read as a few long texts: row by row, Python would spend most of the time on making the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from karenina_core.runs.store import Store

Kind = Literal["text", "number", "integer", "any"]
"""How a column is returned: `text` as numbers of texts; `number` with NaN for what is missing; `integer`, where nothing
is missing; `any` as it is."""
_BETWEEN = "\x1f"
_PRESENT = "="  # stands before every text of a column where some may be missing
_MISSING = "NULL"  # what SQLite writes for a missing number


def bulk_columns(
    store: Store, table: Any, kinds: Mapping[str, Kind], run_id: str, codes: Mapping[str, Mapping[Any, int]]
) -> dict[str, list[Any]] | None:
    """Return columns of a table of the store for one run, each as arrays that follow each other.

    Args:
        store: The store.
        table: The table.
        kinds: By column how it is returned, see `stored_columns.read_columns`.
        run_id: The run.
        codes: By column of texts what numbers a text, and numbers a new one; the column of the key after the run is
            among them.

    Returns:
        The arrays; None where rows had better be read one by one: from another database, from a table that is not
        kept in the order of its runs, or where a text has the separator in it.
    """
    import numpy as np

    key = list(table.primary_key.columns)
    if store.engine.dialect.name != "sqlite" or key[0].name != "run_id":
        return None
    part = key[1]
    joined = {name: kind for name, kind in kinds.items() if name != part.name}
    arrays: dict[str, list[Any]] = {name: [] for name in kinds}
    for whole, rows, *texts in _joined(store, table, joined, run_id, part):
        arrays[part.name].append(np.full(rows, codes[part.name][whole], dtype="int32"))
        for (name, kind), text in zip(joined.items(), texts, strict=True):
            values = _split(text, kind, _reader(table.c[name], kind, codes.get(name, {})))
            if len(values) != rows:
                return None
            arrays[name].append(values)
    return arrays


def _joined(store: Store, table: Any, kinds: Mapping[str, Kind], run_id: str, part: Any) -> Iterator[Any]:
    """Yield every value of a column, how many rows have it, and the joined values of their other columns."""
    from sqlalchemy import func, select

    joined = (func.group_concat(_written(table.c[name], kind), _BETWEEN) for name, kind in kinds.items())
    query = select(part, func.count(), *joined).where(table.c.run_id == run_id).group_by(table.c.run_id, part)
    with store.reading() as connection:
        yield from connection.execute(query)


def _written(column: Any, kind: Kind) -> Any:
    from sqlalchemy import Float, func, literal

    if isinstance(column.type, Float):
        return func.quote(column)  # the only way in which SQLite writes all digits
    if kind in ("number", "integer"):
        return func.ifnull(column, _MISSING) if column.nullable else column
    return func.ifnull(literal(_PRESENT).concat(column), "") if column.nullable else column


def _reader(column: Any, kind: Kind, codes: Mapping[Any, int]) -> Callable[[str], Any]:
    if kind == "number":
        return lambda word: float("nan") if word == _MISSING else float(word)
    if kind == "integer":
        return int
    if column.nullable:
        return lambda word: codes[word.removeprefix(_PRESENT) if word else None]
    return lambda word: codes[word]


def _split(text: str, kind: Kind, read: Callable[[str], Any]) -> Any:
    """Return the values of a joined text; each that differs is read once."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    pieces = pc.split_pattern(pa.scalar(text, pa.large_string()), _BETWEEN).values
    different = pieces.dictionary_encode()
    values = np.array(list(map(read, different.dictionary.to_pylist())), dtype=None if kind == "integer" else float)
    found = values if kind != "text" else values.astype("int32")
    return found[different.indices.to_numpy()]
