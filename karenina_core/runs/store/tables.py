"""The tables. Whatever a chart or filter needs is a column; the evidence of a result is one JSON text apart."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

SCHEMA_VERSION = 4

metadata = MetaData()

_Id = BigInteger().with_variant(Integer, "sqlite")


def _run_column(*, primary_key: bool = False) -> Column[str]:
    return Column("run_id", ForeignKey("run.id", ondelete="CASCADE"), primary_key=primary_key, nullable=False)


meta = Table("meta", metadata, Column("schema_version", Integer, nullable=False))

benchmark = Table(
    "benchmark",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("checkpoint", Text, nullable=False),
    Column("question_count", Integer, nullable=False),
    Column("finished_count", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("created", Text, nullable=False),
    Column("modified", Text, nullable=False),
    Column("deleted", Boolean, nullable=False),
)

# What a run saw of its benchmark, packed (`store/snapshots.py`); runs over the same benchmark share one.
snapshot = Table(
    "snapshot",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("question_ids", JSON, nullable=False),
    Column("checkpoint", Text, nullable=False),
)

run = Table(
    "run",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("benchmark_id", String(32)),
    Column("benchmark_name", Text, nullable=False),
    Column("snapshot", ForeignKey("snapshot.hash"), nullable=False),
    Column("config", JSON, nullable=False),
    Column("config_hash", String(64), nullable=False),
    Column("question_ids", JSON, nullable=False),
    Column("skipped", JSON, nullable=False),
    Column("status", String(16), nullable=False),
    Column("total", Integer, nullable=False),
    Column("done", Integer, nullable=False),
    Column("passed", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("not_evaluated", Integer, nullable=False),
    Column("errors", Integer, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("cached_calls", Integer, nullable=False),
    Column("cost", Float),
    Column("seconds", Float, nullable=False),
    Column("created", Text, nullable=False),
    Column("started", Text),
    Column("finished", Text),
    Column("parent_run", ForeignKey("run.id", ondelete="SET NULL")),
    Column("note", Text, nullable=False),
    Column("deleted", Boolean, nullable=False),
    # The process that carries the run out, and when it last said so, by the clock of the database.
    Column("owner", Text),
    Column("beat", Float),
    Index("run_by_benchmark", "benchmark_id"),
)

call = Table(
    "call",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("purpose", String(32), nullable=False),
    Column("model", Text, nullable=False),
    Column("question_id", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("reply", Text, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cost", Float),
    Column("created", Text, nullable=False),
)

result = Table(
    "result",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    _run_column(),
    Column("result_id", String(16), nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("question_id", Text, nullable=False),
    Column("answering_model", Text, nullable=False),
    Column("parsing_model", Text, nullable=False),
    Column("replicate", Integer, nullable=False),
    Column("status", String(16), nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("failure_category", String(32)),
    Column("failure_stage", String(48)),
    Column("granular", Float),
    Column("seconds", Float, nullable=False),
    Column("cost", Float),
    Column("answer_cost", Float),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("timestamp", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("keywords", JSON, nullable=False),
    Column("answer_seconds", Float),
    Column("flagged", Boolean),
    Column("unguarded", Boolean),
    UniqueConstraint("run_id", "question_id", "answering_model", "parsing_model", "replicate"),
    UniqueConstraint("run_id", "result_id"),
    Index("result_in_order", "run_id", "position"),
    Index("result_outcome", "run_id", "answering_model", "parsing_model", "verdict", "status", "failure_category"),
)

payload = Table(
    "payload",
    metadata,
    Column("id", ForeignKey("result.id", ondelete="CASCADE"), primary_key=True),
    Column("json", Text, nullable=False),
)

field = Table(
    "field",
    metadata,
    _run_column(primary_key=True),
    Column("name", Text, primary_key=True),
    Column("answering_model", Text, primary_key=True),
    Column("question_id", Text, primary_key=True),
    Column("parsing_model", Text, primary_key=True),
    Column("replicate", Integer, primary_key=True, autoincrement=False),
    Column("result", Boolean),
    Column("state", String(16)),
    sqlite_with_rowid=False,
)

# Clustered by trait and model: a million results by model and trait take one second instead of six.
score = Table(
    "score",
    metadata,
    _run_column(primary_key=True),
    Column("trait", Text, primary_key=True),
    Column("answering_model", Text, primary_key=True),
    Column("question_id", Text, primary_key=True),
    Column("parsing_model", Text, primary_key=True),
    Column("replicate", Integer, primary_key=True, autoincrement=False),
    Column("metric", String(32), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("value", Float),
    Column("label", Text),
    # How many items of a metric trait are in each bucket.
    *(Column(name, Integer) for name in ("tp", "fp", "tn", "fn")),
    sqlite_with_rowid=False,
)

setting = Table(
    "setting",
    metadata,
    Column("key", String(128), primary_key=True),
    Column("value", JSON, nullable=False),
)

# What people say about results: rows are added and marked as undone, never changed otherwise.
annotation = Table(
    "annotation",
    metadata,
    Column("id", String(32), primary_key=True),
    _run_column(),
    Column("result_id", String(16), nullable=False),
    Column("field", Text),
    Column("agrees", Boolean, nullable=False),
    Column("cause", String(32)),
    Column("note", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("undone", Boolean, nullable=False),
    Index("annotation_of_result", "run_id", "result_id"),
)

# Written by earlier versions only; it stays so that every database has the same tables.
duel = Table(
    "duel",
    metadata,
    Column("id", String(32), primary_key=True),
    _run_column(),
    Column("left_result", String(16), nullable=False),
    Column("right_result", String(16), nullable=False),
    Column("winner", String(8), nullable=False),
    Column("author", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("undone", Boolean, nullable=False),
    Index("duel_of_run", "run_id"),
)

# What every save of a benchmark replaced, question by question.
question_version = Table(
    "question_version",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("benchmark_id", ForeignKey("benchmark.id", ondelete="CASCADE"), nullable=False),
    Column("question_id", Text, nullable=False),
    Column("saved", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("changed", JSON, nullable=False),
    Column("content", JSON, nullable=False),
    Index("version_of_question", "benchmark_id", "question_id"),
)
