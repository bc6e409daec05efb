"""Stored benchmarks: as they are now, what their questions were before, and what runs saw of them."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.errors import InputError, StoreError
from karenina_core.files import OWN_BYTES
from karenina_core.models import clean as clean_text
from karenina_core.runs.store.database import Database, clean
from karenina_core.runs.store.schema import benchmark as table
from karenina_core.runs.store.schema import question_version as versions
from karenina_core.runs.store.schema import snapshot
from karenina_core.schemas.entities.question import now

KEPT_VERSIONS = 50
"""Versions kept of one question; the oldest go first."""
FIELDS = (
    "question",
    "raw_answer",
    "keywords",
    "answer_notes",
    "finished",
    "answer_template",
    "question_rubric",
    "author",
    "sources",
    "few_shot_examples",
    "workspace_path",
    "custom_metadata",
)
"""What a version holds of a question, besides its id."""
DELETED = "deleted"

Questions = Mapping[str, BenchmarkQuestion]
_LISTED = [column for column in table.c if column.name != "checkpoint"]
_REPLACE = update(table).where(table.c.id == bindparam("replaced")).values(revision=table.c.revision + 1)
_IDS = 500  # in one query
_COMPRESSED = "zlib:"
_FASTEST = 1  # level of compression; the others take longer and save little


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


@dataclass(frozen=True)
class QuestionVersion:
    """A question as it was before a save.

    Attributes:
        id: Number of the version; later ones are greater.
        question_id: The id the question has now, or had when it was deleted.
        saved: When it was replaced, ISO 8601 in UTC.
        author: Who replaced it; empty where nobody signs in.
        changed: The fields that the save changed, or `deleted` alone.
        content: Every field of `FIELDS` by name, and `id`, as they were before the save.
    """

    id: int
    question_id: str
    saved: str
    author: str
    changed: tuple[str, ...]
    content: dict[str, Any]


class BenchmarkChangedError(StoreError):
    """A stored benchmark was saved by somebody else since an editor began with it; nothing was saved.

    Attributes:
        benchmark_id: The benchmark; `Benchmarks.load` gives it as it is now, `question_differences` what is different.
        expected: The revision the editor began with.
        revision: The revision that is stored.
    """

    def __init__(self, benchmark_id: str, expected: int, revision: int) -> None:
        super().__init__(
            "The benchmark was changed elsewhere since it was opened.",
            why=f"It is at revision {revision}; this copy is based on {expected}.",
            next="Look at the stored version, then save again.",
        )
        self.benchmark_id, self.expected, self.revision = benchmark_id, expected, revision


class QuestionDifference(NamedTuple):
    """A question that two states of a benchmark do not have alike.

    Attributes:
        question_id: The question.
        before: Its content in the first one, as `content_of` returns it; None where only the second has it.
        after: Its content in the second one.
        changed: The names of the fields that differ; none where one of them lacks the question.
    """

    question_id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    changed: tuple[str, ...]


def question_differences(before: Benchmark, after: Benchmark) -> list[QuestionDifference]:
    """Return the questions in which two states of a benchmark differ, in the order of the second, then the first.

    For an edit that met another one, compare its beginning with both: where either has no difference, the other's
    version can be taken unasked.
    """
    old, new = ({question.id: question for question in benchmark} for benchmark in (before, after))
    differences = []
    for name in dict.fromkeys((*new, *old)):
        first, second = old.get(name), new.get(name)
        changed = tuple(_changed(first, second)) if first and second else ()
        if changed or first is None or second is None:
            contents = content_of(first) if first else None, content_of(second) if second else None
            differences.append(QuestionDifference(name, *contents, changed))
    return differences


def content_of(question: BenchmarkQuestion) -> dict[str, Any]:
    """Return what a version holds of a question, as plain data."""
    return {**question.model_dump(mode="json", include={"id", *FIELDS}), "finished": question.finished}


def restore_version(benchmark: Benchmark, question_id: str, content: Mapping[str, Any]) -> str:
    """Make a question what a version of it was, with the id it had then, and return that id.

    Args:
        benchmark: Is changed.
        question_id: The question; where there is none of that id, the version is added at the end.
        content: As `QuestionVersion.content`.

    Raises:
        InputError: Another question has that id meanwhile, or the version lacks what a question needs today.
    """
    wanted = {name: content[name] for name in FIELDS}
    if question_id not in benchmark.get_question_ids():
        fields = {name: value for name, value in wanted.items() if value is not None}
        return benchmark.add_question(fields, question_id=content["id"])
    present = content_of(benchmark.get_question(question_id))
    changed = {name: value for name, value in wanted.items() if value != present[name]}
    if changed:
        benchmark.edit_question(question_id, keep_id=True, **changed)
    benchmark.give_id(question_id, content["id"])
    return str(content["id"])


class Benchmarks:
    """The benchmarks of the store, and the earlier versions of their questions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # What was loaded last, and its revision. Whoever loads, changes and saves need not have it read once more.
        self._loaded: dict[str, tuple[int, Questions]] = {}

    def save(
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
            BenchmarkChangedError: It was changed meanwhile.
            StoreError: It cannot be written.
        """
        values = {
            **{name: clean_text(getattr(benchmark, name) or "") for name in ("name", "version", "description")},
            "checkpoint": clean_text(benchmark.to_json()),
            "question_count": len(benchmark),
            "finished_count": len(benchmark.get_finished_questions(ids_only=True)),
            "modified": now(),
        }
        if benchmark_id is None:
            benchmark_id = uuid4().hex
            with self._database.writing() as connection:
                first = {"id": benchmark_id, **values, "revision": 1, "created": now(), "deleted": False}
                connection.execute(insert(table), first)
        else:
            # Read before the transaction: parsing a large benchmark within it would keep all other writers waiting.
            with self._database.reading() as connection:
                before, known = self._stored(connection, benchmark_id)
            with self._database.writing() as connection:
                revision = _check_revision(connection, benchmark_id, expected_revision)
                if revision != known:
                    before, _ = self._stored(connection, benchmark_id)
                connection.execute(_REPLACE, {"replaced": benchmark_id, **values})
                after = {question.id: question for question in benchmark}
                _record_versions(connection, benchmark_id, before, after, benchmark.renamed, author)
        benchmark.renamed.clear()
        return benchmark_id

    def _stored(self, connection: Connection, benchmark_id: str) -> tuple[Questions, int]:
        revision = _check_revision(connection, benchmark_id, None)
        loaded = self._loaded.get(benchmark_id)
        if loaded is not None and loaded[0] == revision:
            return loaded[1], revision
        text = _checkpoint(connection, benchmark_id)
        return {question.id: question for question in Benchmark.from_json(text, limit=OWN_BYTES)}, revision

    def all(self, *, deleted: bool = False) -> list[BenchmarkRow]:
        """Return the stored benchmarks, the last modified first.

        Args:
            deleted: Return the deleted ones instead.
        """
        query = select(*_LISTED).where(table.c.deleted == deleted).order_by(table.c.modified.desc(), table.c.id)
        with self._database.reading() as connection:
            return [BenchmarkRow(**row) for row in connection.execute(query).mappings()]

    def row(self, benchmark_id: str) -> BenchmarkRow:
        """Return one entry of the list.

        Raises:
            InputError: There is none of that id.
        """
        with self._database.reading() as connection:
            row = connection.execute(select(*_LISTED).where(table.c.id == benchmark_id)).mappings().first()
        if row is None:
            raise _unknown(benchmark_id)
        return BenchmarkRow(**row)

    def load(self, benchmark_id: str) -> Benchmark:
        """Return a stored benchmark.

        Raises:
            InputError: There is none of that id.
        """
        with self._database.reading() as connection:
            revision = _check_revision(connection, benchmark_id, None)
            text = _checkpoint(connection, benchmark_id)
        benchmark = Benchmark.from_json(text, limit=OWN_BYTES)
        others = [(name, loaded) for name, loaded in self._loaded.items() if name != benchmark_id]
        questions = {question.id: question for question in benchmark}
        self._loaded = {**dict(others[-1:]), benchmark_id: (revision, questions)}
        return benchmark

    def delete(self, benchmark_id: str) -> None:
        """Hide a benchmark; `restore` undoes it. Its runs stay."""
        self._set_deleted(benchmark_id, True)

    def restore(self, benchmark_id: str) -> None:
        """Bring a deleted benchmark back."""
        self._set_deleted(benchmark_id, False)

    def _set_deleted(self, benchmark_id: str, deleted: bool) -> None:
        query = update(table).where(table.c.id == benchmark_id).values(deleted=deleted)
        with self._database.writing() as connection:
            changed = connection.execute(query).rowcount
        if not changed:
            raise _unknown(benchmark_id)

    def versions(self, benchmark_id: str, question_id: str) -> list[QuestionVersion]:
        """Return the kept versions of a question, the latest first."""
        return self._versions(versions.c.benchmark_id == benchmark_id, versions.c.question_id == question_id)

    def deleted_questions(self, benchmark_id: str, present: Iterable[str]) -> list[QuestionVersion]:
        """Return the last version of each question that was deleted, the latest first.

        Args:
            benchmark_id: The benchmark.
            present: The ids it has now.
        """
        mine = versions.c.benchmark_id == benchmark_id
        last = select(func.max(versions.c.id)).where(mine).group_by(versions.c.question_id)
        there = set(present)
        return [
            version
            for version in self._versions(versions.c.id.in_(last))
            if version.changed == (DELETED,) and version.question_id not in there
        ]

    def _versions(self, *conditions: Any) -> list[QuestionVersion]:
        columns = [versions.c[name] for name in QuestionVersion.__dataclass_fields__]
        query = select(*columns).where(*conditions).order_by(versions.c.id.desc())
        with self._database.reading() as connection:
            rows = connection.execute(query).mappings().all()
        return [QuestionVersion(**{**row, "changed": tuple(row["changed"])}) for row in rows]


def _checkpoint(connection: Connection, benchmark_id: str) -> str:
    text = connection.execute(select(table.c.checkpoint).where(table.c.id == benchmark_id)).scalar()
    if text is None:
        raise _unknown(benchmark_id)
    return str(text)


def _check_revision(connection: Connection, benchmark_id: str, expected: int | None) -> int:
    """Return the stored revision."""
    stored = connection.execute(select(table.c.revision).where(table.c.id == benchmark_id)).scalar()
    if stored is None:
        raise _unknown(benchmark_id)
    if expected is not None and stored != expected:
        raise BenchmarkChangedError(benchmark_id, expected, stored)
    return int(stored)


def _unknown(benchmark_id: str) -> InputError:
    return InputError(f"There is no stored benchmark {benchmark_id!r}.", next="Choose one from the list of benchmarks.")


def _record_versions(
    connection: Connection,
    benchmark_id: str,
    before: Questions,
    after: Questions,
    renamed: Iterable[tuple[str, str]],
    author: str,
) -> None:
    """Keep what a save replaces; the history goes along with ids that changed, given as old and new in their order."""
    origins = {name: name for name in before}
    for old, new in renamed:
        if old in origins:
            origins[new] = origins.pop(old)
            mine = (versions.c.benchmark_id == benchmark_id) & (versions.c.question_id == clean_text(old))
            connection.execute(update(versions).where(mine).values(question_id=clean_text(new)))
    names = {origin: name for name, origin in origins.items() if name in after}
    moment, who = now(), clean_text(author)
    rows = [
        {
            "benchmark_id": benchmark_id,
            "question_id": clean_text(names.get(old, old)),
            "saved": moment,
            "author": who,
            "changed": changed,
            "content": content_of(question),
        }
        for old, question in before.items()
        if (changed := _changed(question, after.get(names[old]) if old in names else None))
    ]
    if rows:
        connection.execute(insert(versions), rows)
        _delete_oldest(connection, benchmark_id, [str(row["question_id"]) for row in rows])


def _changed(before: BenchmarkQuestion, after: BenchmarkQuestion | None) -> list[str]:
    if after is None:
        return [DELETED]
    if before is after:
        return []
    return [name for name in FIELDS if getattr(before, name) != getattr(after, name)]


def _delete_oldest(connection: Connection, benchmark_id: str, question_ids: list[str]) -> None:
    age = func.row_number().over(partition_by=versions.c.question_id, order_by=versions.c.id.desc()).label("age")
    for start in range(0, len(question_ids), _IDS):
        some = versions.c.question_id.in_(question_ids[start : start + _IDS])
        numbered = select(versions.c.id, age).where(versions.c.benchmark_id == benchmark_id, some).subquery()
        oldest = select(numbered.c.id).where(numbered.c.age > KEPT_VERSIONS)
        connection.execute(delete(versions).where(versions.c.id.in_(oldest)))


class Snapshot(NamedTuple):
    """A benchmark at one moment, as runs store it.

    Attributes:
        digest: The SHA-256 of the text of its file, in hex.
        text: The text itself, compressed.
        benchmark: A copy, which stays as it is.
    """

    digest: str
    text: str
    benchmark: Benchmark

    @classmethod
    def of(cls, benchmark: Benchmark) -> Snapshot:
        """Compress a benchmark.

        Do it before the transaction: other writers need not wait for it.

        Raises:
            CheckpointError: It cannot be written.
        """
        benchmark = benchmark.clone()
        content = benchmark.to_bytes()
        data = base64.b64encode(zlib.compress(content, _FASTEST))
        return cls(hashlib.sha256(content).hexdigest(), _COMPRESSED + data.decode(), benchmark)


class Snapshots:
    """What runs saw of their benchmarks; runs over the same benchmark share one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._newest: Snapshot | None = None

    def insert(self, connection: Connection, packed: Snapshot) -> None:
        """Store a benchmark, unless it is there already, in a transaction that is under way."""
        self._newest = packed
        ids = clean(packed.benchmark.get_question_ids())
        query = self._database.upsert(snapshot).on_conflict_do_nothing(index_elements=["hash"])
        connection.execute(query, {"hash": packed.digest, "question_ids": ids, "checkpoint": packed.text})

    def load(self, digest: str) -> Benchmark:
        """Return a benchmark as it was; the newest once without reading it, for a run that was just created.

        Raises:
            StoreError: What is stored was damaged.
        """
        newest, self._newest = self._newest, None
        if newest is not None and newest.digest == digest:
            return newest.benchmark
        with self._database.reading() as connection:
            text = connection.execute(select(snapshot.c.checkpoint).where(snapshot.c.hash == digest)).scalar_one()
        written = _decompressed(text)
        if hashlib.sha256(written.encode() if isinstance(written, str) else written).hexdigest() != digest:
            raise _damaged("It is not what was stored.")
        return Benchmark.from_json(written, limit=OWN_BYTES)


def _decompressed(text: str) -> bytes | str:
    if not text.startswith(_COMPRESSED):
        return text  # earlier versions stored the file as it is
    decompressor = zlib.decompressobj()
    try:
        data = decompressor.decompress(base64.b64decode(text.removeprefix(_COMPRESSED), validate=True), OWN_BYTES)
    except (zlib.error, ValueError) as error:  # the latter: no base64
        raise _damaged(str(error)) from error
    if not decompressor.eof:
        raise _damaged("Its end is missing.")
    return data


def _damaged(why: str) -> StoreError:
    return StoreError(
        "The benchmark of a run cannot be read.",
        why=why,
        next="Its results can; to run it again, start a new run with the benchmark as it is now.",
    )
