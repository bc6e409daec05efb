"""What earlier calls and results tell about the next ones; read only, and quick in a store of any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import case, func, select

from karenina_core.runs.store.database import Database
from karenina_core.runs.store.tables import call, result, score
from karenina_core.schemas import RowKey

_AT_ONCE = 500  # keys in one query
SAMPLE = 3_000
"""At most this many calls are looked at for what calls usually take."""


class Lookups(Database):
    """Questions about calls and results, answered without reading all of them."""

    def known_calls(self, keys: Iterable[str]) -> set[str]:
        """Return those keys whose calls are stored."""
        known, wanted = set[str](), list(keys)
        with self.reading() as connection:
            for start in range(0, len(wanted), _AT_ONCE):
                some = wanted[start : start + _AT_ONCE]
                known.update(connection.execute(select(call.c.key).where(call.c.key.in_(some))).scalars())
        return known

    def sample_calls(self, models: Sequence[str]) -> list[dict[str, Any]]:
        """Return calls of those models, as `purpose`, `model`, tokens and `reply`.

        Keys are hashes, so the first ones are a random sample of all calls, however many there are.
        """
        columns = (call.c.purpose, call.c.model, call.c.input_tokens, call.c.output_tokens, call.c.reply)
        drawn = select(*columns).order_by(call.c.key).limit(SAMPLE).subquery()
        with self.reading() as connection:
            query = select(drawn).where(drawn.c.model.in_(list(models)))
            return [dict(row) for row in connection.execute(query).mappings()]

    def failures(self, run_id: str) -> dict[str, dict[str, tuple[int, int]]]:
        """Return the questions of a run that have a failed verdict.

        For each: how many verdicts failed, and how many there are, by answering model. Evaluations without a verdict
        do not count.
        """
        failed = func.sum(case((result.c.verdict == "fail", 1), else_=0))
        columns = (result.c.question_id, result.c.answering_model)
        query = select(*columns, failed, func.count()).where(
            result.c.run_id == run_id, result.c.verdict.in_(["pass", "fail"])
        )
        found: dict[str, dict[str, tuple[int, int]]] = {}
        with self.reading() as connection:
            for question_id, model, wrong, all_of_them in connection.execute(query.group_by(*columns)):
                found.setdefault(question_id, {})[model] = (int(wrong), int(all_of_them))
        return {name: models for name, models in found.items() if any(wrong for wrong, _ in models.values())}

    def unguarded(self, run_id: str) -> list[RowKey]:
        """Return the rows of a run whose abstention or sufficiency check could not be made."""
        which = (result.c.run_id == run_id) & result.c.unguarded
        query = select(*(result.c[name] for name in RowKey._fields)).where(which).order_by(result.c.position)
        with self.reading() as connection:
            return [RowKey(*row) for row in connection.execute(query)]

    def trait_errors(self, run_id: str) -> dict[RowKey, set[str]]:
        """Return the rows of a run that have traits without a value, with the names of those traits."""
        found: dict[RowKey, set[str]] = {}
        query = select(*(score.c[name] for name in RowKey._fields), score.c.trait)
        with self.reading() as connection:
            for row in connection.execute(query.where(score.c.run_id == run_id, score.c.kind == "error")):
                found.setdefault(RowKey(*row[:-1]), set()).add(row.trait)
        return found
