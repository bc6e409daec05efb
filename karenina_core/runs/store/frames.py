"""The columns of charts, as pandas tables of one or several runs; no text of an answer is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Float, Integer, Select, Table, and_, func, select

from karenina_core.files import garbage_collection_paused
from karenina_core.runs.store.schema import field, payload, result, score

if TYPE_CHECKING:
    import pandas as pd

    from karenina_core.runs.store import Store

RESULT_COLUMNS = (
    "result_id", "question_id", "answering_model", "parsing_model", "replicate", "status", "verdict",
    "failure_category", "failure_stage", "granular", "seconds", "answer_seconds", "cost", "answer_cost",
    "input_tokens", "output_tokens", "flagged",
)  # fmt: skip
_SCORE_COLUMNS = ("trait", "metric", "kind", "value", "label", "tp", "fp", "tn", "fn")
_KEY = ("run_id", "question_id", "answering_model", "parsing_model", "replicate")


def result_columns(store: Store, run_ids: Iterable[str], names: Sequence[str] = RESULT_COLUMNS) -> pd.DataFrame:
    """Return columns of the results of some runs, one run after the other, each in its order.

    Returns:
        A table of these columns, whose index `id` names a result in the store. Texts are categories, except the
        `result_id`; columns that may lack a number are floats with NaN.
    """
    ids = list(dict.fromkeys(run_ids))
    read = dict.fromkeys(("id", "run_id", "position", *names))
    table = _table(store, select(*(result.c[name] for name in read)).where(result.c.run_id.in_(ids)))
    runs = table["run_id"].cat.set_categories(ids)
    in_order = table.assign(run_id=runs, run=runs.cat.codes).sort_values(["run", "position"], kind="stable")
    return in_order.set_index("id")[list(names)]


def field_columns(store: Store, run_ids: Iterable[str]) -> pd.DataFrame:
    """Return `id` (of the result), `field`, `result` and `state` of every template field of some runs.

    Runs of earlier versions have no `state`; what is not decided has no `result`.
    """
    return _table(store, _of_results(field, run_ids, field.c.name.label("field"), field.c.result, field.c.state))


def score_columns(store: Store, run_ids: Iterable[str]) -> pd.DataFrame:
    """Return `id` (of the result), trait, metric, kind, value, label and counts of every trait value of some runs."""
    return _table(store, _of_results(score, run_ids, *(score.c[name] for name in _SCORE_COLUMNS)))


def question_columns(store: Store, run_ids: Iterable[str]) -> list[tuple[str, str, list[str]]]:
    """Return id, text and keywords of every question of some runs, once each."""
    mine = result.c.run_id.in_(list(dict.fromkeys(run_ids)))
    one_each = select(func.max(result.c.id)).where(mine).group_by(result.c.question_id)
    query = select(result.c.question_id, result.c.question, result.c.keywords).where(result.c.id.in_(one_each))
    with store.reading() as connection:
        return [(name, text, keywords) for name, text, keywords in connection.execute(query)]


def evidence_of_unasked(store: Store, run_id: str) -> Iterator[tuple[int, str]]:
    """Yield the id and the evidence, as JSON, of the results whose answer no model gave in this run."""
    not_asked = result.c.answer_cost.is_not(None) & result.c.answer_seconds.is_(None)
    query = select(result.c.id, payload.c.json).join(payload).where(result.c.run_id == run_id, not_asked)
    with store.reading() as connection:
        yield from connection.execution_options(yield_per=1_000).execute(query)


def _of_results(table: Table, run_ids: Iterable[str], *columns: Any) -> Select[Any]:
    """Select columns of a table of details beside the id of their result."""
    same = and_(*(table.c[name] == result.c[name] for name in _KEY))
    mine = table.c.run_id.in_(list(dict.fromkeys(run_ids)))
    return select(result.c.id, *columns).select_from(table.join(result, same)).where(mine)


def _table(store: Store, query: Select[Any]) -> pd.DataFrame:
    import pandas as pd

    # Half a million rows are as many tuples, which the garbage collector would look through again and again.
    with store.reading() as connection, garbage_collection_paused():
        # The driver's own rows: making a row object for each takes longer than reading them.
        cursor: Any = connection.execute(query).cursor
        rows = cursor.fetchall()
        columns = query.selected_columns
        values = zip(*rows, strict=True) if rows else ((),) * len(columns)
        table = {column.name: _values(column, own) for column, own in zip(columns, values, strict=True)}
    return pd.DataFrame(table)


def _values(column: Any, values: Sequence[Any]) -> Any:
    """Return values as an array: categories for texts that repeat, whole numbers where none is missing, or floats."""
    import numpy as np
    import pandas as pd

    if isinstance(column.type, Integer) and not column.nullable:
        return np.array(values, dtype="int64")
    if isinstance(column.type, Integer | Float) or column.type.python_type is bool:
        return np.array(values, dtype="float64")
    texts = np.array(values, dtype=object)
    if column.name == "result_id":
        return pd.array(texts, dtype="str")
    codes, found = pd.factorize(texts, sort=True)
    return pd.Categorical.from_codes(codes, categories=pd.Index(found, dtype="str"))
