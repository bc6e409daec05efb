"""Lists of objects: JSON, JSON Lines and Parquet."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from karenina_core.benchmark.tables.table import (
    MAX_CELLS,
    MAX_COLUMNS,
    MAX_ROWS,
    Cell,
    Progress,
    Row,
    Table,
    TableError,
    counting,
    from_records,
    from_rows,
)
from karenina_core.errors import CheckpointError
from karenina_core.files import read_json

MAX_UNPACKED: Final = 200 * 2**20  # bytes of a Parquet file, unpacked
_BATCH: Final = 1_000
_OF_BENCHMARKS = frozenset({"dataFeedElement", "hasPart", "checkpoint"})
_NEXT = 'Use a list of objects, such as [{"question": "…", "answer": "…"}], or an object that holds one such list.'


def find_list(document: Any) -> tuple[str, list[Any]] | None:
    """Return the one list of objects (or of lists) that a JSON document is or holds, with its name; else None."""
    if isinstance(document, list):
        return "", document
    if not isinstance(document, dict) or any(key.startswith("@") or key in _OF_BENCHMARKS for key in document):
        return None
    lists = [(key, value) for key, value in document.items() if isinstance(value, list) and value and _is_rows(value)]
    return lists[0] if len(lists) == 1 else None


def read_list(document: Any, notes: Sequence[str] = ()) -> Table:
    """Read a table from a JSON document.

    Raises:
        TableError: It holds no list of objects, several, or something else among them.
    """
    found = find_list(document)
    if found is None:
        raise TableError("The file holds no list of questions.", "It holds none, or more than one.", _NEXT, code="json")
    name, items = found
    said = [*notes, f"Read from the list {name!r}."] if name else list(notes)
    if isinstance(document, dict) and len(document) > 1:
        others = [key for key in document if key != name]
        said.append(f"Besides it the file holds {', '.join(others[:5])}{' …' if len(others) > 5 else ''}; not read.")
    if items and all(isinstance(item, list) for item in items):
        return from_rows((Row(number, tuple(item)) for number, item in enumerate(items, start=1)), said)
    return from_records(_objects(enumerate(items, start=1)), said)


def read_lines(text: str, progress: Progress | None = None) -> Table:
    """Read a table from JSON Lines: one object on each line.

    Raises:
        TableError: A line is no JSON, or no object; says which.
    """
    lines = ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())

    def parsed() -> Iterator[tuple[int, Any]]:
        for count, (number, line) in enumerate(lines, start=1):
            try:
                yield number, read_json(line)
            except CheckpointError as error:
                raise TableError(error.what, error.why, error.next, code=error.code, row=number) from error
            if progress is not None and count % _BATCH == 0:
                progress(count)

    return from_records(_objects(parsed()))


def read_parquet(data: bytes, progress: Progress | None = None) -> Table:
    """Read a Parquet file.

    Raises:
        TableError: It is damaged, or too large unpacked.
    """
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        file = parquet.ParquetFile(
            arrow.BufferReader(data), thrift_string_size_limit=10**7, thrift_container_size_limit=10**6
        )
        _check_parquet(file)
        names = [str(name) for name in file.schema_arrow.names]
        rows = list(counting(_parquet_rows(file), progress))
    except (arrow.ArrowException, OSError, ValueError, KeyError, NotImplementedError, OverflowError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError("The Parquet file is damaged.", str(error)[:300], code="parquet") from error
    return from_rows([Row(0, tuple(names)), *rows], header_row=0)


def _check_parquet(file: Any) -> None:
    about = file.metadata
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    size = sum(group.column(at).total_uncompressed_size for group in groups for at in range(group.num_columns))
    if about.num_columns > MAX_COLUMNS:
        raise TableError(f"The table has more than {MAX_COLUMNS} columns.", code="columns")
    if about.num_rows > MAX_ROWS or about.num_rows * about.num_columns > MAX_CELLS:
        raise TableError(
            f"The table has {about.num_rows:,} rows.", f"At most {MAX_ROWS:,} are read.", "Split it.", code="rows"
        )
    if size > MAX_UNPACKED:
        raise TableError("The file unpacks to far more than it should.", code="zip_bomb")


def _parquet_rows(file: Any) -> Iterator[Row]:
    number = size = 0
    for batch in file.iter_batches(batch_size=_BATCH, use_threads=False):
        size += batch.nbytes
        if size > MAX_UNPACKED or number > MAX_ROWS:  # whatever its description says
            raise TableError("The file unpacks to far more than it should.", code="zip_bomb")
        for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            number += 1
            yield Row(number, tuple(_json_value(cell) for cell in cells))


def _json_value(value: Any) -> Cell:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal | datetime.timedelta):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Mapping):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_json_value(item) for item in value]
    return str(value)


def _is_rows(items: list[Any]) -> bool:
    return all(isinstance(item, dict) for item in items)


def _objects(items: Iterator[tuple[int, Any]] | enumerate[Any]) -> Iterator[tuple[int, Mapping[str, Cell]]]:
    for number, item in items:
        if not isinstance(item, dict):
            raise TableError(f"It is no object but {type(item).__name__}.", next=_NEXT, code="json", row=number)
        yield number, item
