"""What comparisons read from the store: columns only, never a text of an answer.

The rows have no order of their own: read in the order of a run, a hundred thousand of them would take a second more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.cells import shorten

if TYPE_CHECKING:
    import pandas as pd

    from karenina_core.runs import Store

_RESULT = ["result_id", "question_id", "answering_model", "parsing_model", "replicate", "status", "verdict"]
_FIELD = ["question_id", "answering_model", "parsing_model", "replicate"]


def outcomes(store: Store, run_ids: Iterable[str]) -> pd.DataFrame:
    """Return the identity, status and verdict of every result of some runs, as `results_frame` names them.

    Args:
        store: The store.
        run_ids: The runs; the table says in `run_id` whose a row is.
    """
    from sqlalchemy import select

    from karenina_core.runs import result

    query = select(result.c.run_id, *(result.c[name] for name in _RESULT))
    ids = list(dict.fromkeys(run_ids))
    return _table(store, query.where(result.c.run_id.in_(ids)).order_by(result.c.id), ["run_id", *_RESULT])


def field_outcomes(store: Store, run_ids: Iterable[str], results: pd.DataFrame) -> pd.DataFrame:
    """Return what became of the template fields, as `fields_frame` names it.

    Args:
        store: The store.
        run_ids: The runs.
        results: Their `outcomes`.

    Returns:
        `run_id`, the identity, `field` and `state`. A field that no result of its question ever decided is compared
        by the template's own code and left out.
    """
    from sqlalchemy import select

    from karenina_core.runs import field

    columns = ["run_id", *_FIELD]
    query = select(*(field.c[name] for name in columns), field.c.name, field.c.result)
    ids = list(dict.fromkeys(run_ids))
    rows = _table(store, query.where(field.c.run_id.in_(ids)), [*columns, "field", "result"])
    decided = rows.groupby(["run_id", "question_id", "field"], observed=True)["result"].transform("count") > 0
    known = rows[decided].merge(results[[*columns, "result_id", "verdict"]], on=columns)
    return known.assign(state=_states(known)).drop(columns=["verdict", "result"])


def question_texts(store: Store, run_ids: Iterable[str]) -> pd.DataFrame:
    """Return the questions of some runs: `question_id`, `question` (short) and `keywords`."""
    from sqlalchemy import func, select

    from karenina_core.runs import result

    mine = result.c.run_id.in_(list(dict.fromkeys(run_ids)))
    one_each = select(func.max(result.c.id)).where(mine).group_by(result.c.question_id)
    query = select(result.c.question_id, result.c.question, result.c.keywords).where(result.c.id.in_(one_each))
    table = _table(store, query, ["question_id", "question", "keywords"])
    return table.assign(question=table["question"].map(shorten))


def _table(store: Store, query: Any, columns: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    with store.reading() as connection:
        rows = connection.execute(query).all()
    # Column by column: given rows, pandas would ask each of them whether it is a data class, for seconds.
    values = zip(*rows, strict=True) if rows else ([] for _ in columns)
    return pd.DataFrame(dict(zip(columns, map(list, values), strict=True)))


def _states(fields: pd.DataFrame) -> pd.Series[str]:
    import numpy as np
    import pandas as pd

    decided = [fields["result"] == True, fields["result"] == False, fields["verdict"] != "not_evaluated"]  # noqa: E712
    return pd.Series(np.select(decided, ["right", "wrong", "not_found"], "undecided"), index=fields.index)
