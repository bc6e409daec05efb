"""What can still be read of a damaged SQLite file. The file itself is never changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karenina_core.errors import StoreError
from karenina_core.runs.store.evidence import decode
from karenina_core.schemas import VerificationResult

# What reading a damaged page, or text that is none, may raise.
_UNREADABLE = (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError)
_SEARCHED = 200_000  # ids looked for one by one between those that are known


@dataclass(frozen=True)
class RescuedRun:
    """The readable results of one run.

    Attributes:
        run_id: Empty when the results' run is unknown.
        name: Empty when it cannot be read.
    """

    run_id: str
    name: str
    results: tuple[VerificationResult, ...]


@dataclass(frozen=True)
class Rescued:
    """What could be read of a database.

    Attributes:
        runs: The runs with at least one readable result.
        unreadable: Results that are there and cannot be read, as far as they are known.
    """

    runs: tuple[RescuedRun, ...]
    unreadable: int


def rescue(path: str | Path) -> Rescued:
    """Read every result that a damaged SQLite file still gives away.

    Nothing is checked or repaired: each result is looked for by itself, and one that cannot be read costs no other.
    """
    place = f"{Path(path).absolute().as_uri()}?mode=ro"
    texts: dict[int, str | None] = {}
    with suppress(*_UNREADABLE), closing(sqlite3.connect(place, uri=True)) as connection:
        connection.text_factory = bytes
        # Nothing can be written here; SQLite reads a file that was cut off only under this setting.
        connection.execute("PRAGMA writable_schema = ON")
        texts = _texts(connection)
        runs = {number: _text(run) for number, run in _pairs(connection, "result", "run_id", texts)}
        names = _names(connection)
        return _grouped(texts, runs, names)
    return _grouped(texts, {}, {})


def _grouped(texts: dict[int, str | None], runs: dict[int, str], names: dict[str, str]) -> Rescued:
    found: dict[str, list[VerificationResult]] = {}
    unreadable = 0
    for number, text in sorted(texts.items()):
        try:
            result = decode(text or "")
        except StoreError:
            unreadable += 1
        else:
            found.setdefault(runs.get(number, ""), []).append(result)
    saved = (RescuedRun(run_id, names.get(run_id, ""), tuple(results)) for run_id, results in found.items())
    return Rescued(tuple(saved), unreadable)


def _texts(connection: sqlite3.Connection) -> dict[int, str | None]:
    """Return the payloads by id; None for one that is there and cannot be read."""
    numbers: set[int] = set()
    for order in ("ASC", "DESC"):
        numbers |= _until_unreadable(connection, f"SELECT id FROM payload ORDER BY id {order}")
        numbers |= _until_unreadable(connection, f"SELECT id FROM result ORDER BY id {order}")
    if not numbers:
        return {}
    between = range(min(numbers), min(max(numbers), min(numbers) + _SEARCHED) + 1)
    numbers.update(between)
    return {number: text for number, text in _payloads(connection, sorted(numbers)) if text != ""}


def _payloads(connection: sqlite3.Connection, numbers: list[int]) -> Iterator[tuple[int, str | None]]:
    """Yield the payload of every id; None when it cannot be read, nothing when there is none."""
    for number, value in _pairs(connection, "payload", "json", dict.fromkeys(numbers)):
        yield number, _text(value) if value is not None else None


def _pairs(
    connection: sqlite3.Connection, table: str, column: str, numbers: dict[int, Any]
) -> Iterator[tuple[int, bytes | None]]:
    """Yield a column of every id that has one; None when it cannot be read."""
    for number in numbers:
        try:
            row = connection.execute(f"SELECT {column} FROM {table} WHERE id = ?", (number,)).fetchone()
        except _UNREADABLE:
            yield number, None
        else:
            if row is not None:
                yield number, row[0]


def _names(connection: sqlite3.Connection) -> dict[str, str]:
    names: dict[str, str] = {}
    with suppress(*_UNREADABLE):
        for run_id, name in connection.execute("SELECT id, name FROM run"):
            names[_text(run_id)] = _text(name)
    return names


def _until_unreadable(connection: sqlite3.Connection, query: str) -> set[int]:
    found: set[int] = set()
    with suppress(*_UNREADABLE):
        for (number,) in connection.execute(query):
            if isinstance(number, int):
                found.add(number)
    return found


def _text(value: bytes | None) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""
