"""Stored results: written in batches with their chart columns, read in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Delete,
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
)

from karenina_core.errors import InputError
from karenina_core.runs.store.bulk import Bulk
from karenina_core.runs.store.clean import to_json
from karenina_core.runs.store.evidence import ResultRows, Row, decode, rows_of
from karenina_core.runs.store.runs import Runs
from karenina_core.runs.store.tables import field, payload, result, score
from karenina_core.schemas import RowKey, Usage, VerificationResult

PAGE = 200
FILTERS = (*RowKey._fields, "status", "verdict", "failure_category", "failure_stage", "result_id")
_SHOWN = [column for column in result.c if column.name not in ("id", "run_id", "position")]
_ADD = insert(result).returning(result.c.id, result.c.result_id)
_IS_SAME = (result.c.run_id == bindparam("run")) & result.c.result_id.in_(bindparam("ids", expanding=True))
_SAME = select(payload.c.json).join(result).where(_IS_SAME)
_REMOVE_SAME = delete(result).where(_IS_SAME)
_LAST_AND_ANY = (  # the latter is what `_SAME` asks, not put into words anew for every number of ids
    f"SELECT coalesce(max({result.c.id.name}), 0), EXISTS (SELECT 1 FROM {result.name} "
    f"WHERE {result.c.run_id.name} = ? AND {result.c.result_id.name} IN (SELECT value FROM json_each(?))) "
    f"FROM {result.name}"
)
_VERDICT_COUNTER = {"pass": "passed", "fail": "failed", "not_evaluated": "not_evaluated"}


class Outcome(NamedTuple):
    """What became of one wanted row."""

    position: int
    answering_model: str
    status: str
    verdict: str
    failure_category: str | None


class Results(Runs):
    """The results of the store."""

    def write_results(self, run_id: str, batch: Sequence[VerificationResult]) -> None:
        """Store results in one transaction; those stored before under the same identity are replaced.

        Raises:
            InputError: A result does not belong to the run.
            StoreError: Nothing was written.
        """
        rows = [rows_of(run_id, item) for item in batch]
        with self.writing() as connection:
            self.insert_results(connection, run_id, rows)

    def insert_results(
        self,
        connection: Connection,
        run_id: str,
        batch: Sequence[ResultRows],
        spent: Usage | None = None,
        owner: str | None = None,
    ) -> None:
        """Store results in a transaction that is under way.

        Args:
            connection: Of the transaction.
            run_id: The run.
            batch: The results; of several with the same identity the last one counts.
            spent: What they cost, for the account of the run.
            owner: Who must have the run; nobody in particular when not given.

        Raises:
            InputError: There is no such run, or a result does not belong to it.
            LeaseLostError: The run has another owner.
        """
        latest = list({item.result_id: item for item in batch}.values())
        if not latest:
            return
        rows = self._placed(run_id, latest)
        # First, for it keeps other processes away from the run.
        self.add_counts(connection, run_id, _counts(latest), spent or Usage(), owner=owner)
        ids = self._add_results(connection, run_id, rows)
        self._add_payload(connection, [{"id": ids[item.result_id], "json": item.text} for item in latest])
        self._add_field(connection, chain.from_iterable(item.fields for item in latest))
        self._add_score(connection, chain.from_iterable(item.scores for item in latest))

    def _add_results(self, connection: Connection, run_id: str, rows: list[Row]) -> dict[str, int]:
        """Store the columns of results in place of those stored before, and return their numbers by result id."""
        names = [str(row["result_id"]) for row in rows]
        if connection.dialect.name != "sqlite":
            self._remove(connection, run_id, names)
            return {row.result_id: row.id for row in connection.execute(_ADD, rows)}
        # SQLite has one writer at a time, so that the next numbers are known before.
        last, some = _ask(connection, _LAST_AND_ANY, run_id, to_json(names))
        if some:
            self._remove(connection, run_id, names)
        for number, row in enumerate(rows, last + 1):
            row["id"], row["keywords"] = number, to_json(row["keywords"]) if row["keywords"] else "[]"
        self._add_numbered(connection, rows)
        return dict(zip(names, range(last + 1, last + 1 + len(names)), strict=True))

    def _remove(self, connection: Connection, run_id: str, result_ids: list[str]) -> None:
        """Delete the results of those ids, with all that belongs to them, and count them no more."""
        same = {"run": run_id, "ids": result_ids}
        old = [rows_of(run_id, decode(text)) for text in connection.execute(_SAME, same).scalars()]
        if not old:
            return
        _many(connection, _delete(field), map(_old, chain.from_iterable(item.fields for item in old)))
        _many(connection, _delete(score), map(_old, chain.from_iterable(item.scores for item in old)))
        connection.execute(_REMOVE_SAME, same)
        self.add_counts(connection, run_id, {name: -count for name, count in _counts(old).items()}, Usage())

    @cached_property
    def _add_numbered(self) -> Bulk:
        return Bulk(insert(result), self.engine.dialect)

    @cached_property
    def _add_payload(self) -> Bulk:
        return Bulk(insert(payload), self.engine.dialect)

    @cached_property
    def _add_field(self) -> Bulk:
        return Bulk(insert(field), self.engine.dialect)

    @cached_property
    def _add_score(self) -> Bulk:
        return Bulk(insert(score), self.engine.dialect)

    def results(self, run_id: str, **filters: Any) -> list[VerificationResult]:
        """Return results in (question, answering model, judge, replicate) order.

        Args:
            run_id: The run.
            **filters: Columns that must equal a value or be among several, such as `verdict="fail"` or
                `status=["failed", "skipped"]`.

        Raises:
            InputError: Results have no such column.
        """
        return list(self.iter_results(run_id, **filters))

    def iter_results(self, run_id: str, **filters: Any) -> Iterator[VerificationResult]:
        """Yield results as `results` returns them, a page at a time, so that memory stays bounded."""
        yield from map(decode, self.iter_texts(run_id, **filters))

    def iter_texts(self, run_id: str, **filters: Any) -> Iterator[str]:
        """Yield the same results as JSON text, for who needs only a part of each."""
        query = _filtered(select(result.c.position, payload.c.json).join(payload), run_id, filters).limit(PAGE)
        place = -1
        while True:
            with self.reading() as connection:
                page = connection.execute(query.where(result.c.position > place)).all()
            if not page:
                return
            place = page[-1].position
            yield from (row.json for row in page)

    def result(self, run_id: str, result_id: str) -> VerificationResult:
        """Return one result by the id that links use.

        Raises:
            InputError: The run has no such result.
        """
        for found in self.iter_results(run_id, result_id=result_id):
            return found
        raise InputError(f"Run {run_id!r} has no result {result_id!r}.", next="Open it from the run's results.")

    def rows(self, run_id: str, **filters: Any) -> list[Row]:
        """Return the columns of results, without their evidence, in the order and with the filters of `results`."""
        with self.reading() as connection:
            return [dict(row) for row in connection.execute(_filtered(select(*_SHOWN), run_id, filters)).mappings()]

    def fields(self, run_id: str) -> list[Row]:
        """Return one row per result and template field: identity, `name`, `result` (True, False, None), `state`."""
        return self._whole(field, run_id)

    def scores(self, run_id: str) -> list[Row]:
        """Return one row per result and trait, for metric traits and metric.

        `kind` is `score`, `binary`, `literal`, `regex`, `metric`, or `error` for a trait that could not be
        evaluated. `value` is a number, 0 or 1, the class index, or None; `label` is the class name.
        """
        return self._whole(score, run_id)

    def outcomes(self, run_id: str) -> list[Outcome]:
        """Return what became of the rows that are stored."""
        columns = [result.c[name] for name in Outcome._fields]
        with self.reading() as connection:
            return [Outcome(*row) for row in connection.execute(select(*columns).where(result.c.run_id == run_id))]

    def outcome_counts(self, run_id: str) -> list[tuple[Outcome, int]]:
        """Return how many rows had which outcome; their `position` is 0."""
        columns = [result.c[name] for name in Outcome._fields[1:]]
        query = select(*columns, func.count()).where(result.c.run_id == run_id).group_by(*columns)
        with self.reading() as connection:
            return [(Outcome(0, *row[:-1]), row[-1]) for row in connection.execute(query)]

    def _whole(self, table: Table, run_id: str) -> list[Row]:
        columns = [column for column in table.c if column.name != "run_id"]
        with self.reading() as connection:
            return [
                dict(row) for row in connection.execute(select(*columns).where(table.c.run_id == run_id)).mappings()
            ]

    def _placed(self, run_id: str, results: list[ResultRows]) -> list[Row]:
        """Return the columns of results with their positions."""
        keys = [RowKey(*[item.columns[name] for name in RowKey._fields]) for item in results]
        try:
            positions = [self.orders[run_id].position(key) for key in keys]
        except (KeyError, InputError):
            # Not read yet, or the run was widened since.
            order = self.run_order(run_id)
            positions = [order.position(key) for key in keys]
        return [{**item.columns, "position": number} for item, number in zip(results, positions, strict=True)]


def _filtered(query: Select[Any], run_id: str, filters: dict[str, Any]) -> Select[Any]:
    query = query.where(result.c.run_id == run_id).order_by(result.c.position)
    for name, wanted in filters.items():
        if name not in FILTERS:
            raise InputError(f"Results cannot be filtered by {name!r}.", next=f"Use one of: {', '.join(FILTERS)}.")
        column = result.c[name]
        several = isinstance(wanted, Collection) and not isinstance(wanted, str)
        query = query.where(column.in_(list(wanted)) if several else column == wanted)
    return query


def _ask(connection: Connection, query: str, *values: Any) -> Any:
    """Return the first row of a query of SQLite's own, straight from the driver."""
    driver: Any = connection.connection.driver_connection
    return driver.execute(query, values).fetchone()


def _delete(table: Table) -> Delete:
    # By the whole primary key: any part of it alone would search through the run.
    return delete(table).where(*(column == bindparam(f"old_{column.name}") for column in table.primary_key))


def _old(row: Row) -> Row:
    return {f"old_{name}": value for name, value in row.items()}


def _many(connection: Connection, query: Delete, rows: Iterable[Row]) -> None:
    gathered = list(rows)
    if gathered:
        connection.execute(query, gathered)


def _counts(results: Collection[ResultRows]) -> Counter[str]:
    counts = Counter(_VERDICT_COUNTER[item.columns["verdict"]] for item in results)
    counts.update(done=len(results), errors=sum(item.columns["status"] == "failed" for item in results))
    return counts
