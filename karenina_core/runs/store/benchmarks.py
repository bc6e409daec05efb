"""Stored benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import Connection, Engine, bindparam, insert, select, update

from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.errors import InputError, StoreError
from karenina_core.files import OWN_BYTES
from karenina_core.runs.store.clean import clean, clean_text
from karenina_core.runs.store.history import History
from karenina_core.runs.store.tables import benchmark as table
from karenina_core.schemas.entities.question import now

Questions = Mapping[str, BenchmarkQuestion]
_LISTED = [column for column in table.c if column.name != "checkpoint"]
_REPLACE = update(table).where(table.c.id == bindparam("replaced")).values(revision=table.c.revision + 1)


@dataclass(frozen=True)
class BenchmarkRow:
    """A stored benchmark, without its questions.

    Attributes:
        revision: Counts the times it was saved; tells two editors that they meet.
        created: ISO 8601 in UTC, as is `modified`.
        deleted: Hidden from lists, and can be restored.
    """

    id: str
    name: str
    version: str
    description: str
    question_count: int
    finished_count: int
    revision: int
    created: str
    modified: str
    deleted: bool


class Benchmarks(History):
    """The benchmarks of the store."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        # What was last loaded, and its revision. Whoever loads, changes and saves need not have it read once more.
        self._read: dict[str, tuple[int, Questions]] = {}

    def save_benchmark(
        self,
        benchmark: Benchmark,
        benchmark_id: str | None = None,
        *,
        expected_revision: int | None = None,
        author: str = "",
    ) -> str:
        """Save a benchmark and return its id; what its questions were before is kept as their history.

        Args:
            benchmark: What to save.
            benchmark_id: The stored benchmark to replace; a new one is added when not given.
            expected_revision: Refuse when the stored benchmark was saved by somebody else since this revision.
            author: Who saves, for the history.

        Raises:
            InputError: There is no benchmark of that id.
            StoreError: It was changed meanwhile, or cannot be written.
        """
        values = _values(benchmark)
        if benchmark_id is None:
            benchmark_id = uuid4().hex
            with self.writing() as connection:
                first = {"id": benchmark_id, **values, "revision": 1, "created": now(), "deleted": False}
                connection.execute(insert(table), first)
        else:
            self._replace(benchmark_id, benchmark, values, expected_revision, author)
        benchmark.renamed.clear()
        return benchmark_id

    def _replace(
        self, benchmark_id: str, benchmark: Benchmark, values: dict[str, object], expected: int | None, author: str
    ) -> None:
        # Read before the transaction: parsing a large benchmark within it would keep all other writers waiting.
        before, known = self._stored(benchmark_id)
        with self.writing() as connection:
            revision = _check_revision(connection, benchmark_id, expected)
            if revision != known:
                before = _questions(_checkpoint(connection, benchmark_id))
            connection.execute(_REPLACE, {"replaced": benchmark_id, **values})
            after = {question.id: question for question in benchmark}
            self.record_versions(connection, benchmark_id, before, after, benchmark.renamed, author)

    def _stored(self, benchmark_id: str) -> tuple[Questions, int]:
        with self.reading() as connection:
            revision = _check_revision(connection, benchmark_id, None)
            known = self._read.get(benchmark_id)
            if known is not None and known[0] == revision:
                return known[1], revision
            text = _checkpoint(connection, benchmark_id)
        return _questions(text), revision

    def _remember(self, benchmark_id: str, revision: int, questions: Questions) -> None:
        others = {name: read for name, read in self._read.items() if name != benchmark_id}
        self._read = {**dict(list(others.items())[-1:]), benchmark_id: (revision, questions)}

    def benchmarks(self, *, deleted: bool = False) -> list[BenchmarkRow]:
        """Return the stored benchmarks, the last modified first.

        Args:
            deleted: Return the deleted ones instead.
        """
        query = select(*_LISTED).where(table.c.deleted == deleted).order_by(table.c.modified.desc(), table.c.id)
        with self.reading() as connection:
            return [BenchmarkRow(**row) for row in connection.execute(query).mappings()]

    def benchmark(self, benchmark_id: str) -> BenchmarkRow:
        """Return one entry of the list.

        Raises:
            InputError: There is none of that id.
        """
        with self.reading() as connection:
            row = connection.execute(select(*_LISTED).where(table.c.id == benchmark_id)).mappings().first()
        if row is None:
            raise _unknown(benchmark_id)
        return BenchmarkRow(**row)

    def load_benchmark(self, benchmark_id: str) -> Benchmark:
        """Return a stored benchmark.

        Raises:
            InputError: There is none of that id.
        """
        with self.reading() as connection:
            revision = _check_revision(connection, benchmark_id, None)
            text = _checkpoint(connection, benchmark_id)
        benchmark = Benchmark.from_json(text, limit=OWN_BYTES)
        self._remember(benchmark_id, revision, {question.id: question for question in benchmark})
        return benchmark

    def delete_benchmark(self, benchmark_id: str) -> None:
        """Hide a benchmark; `restore_benchmark` undoes it. Its runs stay."""
        self._set_deleted(benchmark_id, True)

    def restore_benchmark(self, benchmark_id: str) -> None:
        """Bring a deleted benchmark back."""
        self._set_deleted(benchmark_id, False)

    def _set_deleted(self, benchmark_id: str, deleted: bool) -> None:
        with self.writing() as connection:
            done = connection.execute(update(table).where(table.c.id == benchmark_id).values(deleted=deleted))
        if not done.rowcount:
            raise _unknown(benchmark_id)


def _values(benchmark: Benchmark) -> dict[str, object]:
    described = {name: clean(getattr(benchmark, name) or "") for name in ("name", "version", "description")}
    return {
        **described,
        "checkpoint": clean_text(benchmark.to_json()),
        "question_count": len(benchmark),
        "finished_count": len(benchmark.get_finished_questions(ids_only=True)),
        "modified": now(),
    }


def _checkpoint(connection: Connection, benchmark_id: str) -> str:
    text = connection.execute(select(table.c.checkpoint).where(table.c.id == benchmark_id)).scalar()
    if text is None:
        raise _unknown(benchmark_id)
    return str(text)


def _questions(checkpoint: str) -> Questions:
    return {question.id: question for question in Benchmark.from_json(checkpoint, limit=OWN_BYTES)}


def _check_revision(connection: Connection, benchmark_id: str, expected: int | None) -> int:
    """Return the stored revision."""
    stored = connection.execute(select(table.c.revision).where(table.c.id == benchmark_id)).scalar()
    if stored is None:
        raise _unknown(benchmark_id)
    if expected is not None and stored != expected:
        raise StoreError(
            "The benchmark was changed elsewhere since it was opened.",
            why=f"It is at revision {stored}; this copy is based on {expected}.",
            next="Look at the stored version, then save again.",
        )
    return int(stored)


def _unknown(benchmark_id: str) -> InputError:
    return InputError(f"There is no stored benchmark {benchmark_id!r}.", next="Choose one from the list of benchmarks.")
