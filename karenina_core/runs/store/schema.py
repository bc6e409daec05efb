"""The tables of the database, and the way from every earlier layout to this one.

Whatever a chart or filter needs is a column; the evidence of a result is one JSON text apart.

A migration is a function that changes a database of one version into the next. `MIGRATIONS` holds one for every version
before the present; released ones never change. All of them and the new number are one transaction, on SQLite after a
copy of the file was made.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
    text,
    update,
)

from karenina_core.errors import StoreError

log = logging.getLogger(__name__)

SCHEMA_VERSION = 4

metadata = MetaData()

_Id = BigInteger().with_variant(Integer, "sqlite")


def _required(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False) for name in names]


def _optional(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind) for name in names]


def _key(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind, primary_key=True, autoincrement=False) for name in names]


def _run_column(*, primary_key: bool = False) -> Column[str]:
    return Column("run_id", ForeignKey("run.id", ondelete="CASCADE"), primary_key=primary_key, nullable=False)


meta = Table("meta", metadata, *_required(Integer, "schema_version"))

benchmark = Table(
    "benchmark",
    metadata,
    *_key(String(32), "id"),
    *_required(Text, "name", "version", "description", "checkpoint"),
    *_required(Integer, "question_count", "finished_count", "revision"),
    *_required(Text, "created", "modified"),
    *_required(Boolean, "deleted"),
)

# What a run saw of its benchmark, compressed (`store/benchmarks.py`); runs over the same benchmark share one.
snapshot = Table(
    "snapshot",
    metadata,
    *_key(String(64), "hash"),
    *_required(JSON, "question_ids"),
    *_required(Text, "checkpoint"),
)

run = Table(
    "run",
    metadata,
    *_key(String(32), "id"),
    *_required(Text, "name"),
    *_optional(String(32), "benchmark_id"),
    *_required(Text, "benchmark_name"),
    Column("snapshot", ForeignKey("snapshot.hash"), nullable=False),
    *_required(JSON, "config"),
    *_required(String(64), "config_hash"),
    *_required(JSON, "question_ids", "skipped"),
    *_required(String(16), "status"),
    *_required(Integer, "total", "done", "passed", "failed", "not_evaluated", "errors", "calls", "cached_calls"),
    *_optional(Float, "cost"),
    *_required(Float, "seconds"),
    *_required(Text, "created"),
    *_optional(Text, "started", "finished"),
    Column("parent_run", ForeignKey("run.id", ondelete="SET NULL")),
    *_required(Text, "note"),
    *_required(Boolean, "deleted"),
    # The process that carries the run out, and its last heartbeat, by the clock of the database.
    *_optional(Text, "owner"),
    *_optional(Float, "beat"),
    Index("run_by_benchmark", "benchmark_id"),
)

call = Table(
    "call",
    metadata,
    *_key(String(64), "key"),
    *_required(String(32), "purpose"),
    *_required(Text, "model", "question_id", "request", "reply"),
    *_optional(Integer, "input_tokens", "output_tokens"),
    *_optional(Float, "cost"),
    *_required(Text, "created"),
)

result = Table(
    "result",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    _run_column(),
    *_required(String(16), "result_id"),
    *_required(BigInteger, "position"),
    *_required(Text, "question_id", "answering_model", "parsing_model"),
    *_required(Integer, "replicate"),
    *_required(String(16), "status", "verdict"),
    *_optional(String(32), "failure_category"),
    *_optional(String(48), "failure_stage"),
    *_optional(Float, "granular"),
    *_required(Float, "seconds"),
    *_optional(Float, "cost", "answer_cost"),
    *_optional(Integer, "input_tokens", "output_tokens"),
    *_required(Text, "timestamp", "question"),
    *_required(JSON, "keywords"),
    *_optional(Float, "answer_seconds"),
    *_optional(Boolean, "flagged", "unguarded"),
    UniqueConstraint("run_id", "question_id", "answering_model", "parsing_model", "replicate"),
    UniqueConstraint("run_id", "result_id"),
    Index("result_in_order", "run_id", "position"),
    Index("result_outcome", "run_id", "answering_model", "parsing_model", "verdict", "status", "failure_category"),
)

payload = Table(
    "payload",
    metadata,
    Column("id", ForeignKey("result.id", ondelete="CASCADE"), primary_key=True),
    *_required(Text, "json"),
)

field = Table(
    "field",
    metadata,
    _run_column(primary_key=True),
    *_key(Text, "name", "answering_model", "question_id", "parsing_model"),
    *_key(Integer, "replicate"),
    *_optional(Boolean, "result"),
    *_optional(String(16), "state"),
    sqlite_with_rowid=False,
)

# Clustered by trait and model: a million results by model and trait take one second instead of six.
score = Table(
    "score",
    metadata,
    _run_column(primary_key=True),
    *_key(Text, "trait", "answering_model", "question_id", "parsing_model"),
    *_key(Integer, "replicate"),
    *_key(String(32), "metric"),
    *_required(String(16), "kind"),
    *_optional(Float, "value"),
    *_optional(Text, "label"),
    # How many items of a metric trait are in each bucket.
    *_optional(Integer, "tp", "fp", "tn", "fn"),
    sqlite_with_rowid=False,
)

setting = Table("setting", metadata, *_key(String(128), "key"), *_required(JSON, "value"))

# What people say about results: rows are added and marked as undone, never changed otherwise.
annotation = Table(
    "annotation",
    metadata,
    *_key(String(32), "id"),
    _run_column(),
    *_required(String(16), "result_id"),
    *_optional(Text, "field"),
    *_required(Boolean, "agrees"),
    *_optional(String(32), "cause"),
    *_required(Text, "note", "author", "at"),
    *_required(Boolean, "undone"),
    Index("annotation_of_result", "run_id", "result_id"),
)

# Written by earlier versions only; it stays so that every database has the same tables.
duel = Table(
    "duel",
    metadata,
    *_key(String(32), "id"),
    _run_column(),
    *_required(String(16), "left_result", "right_result"),
    *_required(String(8), "winner"),
    *_required(Text, "author", "at"),
    *_required(Boolean, "undone"),
    Index("duel_of_run", "run_id"),
)

# What every save of a benchmark replaced, question by question.
question_version = Table(
    "question_version",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("benchmark_id", ForeignKey("benchmark.id", ondelete="CASCADE"), nullable=False),
    *_required(Text, "question_id", "saved", "author"),
    *_required(JSON, "changed", "content"),
    Index("version_of_question", "benchmark_id", "question_id"),
)


def _calls_by_arrival(connection: Connection) -> None:
    """Keep the rows of `call` in the order they came: by key, every new one changed a page of its own in SQLite."""
    if connection.dialect.name == "sqlite":
        columns = (
            "key VARCHAR(64) NOT NULL, purpose VARCHAR(32) NOT NULL, model TEXT NOT NULL, question_id TEXT NOT NULL, "
            "request TEXT NOT NULL, reply TEXT NOT NULL, input_tokens INTEGER, output_tokens INTEGER, cost FLOAT, "
            "created TEXT NOT NULL, PRIMARY KEY (key)"
        )
        connection.execute(text("ALTER TABLE call RENAME TO call_by_key"))
        connection.execute(text(f"CREATE TABLE call ({columns})"))
        connection.execute(text("INSERT INTO call SELECT * FROM call_by_key ORDER BY created"))
        connection.execute(text("DROP TABLE call_by_key"))


_VERSION_3 = (
    "CREATE TABLE annotation (id VARCHAR(32) NOT NULL, run_id VARCHAR(32) NOT NULL, result_id VARCHAR(16) NOT NULL, "
    "field TEXT, agrees BOOLEAN NOT NULL, cause VARCHAR(32), note TEXT NOT NULL, author TEXT NOT NULL, "
    "at TEXT NOT NULL, undone BOOLEAN NOT NULL, PRIMARY KEY (id), "
    "FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE)",
    "CREATE INDEX annotation_of_result ON annotation (run_id, result_id)",
    "CREATE TABLE duel (id VARCHAR(32) NOT NULL, run_id VARCHAR(32) NOT NULL, left_result VARCHAR(16) NOT NULL, "
    "right_result VARCHAR(16) NOT NULL, winner VARCHAR(8) NOT NULL, author TEXT NOT NULL, at TEXT NOT NULL, "
    "undone BOOLEAN NOT NULL, PRIMARY KEY (id), FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE)",
    "CREATE INDEX duel_of_run ON duel (run_id)",
    "CREATE TABLE question_version (id {serial} NOT NULL, benchmark_id VARCHAR(32) NOT NULL, "
    "question_id TEXT NOT NULL, saved TEXT NOT NULL, author TEXT NOT NULL, changed JSON NOT NULL, "
    "content JSON NOT NULL, PRIMARY KEY (id), "
    "FOREIGN KEY(benchmark_id) REFERENCES benchmark (id) ON DELETE CASCADE)",
    "CREATE INDEX version_of_question ON question_version (benchmark_id, question_id)",
    "ALTER TABLE result ADD COLUMN answer_seconds FLOAT",
    "ALTER TABLE result ADD COLUMN flagged BOOLEAN",
    # A text that quotes this has a backslash before the quotation mark.
    "UPDATE result SET flagged = id IN (SELECT id FROM payload WHERE json LIKE '%\"addresses_judge\"\\:true%')",
    "ALTER TABLE result ADD COLUMN unguarded BOOLEAN",
    "UPDATE result SET unguarded = id IN (SELECT id FROM payload WHERE json LIKE "
    '\'%"abstention"\\:{{"performed"\\:false%\' OR json LIKE \'%"sufficiency"\\:{{"performed"\\:false%\')',
    "ALTER TABLE field ADD COLUMN state VARCHAR(16)",
    *(f"ALTER TABLE score ADD COLUMN {name} INTEGER" for name in ("tp", "fp", "tn", "fn")),
)


def _opinions_and_histories(connection: Connection) -> None:
    """Add what people say about results, and what is kept of earlier versions."""
    serial = "BIGSERIAL" if connection.dialect.name == "postgresql" else "INTEGER"
    for statement in _VERSION_3:
        connection.execute(text(statement.format(serial=serial)))


def _packed_snapshots(_: Connection) -> None:
    """Leave what is there: the benchmarks of new runs are stored packed, which earlier programs could not read."""


MIGRATIONS: dict[int, Callable[[Connection], None]] = {
    1: _calls_by_arrival,
    2: _opinions_and_histories,
    3: _packed_snapshots,
}
"""By schema version: how to bring a database of that version to the next."""

_LOCK = 7020615


def prepare(engine: Engine) -> None:
    """Create the tables in a new database, or bring an older one up to date.

    Raises:
        StoreError: It was written by a newer version; it was left as it is.
        SQLAlchemyError: The database refused; it was left as it is.
    """
    with engine.execution_options(writes=True).begin() as connection:
        if engine.dialect.name == "postgresql":
            # Two processes that start together must not both create or change the tables.
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        if not inspect(connection).has_table(meta.name):
            metadata.create_all(connection)
            connection.execute(insert(meta).values(schema_version=SCHEMA_VERSION))
            return
        version = connection.execute(select(meta.c.schema_version)).scalar_one()
        check_version(version)
        if version < SCHEMA_VERSION:
            _bring_up_to_date(connection, version)


def check_version(version: int) -> None:
    """Refuse a database of a later version.

    Raises:
        StoreError: It is one.
    """
    if version > SCHEMA_VERSION:
        raise StoreError(
            "The database was written by a newer version of the workbench.",
            why=f"Its layout is version {version}; this program knows version {SCHEMA_VERSION}.",
            next="It was left as it is. Update the workbench, or choose another database.",
        )


def _bring_up_to_date(connection: Connection, version: int) -> None:
    if connection.dialect.name == "sqlite":
        copy = _copy(Path(connection.engine.url.database or ""), version)
        log.info("The database is brought to layout version %s; a copy of it is %s", SCHEMA_VERSION, copy)
    for step in range(version, SCHEMA_VERSION):
        MIGRATIONS[step](connection)
    connection.execute(update(meta).values(schema_version=SCHEMA_VERSION))


def _copy(path: Path, version: int) -> Path:
    """Copy the database as it is committed now, whole or not at all.

    The caller holds the right to write, so nobody changes it meanwhile.
    """
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    target = path.with_name(f"{path.name}.version-{version}.{moment}.bak")
    part = target.with_name(f"{target.name}.part")
    part.unlink(missing_ok=True)
    try:
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(part)) as destination,
        ):
            source.backup(destination)
        os.replace(part, target)
    except (sqlite3.Error, OSError) as error:
        part.unlink(missing_ok=True)
        raise StoreError(
            "The database is of an older version, and no copy of it could be made before bringing it up to date.",
            why=f"{target}: {error}",
            next="It was left as it is. Make space for a copy beside it, then open it again.",
        ) from error
    return target
