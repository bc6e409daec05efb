"""Columns read as a few long texts: row by row, Python would spend most of the time on making the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from karenina_core.runs import Store

Kind = Literal["text", "number", "integer", "any"]
"""How a column is returned: `text` as numbers of texts; `number` with NaN for what is missing; `integer`, where nothing
is missing; `any` as it is."""
_BETWEEN = "\x1f"
_PRESENT = "="  # stands before every text of a column where some may be missing
_MISSING = "NULL"  # what SQLite writes for a missing number when it quotes


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
        The arrays; None where rows had better be read one by one: from a table of SQLite that is not kept in the
        order of its runs, or where a text has the separator in it.
    """
    import numpy as np
    import pyarrow as pa

    part = _part(table, store.engine.dialect.name)
    if part is None:
        return None
    joined = {name: kind for name, kind in kinds.items() if name != part.name}
    arrays: dict[str, list[Any]] = {name: [] for name in kinds}
    for whole, rows, *texts in _joined(store, table, joined, run_id, part):
        arrays[part.name].append(np.full(rows, codes[part.name][whole], dtype="int32"))
        for (name, kind), text in zip(joined.items(), texts, strict=True):
            try:
                values = _split(text, kind, table.c[name].nullable, codes.get(name, {}))
            except pa.ArrowInvalid:  # a number that is too large for one
                return None
            if len(values) != rows:
                return None
            arrays[name].append(values)
    return arrays


def _part(table: Any, dialect: str) -> Any:
    """Return the column whose values the rows of a run are read by, a few at most; None where that would take longer.

    SQLite would look up a row of its own for every value when the table is not kept in the order of its runs.
    """
    first, *others = table.primary_key.columns
    if first.name == "run_id":
        return others[0]
    return None if dialect == "sqlite" else table.c["answering_model"]


def _joined(store: Store, table: Any, kinds: Mapping[str, Kind], run_id: str, part: Any) -> Iterator[Any]:
    """Yield every value of a column, how many rows have it, and the joined values of their other columns."""
    from sqlalchemy import func, select

    joined = (func.aggregate_strings(_written(table.c[name], kind, store), _BETWEEN) for name, kind in kinds.items())
    query = select(part, func.count(), *joined).where(table.c.run_id == run_id).group_by(table.c.run_id, part)
    with store.reading() as connection:
        yield from connection.execute(query)


def _written(column: Any, kind: Kind, store: Store) -> Any:
    from sqlalchemy import Boolean, Float, Integer, Text, cast, func, literal

    if kind in ("number", "integer"):
        if isinstance(column.type, Float) and store.engine.dialect.name == "sqlite":
            return func.quote(column)  # the only way in which SQLite writes all digits
        number = cast(column, Integer) if isinstance(column.type, Boolean) else column
        text = cast(number, Text)
        return func.coalesce(text, _MISSING) if column.nullable else text
    return func.coalesce(literal(_PRESENT).concat(column), "") if column.nullable else column


def _split(text: str, kind: Kind, nullable: bool, codes: Mapping[Any, int]) -> Any:
    """Return the values of a joined text; every text that differs is looked up once.

    Raises:
        ArrowInvalid: Something is no number.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    pieces = pc.split_pattern(pa.scalar(text, pa.large_string()), _BETWEEN).values
    if kind == "integer":
        return pieces.cast(pa.int64()).to_numpy()
    if kind == "number":
        known = pc.if_else(pc.equal(pieces, _MISSING), None, pieces)
        return known.cast(pa.float64()).to_numpy(zero_copy_only=False)
    if kind == "any":
        words = pieces.to_numpy(zero_copy_only=False)
        return np.frompyfunc(_present, 1, 1)(words) if nullable else words
    different = pieces.dictionary_encode()
    read = _present if nullable else str
    numbers = np.array([codes[read(word)] for word in different.dictionary.to_pylist()], dtype="int32")
    return numbers[different.indices.to_numpy()]


def _present(word: str) -> str | None:
    return word.removeprefix(_PRESENT) if word else None
