"""Earlier versions of questions: what every save of a benchmark replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.runs.store.clean import clean_text
from karenina_core.runs.store.database import Database
from karenina_core.runs.store.tables import question_version as table
from karenina_core.schemas.entities.question import now

KEPT = 50
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
DELETED = "deleted"
_AT_ONCE = 500  # ids in one query


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


class History(Database):
    """The earlier versions of the questions of the store's benchmarks."""

    def question_versions(self, benchmark_id: str, question_id: str) -> list[QuestionVersion]:
        """Return the kept versions of a question, the latest first."""
        query = select(table).where(table.c.benchmark_id == benchmark_id, table.c.question_id == question_id)
        return self._versions(query.order_by(table.c.id.desc()))

    def deleted_questions(self, benchmark_id: str, present: Iterable[str]) -> list[QuestionVersion]:
        """Return the last version of each question that was deleted, the latest first.

        Args:
            benchmark_id: The benchmark.
            present: The ids it has now.
        """
        last = select(func.max(table.c.id)).where(table.c.benchmark_id == benchmark_id).group_by(table.c.question_id)
        there = set(present)
        found = self._versions(select(table).where(table.c.id.in_(last)).order_by(table.c.id.desc()))
        return [version for version in found if version.changed == (DELETED,) and version.question_id not in there]

    def _versions(self, query: Any) -> list[QuestionVersion]:
        with self.reading() as connection:
            rows = connection.execute(query).mappings().all()
        names = ("id", "question_id", "saved", "author", "content")
        return [QuestionVersion(**{name: row[name] for name in names}, changed=tuple(row["changed"])) for row in rows]

    def record_versions(
        self,
        connection: Connection,
        benchmark_id: str,
        before: Mapping[str, BenchmarkQuestion],
        after: Mapping[str, BenchmarkQuestion],
        renamed: Iterable[tuple[str, str]],
        author: str,
    ) -> None:
        """Keep what a save replaces, in the transaction of the save.

        Args:
            connection: The transaction.
            benchmark_id: The benchmark.
            before: Its questions by id, as they are stored.
            after: Its questions by id, as they are about to be.
            renamed: Ids that changed, old and new, in their order; the history goes along.
            author: Who saves.
        """
        names, moves = _followed(before, after, renamed)
        for old, new in moves:
            mine = (table.c.benchmark_id == benchmark_id) & (table.c.question_id == clean_text(old))
            connection.execute(update(table).where(mine).values(question_id=clean_text(new)))
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
            connection.execute(insert(table), rows)
            self._forget_oldest(connection, benchmark_id, [str(row["question_id"]) for row in rows])

    def _forget_oldest(self, connection: Connection, benchmark_id: str, question_ids: list[str]) -> None:
        for start in range(0, len(question_ids), _AT_ONCE):
            some = question_ids[start : start + _AT_ONCE]
            place = func.row_number().over(partition_by=table.c.question_id, order_by=table.c.id.desc()).label("place")
            mine = (table.c.benchmark_id == benchmark_id) & table.c.question_id.in_(some)
            placed = select(table.c.id, place).where(mine).subquery()
            old = connection.execute(select(placed.c.id).where(placed.c.place > KEPT)).scalars().all()
            if old:
                connection.execute(delete(table).where(table.c.id.in_(old)))


def _followed(
    before: Mapping[str, BenchmarkQuestion], after: Mapping[str, BenchmarkQuestion], renamed: Iterable[tuple[str, str]]
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the present id of every earlier question that is still there, and the renamings that led to it."""
    origins = {name: name for name in before}
    moves = []
    for old, new in renamed:
        if old in origins:
            origins[new] = origins.pop(old)
            moves.append((old, new))
    return {origin: name for name, origin in origins.items() if name in after}, moves


def _changed(before: BenchmarkQuestion, after: BenchmarkQuestion | None) -> list[str]:
    if after is None:
        return [DELETED]
    if before is after:
        return []
    return [name for name in FIELDS if getattr(before, name) != getattr(after, name)]
