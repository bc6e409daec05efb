"""Parquet files. What their rows become is counted before it is made: a dictionary holds once what rows repeat."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any, Final

from pydantic_core import to_jsonable_python

from karenina_core.benchmark.tables.table import (
    MAX_CELLS,
    MAX_CHARACTERS,
    MAX_ROWS,
    Cell,
    Row,
    Table,
    TableError,
    check_size,
    from_rows,
    too_much_text,
)

_MAX_PAGES: Final = 100_000
_MAX_BYTES: Final = MAX_CHARACTERS + 16 * MAX_CELLS  # numbers take up to 16
# Numbers of the format: fields of a page's header, and the encoding in which every text repeats a part of the last.
_UNPACKED, _PACKED, _PAGES, _VALUES, _ENCODING = 2, 3, (5, 8), 1, {5: 2, 8: 4}
_DIFFERENCES: Final = 7


def read_parquet(data: bytes) -> Table:
    """Read a Parquet file.

    Raises:
        TableError: It is damaged, or too large unpacked.
    """
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        limits = {"thrift_string_size_limit": 10**7, "thrift_container_size_limit": 10**6}
        file = parquet.ParquetFile(arrow.BufferReader(data), **limits)
        check_size(file.metadata.num_rows, file.metadata.num_columns)
        _check_pages(data, file)
        texts = [column.path for column in file.schema if column.physical_type == "BYTE_ARRAY"]
        file = parquet.ParquetFile(arrow.BufferReader(data), read_dictionary=texts, **limits)
        return from_rows(_rows(file), header_row=0)
    except TableError:
        raise
    except (arrow.ArrowException, OSError, ValueError, LookupError, NotImplementedError, ArithmeticError) as error:
        next_step = "Save it again with the program that made it."
        raise TableError("The Parquet file is damaged.", str(error)[:300], next_step, code="parquet") from error


def _rows(file: Any) -> Iterator[Row]:
    import pyarrow as arrow

    yield Row(0, tuple(map(str, file.schema_arrow.names)))
    number = size = 0
    for batch in file.iter_batches(batch_size=1_000, use_threads=False):
        size += sum(map(_extent, batch.columns))
        if size > _MAX_BYTES:
            raise too_much_text()
        columns = [c.dictionary_decode() if arrow.types.is_dictionary(c.type) else c for c in batch.columns]
        for cells in zip(*(column.to_pylist() for column in columns), strict=True):
            number += 1
            yield Row(number, tuple(map(_json_value, cells)))


def _extent(column: Any) -> int:
    """Return how many bytes the values of a column are when each is written out."""
    import pyarrow as arrow
    import pyarrow.compute as compute

    if arrow.types.is_dictionary(column.type):
        return compute.sum(compute.binary_length(column.dictionary).take(column.indices)).as_py() or 0
    if arrow.types.is_struct(column.type):
        return sum(map(_extent, column.flatten()))
    if arrow.types.is_map(column.type):
        start, *_, end = column.offsets.to_pylist()
        return _extent(column.keys[start:end]) + _extent(column.items[start:end])
    if arrow.types.is_nested(column.type):
        return _extent(column.flatten())
    return int(column.nbytes)


def _check_pages(data: bytes, file: Any) -> None:
    """Refuse a file by the headers of its pages, which decide what is unpacked, whatever its description says.

    Raises:
        TableError: They hold too much.
        ValueError: One is damaged, as with `IndexError`.
    """
    pages = unpacked = values = fixed = 0
    about = file.metadata
    lengths = [column.length for column in file.schema]
    for group in map(about.row_group, range(about.num_row_groups)):
        for chunk, length in zip(map(group.column, range(group.num_columns)), lengths, strict=True):
            at = min(filter(None, (chunk.dictionary_page_offset, chunk.data_page_offset)))
            end = at + chunk.total_compressed_size
            while at < end:
                header, at = _thrift_struct(data, at)
                at += max(0, header[_PACKED])
                pages += 1
                unpacked += max(0, header[_UNPACKED])
                for kind in _PAGES:
                    if (page := header.get(kind)) is not None:
                        values += max(0, page[_VALUES])
                        fixed += max(0, page[_VALUES]) * length
                        if page[_ENCODING[kind]] == _DIFFERENCES:
                            what = "The file stores texts as differences (DELTA_BYTE_ARRAY), which is not read."
                            raise TableError(what, next="Save it with dictionary encoding.", code="parquet")
                if max(unpacked, fixed) > _MAX_BYTES or values > MAX_CELLS + MAX_ROWS or pages > _MAX_PAGES:
                    raise too_much_text()


def _thrift_struct(data: bytes, at: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a structure in Thrift's compact protocol by their numbers, and where it ends."""
    fields: dict[int, Any] = {}
    number = 0
    while data[at]:
        step, kind = divmod(data[at], 16)
        number, at = (number + step, at + 1) if step else _thrift_value(data, at + 1, 5)
        fields[number], at = (kind, at) if kind in (1, 2) else _thrift_value(data, at, kind)
    return fields, at + 1


def _thrift_value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (4, 5, 6, 8):  # whole numbers, and the length of a text
        value = shift = 0
        while data[at] & 0x80:
            value |= (data[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
        value |= data[at] << shift
        return (None, at + 1 + value) if kind == 8 else (value >> 1 ^ -(value & 1), at + 1)
    if kind in (3, 7):  # a byte, a floating-point number
        return None, at + (1 if kind == 3 else 8)
    if kind == 12:
        return _thrift_struct(data, at)
    raise ValueError("A page has a header of unknown form.")


def _json_value(value: Any) -> Cell:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, datetime.datetime):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return to_jsonable_python(value, inf_nan_mode="strings", serialize_unknown=True)
