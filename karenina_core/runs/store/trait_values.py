"""Which results have a value for a trait; read only, by the order in which values are kept."""

from __future__ import annotations

from sqlalchemy import select

from karenina_core.runs.store.database import Database
from karenina_core.runs.store.tables import score
from karenina_core.schemas import RowKey


class TraitValues(Database):
    """Questions about the values of one trait."""

    def rows_with_trait(self, run_id: str, trait: str) -> set[RowKey]:
        """Return the rows of a run in which a trait has a value; those in which it only has an error are none."""
        query = select(*(score.c[name] for name in RowKey._fields)).where(
            score.c.run_id == run_id, score.c.trait == trait, score.c.kind != "error"
        )
        with self.reading() as connection:
            return {RowKey(*row) for row in connection.execute(query)}
