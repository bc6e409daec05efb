"""Stored results: the whole evidence as JSON, and beside it the columns, fields and trait values that charts read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, Select, Table, Text, bindparam, case, delete, func, insert, select

from karenina_core.errors import InputError, StoreError
from karenina_core.models import clean as clean_text
from karenina_core.runs.store.database import Database, clean, clean_json
from karenina_core.runs.store.runs import Runs
from karenina_core.runs.store.schema import field, payload, result, score
from karenina_core.schemas import CallRecord, ConfusionPart, RowKey, RubricPart, Usage, VerificationResult, field_state

Row = dict[str, Any]

FILTERS = (*RowKey._fields, "status", "verdict", "failure_category", "failure_stage", "result_id")
PAGE = 200  # results in memory at once
_GROUP = 500  # results of one statement
_QUESTION = 200  # characters of the question in a row
_RESULT = TypeAdapter(VerificationResult)
_SHOWN = [column for column in result.c if column.name not in ("id", "run_id", "position")]
_SAME = (result.c.run_id == bindparam("run")) & result.c.result_id.in_(bindparam("ids", expanding=True))
_ADD_TEXT = insert(payload).from_select(
    ["id", "json"],
    select(result.c.id, bindparam("text", type_=Text)).where(
        result.c.run_id == bindparam("run"), result.c.result_id == bindparam("name")
    ),
)
_COUNTER = {"pass": "passed", "fail": "failed", "not_evaluated": "not_evaluated"}


class Outcome(NamedTuple):
    """What became of one wanted row."""

    position: int
    answering_model: str
    status: str
    verdict: str
    failure_category: str | None


class ResultRows(NamedTuple):
    """A result as it is stored.

    Attributes:
        columns: All but its position.
        text: The whole result as JSON.
        fields: One row per template field.
        scores: One row per trait, for metric traits one per metric.
    """

    columns: Row
    text: str
    fields: list[Row]
    scores: list[Row]

    @property
    def run_id(self) -> str:
        """The run it belongs to."""
        return str(self.columns["run_id"])

    @property
    def result_id(self) -> str:
        """Its identity."""
        return str(self.columns["result_id"])


def rows_of(run_id: str, item: VerificationResult) -> ResultRows:
    """Return a result as it is stored in a run."""
    key = {
        "run_id": run_id,
        "question_id": clean_text(item.question.id),
        "answering_model": clean_text(item.answering_model),
        "parsing_model": clean_text(item.parsing_model),
        "replicate": item.replicate,
    }
    return ResultRows({**key, **_columns(item)}, encode(item), _field_rows(key, item), _score_rows(key, item.rubric))


def _columns(item: VerificationResult) -> Row:
    failure, usage, question = item.failure, item.usage, item.question
    answer_call = item.answer.call if item.answer else None
    return {
        "result_id": item.result_id,
        "status": item.status,
        "verdict": item.verdict,
        "failure_category": failure.category if failure else None,
        "failure_stage": failure.stage if failure else None,
        "granular": clean(item.verify_granular_result),
        "seconds": item.seconds,
        "cost": clean(usage.cost),
        "answer_cost": clean(answer_call.usage.cost) if answer_call else None,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "timestamp": item.timestamp,
        "question": clean_text(question.question[:_QUESTION]),
        "keywords": clean(question.keywords),
        "answer_seconds": _measured(answer_call),
        "flagged": bool(item.answer and item.answer.addresses_judge),
        "unguarded": any(guard and not guard.performed for guard in (item.abstention, item.sufficiency)),
    }


def _measured(call: CallRecord | None) -> float | None:
    """Return how long a model took; None where no model was asked just now."""
    return call.seconds if call and call.source in ("provider", "local") else None


def _field_rows(key: Row, item: VerificationResult) -> list[Row]:
    if item.template is None:
        return []
    fields = {clean_text(part.name): (part.result, field_state(item, part)) for part in item.template.fields}
    return [{**key, "name": name, "result": decided, "state": state} for name, (decided, state) in fields.items()]


def _score_rows(key: Row, rubric: RubricPart) -> list[Row]:
    """Return one row per trait, for metric traits one per metric; traits without a value have none."""
    if not rubric.performed:
        return []
    names = ("trait", "kind", "metric", "value", "label")
    rows = {(values[0], values[2]): dict(zip(names, values, strict=True)) for values in _scores(rubric)}
    return [{**key, **clean(row), **_counts_of_items(rubric, row)} for row in rows.values()]


def _counts_of_items(rubric: RubricPart, row: Row) -> dict[str, int | None]:
    part = rubric.confusion.get(row["trait"]) if row["kind"] == "metric" else None
    return {name: len(getattr(part, name)) if part else None for name in ("tp", "fp", "tn", "fn")}


def _scores(rubric: RubricPart) -> Iterator[tuple[str, str, str, float | None, str | None]]:
    for trait in rubric.errors:
        yield trait, "error", "", None, None
    for trait, value in rubric.scores.items():
        label = rubric.labels.get(trait)
        kind = "binary" if isinstance(value, bool) else "literal" if label is not None else "score"
        yield trait, kind, "", float(value), label
    for trait, matches in rubric.regex.items():
        yield trait, "regex", "", float(matches), None
    for trait, metrics in rubric.metrics.items():
        for metric, number in metrics.items():
            yield trait, "metric", metric, number, None
    for trait, confusion in rubric.confusion.items():
        for metric in confusion.undefined:
            yield trait, "metric", metric, None, None


def encode(item: VerificationResult) -> str:
    """Return the whole result as JSON text that every database stores."""
    metrics = item.rubric.metrics
    if metrics and not all(math.isfinite(value) for values in metrics.values() for value in values.values()):
        item = item.model_copy(update={"rubric": _with_undefined_named(item.rubric)})
    return clean_json(_RESULT, item)


def _with_undefined_named(rubric: RubricPart) -> RubricPart:
    """Name metrics that are no numbers as undefined, for JSON has no NaN; read back, the result has the same rows."""
    metrics: dict[str, dict[str, float]] = {}
    confusion = dict(rubric.confusion)
    for trait, values in rubric.metrics.items():
        metrics[trait] = {name: value for name, value in values.items() if math.isfinite(value)}
        part = confusion.get(trait, ConfusionPart())
        lacking = [name for name in values if name not in metrics[trait] and name not in part.undefined]
        if lacking:
            confusion[trait] = part.model_copy(update={"undefined": [*part.undefined, *lacking]})
    return rubric.model_copy(update={"metrics": metrics, "confusion": confusion})


def decode(text: str) -> VerificationResult:
    """Read a stored result.

    Raises:
        StoreError: It is not one.
    """
    try:
        return VerificationResult.model_validate_json(text)
    except ValidationError as error:
        raise StoreError(
            "A stored result cannot be read.",
            why=f"{error.error_count()} entries do not fit, the first at {error.errors()[0]['loc']}.",
            next="It may have been written by a newer version of the workbench.",
        ) from error


class Results:
    """The results of the store."""

    def __init__(self, database: Database, runs: Runs) -> None:
        self._database = database
        self._runs = runs

    def save(self, run_id: str, batch: Sequence[VerificationResult]) -> None:
        """Store results in one transaction; those stored before under the same identity are replaced.

        Raises:
            InputError: A result does not belong to the run.
            StoreError: Nothing was written.
        """
        rows = [rows_of(run_id, item) for item in batch]
        with self._database.writing() as connection:
            self.insert(connection, run_id, rows)

    def insert(
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
        positions = self._positions(run_id, latest)
        # First, for it keeps other processes away from the run.
        self._runs.add_counts(connection, run_id, _counts(latest), spent or Usage(), owner=owner)
        for start in range(0, len(latest), _GROUP):
            group = latest[start : start + _GROUP]
            self._remove(connection, run_id, [item.result_id for item in group])
            rows = [{**item.columns, "position": positions[item.result_id]} for item in group]
            connection.execute(insert(result), rows)
            connection.execute(
                _ADD_TEXT, [{"run": run_id, "name": item.result_id, "text": item.text} for item in group]
            )
            _insert(connection, field, chain.from_iterable(item.fields for item in group))
            _insert(connection, score, chain.from_iterable(item.scores for item in group))

    def _remove(self, connection: Connection, run_id: str, result_ids: list[str]) -> None:
        """Delete the results of those ids, with all that belongs to them, and take them out of the account."""
        same = {"run": run_id, "ids": result_ids}
        texts = connection.execute(select(payload.c.json).join(result).where(_SAME), same).scalars()
        old = [rows_of(run_id, decode(text)) for text in texts]
        if not old:
            return
        _delete(connection, field, chain.from_iterable(item.fields for item in old))
        _delete(connection, score, chain.from_iterable(item.scores for item in old))
        connection.execute(delete(result).where(_SAME), same)
        self._runs.add_counts(connection, run_id, {name: -count for name, count in _counts(old).items()}, Usage())

    def _positions(self, run_id: str, items: Iterable[ResultRows]) -> dict[str, int]:
        keys = {item.result_id: RowKey(*[item.columns[name] for name in RowKey._fields]) for item in items}
        try:
            order = self._runs.order(run_id)
            return {name: order.position(key) for name, key in keys.items()}
        except InputError:
            order = self._runs.order(run_id, reload=True)  # the run may have been widened
            return {name: order.position(key) for name, key in keys.items()}

    def all(self, run_id: str, **filters: Any) -> list[VerificationResult]:
        """Return results in (question, answering model, judge, replicate) order.

        Args:
            run_id: The run.
            **filters: Columns that must equal a value or be among several, such as `verdict="fail"` or
                `status=["failed", "skipped"]`.

        Raises:
            InputError: Results have no such column.
        """
        return list(self.iterate(run_id, **filters))

    def iterate(self, run_id: str, **filters: Any) -> Iterator[VerificationResult]:
        """Yield results as `all` returns them, a page at a time, so that memory stays bounded."""
        yield from map(decode, self.texts(run_id, **filters))

    def texts(self, run_id: str, **filters: Any) -> Iterator[str]:
        """Yield the same results as JSON text, for who needs only a part of each."""
        query = _filtered(select(result.c.position, payload.c.json).join(payload), run_id, filters).limit(PAGE)
        last = -1
        while True:
            with self._database.reading() as connection:
                page = connection.execute(query.where(result.c.position > last)).all()
            if not page:
                return
            last = page[-1].position
            yield from (row.json for row in page)

    def get(self, run_id: str, result_id: str) -> VerificationResult:
        """Return one result by the id that links use.

        Raises:
            InputError: The run has no such result.
        """
        for item in self.iterate(run_id, result_id=result_id):
            return item
        raise InputError(f"Run {run_id!r} has no result {result_id!r}.", next="Open it from the run's results.")

    def rows(self, run_id: str, **filters: Any) -> list[Row]:
        """Return the columns of results, without their evidence, in the order and with the filters of `all`."""
        return self._select(_filtered(select(*_SHOWN), run_id, filters))

    def _select(self, query: Select[Any]) -> list[Row]:
        with self._database.reading() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def outcomes(self, run_id: str) -> list[Outcome]:
        """Return what became of the rows that are stored."""
        columns = [result.c[name] for name in Outcome._fields]
        return [Outcome(**row) for row in self._select(select(*columns).where(result.c.run_id == run_id))]

    def outcome_counts(self, run_id: str) -> list[tuple[Outcome, int]]:
        """Return how many rows had which outcome; their `position` is 0."""
        columns = [result.c[name] for name in Outcome._fields[1:]]
        query = select(*columns, func.count().label("count")).where(result.c.run_id == run_id).group_by(*columns)
        return [(Outcome(0, **row), count) for row in self._select(query) for count in (row.pop("count"),)]

    def failures(self, run_id: str) -> dict[str, dict[str, tuple[int, int]]]:
        """Return the questions of a run that have a failed verdict.

        For each: how many verdicts failed, and how many there are, by answering model. Evaluations without a verdict
        do not count.
        """
        failed = func.sum(case((result.c.verdict == "fail", 1), else_=0)).label("failed")
        columns = (result.c.question_id, result.c.answering_model)
        query = select(*columns, failed, func.count().label("count")).group_by(*columns)
        counts: dict[str, dict[str, tuple[int, int]]] = {}
        for row in self._select(query.where(result.c.run_id == run_id, result.c.verdict.in_(["pass", "fail"]))):
            counts.setdefault(row["question_id"], {})[row["answering_model"]] = (int(row["failed"]), int(row["count"]))
        return {name: models for name, models in counts.items() if any(wrong for wrong, _ in models.values())}

    def unguarded(self, run_id: str) -> list[RowKey]:
        """Return the rows of a run whose abstention or sufficiency check could not be made."""
        query = select(*(result.c[name] for name in RowKey._fields)).order_by(result.c.position)
        return [RowKey(**row) for row in self._select(query.where(result.c.run_id == run_id, result.c.unguarded))]

    def trait_errors(self, run_id: str) -> dict[RowKey, set[str]]:
        """Return the rows of a run that have traits without a value, with the names of those traits."""
        errors: dict[RowKey, set[str]] = {}
        query = select(*(score.c[name] for name in RowKey._fields), score.c.trait)
        for row in self._select(query.where(score.c.run_id == run_id, score.c.kind == "error")):
            trait = row.pop("trait")
            errors.setdefault(RowKey(**row), set()).add(trait)
        return errors

    def with_trait(self, run_id: str, trait: str) -> set[RowKey]:
        """Return the rows of a run in which a trait has a value; an error is none."""
        query = select(*(score.c[name] for name in RowKey._fields))
        mine = (score.c.run_id == run_id, score.c.trait == trait, score.c.kind != "error")
        return {RowKey(**row) for row in self._select(query.where(*mine))}


def _filtered(query: Select[Any], run_id: str, filters: dict[str, Any]) -> Select[Any]:
    query = query.where(result.c.run_id == run_id).order_by(result.c.position)
    for name, wanted in filters.items():
        if name not in FILTERS:
            raise InputError(f"Results cannot be filtered by {name!r}.", next=f"Use one of: {', '.join(FILTERS)}.")
        column = result.c[name]
        several = isinstance(wanted, Collection) and not isinstance(wanted, str)
        query = query.where(column.in_(list(wanted)) if several else column == wanted)
    return query


def _insert(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    batch = list(rows)
    if batch:
        connection.execute(insert(table), batch)


def _delete(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    batch = [{f"old_{name}": value for name, value in row.items()} for row in rows]
    if batch:
        # By the whole primary key: any part of it alone would search through the run.
        key = [column == bindparam(f"old_{column.name}") for column in table.primary_key]
        connection.execute(delete(table).where(*key), batch)


def _counts(results: Collection[ResultRows]) -> Counter[str]:
    counts = Counter(_COUNTER[item.columns["verdict"]] for item in results)
    counts.update(done=len(results), errors=sum(item.columns["status"] == "failed" for item in results))
    return counts
