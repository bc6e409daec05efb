"""Stored reviews: only ever added or marked as undone, so that the whole history can be read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Select, insert, select, update

from karenina_core.errors import InputError
from karenina_core.runs.store.clean import clean_text
from karenina_core.runs.store.database import Database
from karenina_core.runs.store.tables import annotation as table
from karenina_core.runs.store.tables import result
from karenina_core.schemas import Annotation


class Annotations(Database):
    """The reviews of the store."""

    def annotate(self, annotation: Annotation) -> None:
        """Store what a person says about a result. Earlier opinions stay.

        Raises:
            InputError: The run has no such result.
            StoreError: The database refused.
        """
        row = annotation.model_dump()
        for name in ("field", "note", "author"):
            row[name] = row[name] and clean_text(row[name])
        row["at"] = _stored(annotation.at)
        with self.writing() as connection:
            _check(connection, annotation.run_id, annotation.result_id)
            connection.execute(insert(table).values(**row))

    def annotations(self, run_id: str, result_id: str | None = None, undone: bool | None = False) -> list[Annotation]:
        """Return the reviews of a run, the oldest first.

        Args:
            run_id: The run.
            result_id: Only those of this result.
            undone: Those that stand; True for those taken back, None for the whole history.
        """
        query = _of_run(run_id, undone)
        if result_id is not None:
            query = query.where(table.c.result_id == result_id)
        with self.reading() as connection:
            found = [Annotation(**row) for row in connection.execute(query).mappings()]
        return sorted(found, key=lambda one: one.at)  # as text, times of several zones have another order

    def undo_annotation(self, annotation_id: str) -> None:
        """Take a review back; it stays in the history.

        Raises:
            InputError: There is none of that id, or it was taken back before.
        """
        query = update(table).where(table.c.id == annotation_id, table.c.undone.is_(False)).values(undone=True)
        with self.writing() as connection:
            done = connection.execute(query)
        if not done.rowcount:
            raise InputError("This is not there any more, or was taken back before.", next="Load the page anew.")


def _of_run(run_id: str, undone: bool | None) -> Select[Any]:
    query = select(table).where(table.c.run_id == run_id).order_by(table.c.at, table.c.id)
    return query if undone is None else query.where(table.c.undone == undone)


def _stored(at: datetime) -> str:
    """Return a time as the store keeps it: in UTC."""
    return at.astimezone(UTC).isoformat()


def _check(connection: Connection, run_id: str, result_id: str) -> None:
    known = select(result.c.result_id).where(result.c.run_id == run_id, result.c.result_id == result_id)
    if connection.execute(known).first() is None:
        raise InputError(f"Run {run_id!r} has no result {result_id!r}.", next="Open the answer from the run's results.")
