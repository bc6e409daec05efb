"""Stored reviews: only ever added or marked as undone, so that the whole history can be read."""

from __future__ import annotations

from datetime import UTC

from sqlalchemy import insert, select, update

from karenina_core.errors import InputError
from karenina_core.models import clean as clean_text
from karenina_core.runs.store.database import Database
from karenina_core.runs.store.schema import annotation as table
from karenina_core.runs.store.schema import result
from karenina_core.schemas import Annotation


class Annotations:
    """The reviews of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, annotation: Annotation) -> None:
        """Store what a person says about a result. Earlier opinions stay.

        Raises:
            InputError: The run has no such result.
            StoreError: The database refused.
        """
        row = annotation.model_dump()
        for name in ("field", "note", "author"):
            row[name] = row[name] and clean_text(row[name])
        row["at"] = annotation.at.astimezone(UTC).isoformat()
        run_id, result_id = annotation.run_id, annotation.result_id
        stored = select(result.c.id).where(result.c.run_id == run_id, result.c.result_id == result_id)
        with self._database.writing() as connection:
            if connection.execute(stored).first() is None:
                raise InputError(
                    f"Run {run_id!r} has no result {result_id!r}.", next="Open the answer from the run's results."
                )
            connection.execute(insert(table).values(**row))

    def all(self, run_id: str, result_id: str | None = None, undone: bool | None = False) -> list[Annotation]:
        """Return the reviews of a run, the oldest first.

        Args:
            run_id: The run.
            result_id: Only those of this result.
            undone: Those that stand; True for those taken back, None for the whole history.
        """
        query = select(table).where(table.c.run_id == run_id).order_by(table.c.at, table.c.id)
        if result_id is not None:
            query = query.where(table.c.result_id == result_id)
        if undone is not None:
            query = query.where(table.c.undone == undone)
        with self._database.reading() as connection:
            reviews = [Annotation(**row) for row in connection.execute(query).mappings()]
        return sorted(reviews, key=lambda review: review.at)  # as text, times of several zones have another order

    def undo(self, annotation_id: str) -> None:
        """Take a review back; it stays in the history.

        Raises:
            InputError: There is none of that id, or it was taken back before.
        """
        query = update(table).where(table.c.id == annotation_id, table.c.undone.is_(False)).values(undone=True)
        with self._database.writing() as connection:
            changed = connection.execute(query).rowcount
        if not changed:
            raise InputError("This is not there any more, or was taken back before.", next="Load the page anew.")
