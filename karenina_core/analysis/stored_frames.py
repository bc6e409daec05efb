"""The tables of `frames` for a stored run, read from columns alone: no text of an answer is loaded.

A hundred thousand results are read in about a second and take some megabytes, because texts that repeat are pandas
categories. Columns that only the evidence of a result tells are left out, see `columns.UNREAD`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, get_args

from karenina_core.analysis.answer_prices import Origin, stored_prices
from karenina_core.analysis.bulk_columns import Kind
from karenina_core.analysis.cells import shorten
from karenina_core.analysis.columns import FIELDS, RESULTS, ROW, UNREAD
from karenina_core.analysis.stored_columns import (
    KEY,
    Columns,
    in_order_of_appearance,
    objects,
    places,
    read_columns,
    renamed,
)
from karenina_core.schemas import Failure

if TYPE_CHECKING:
    import pandas as pd

    from karenina_core.runs import Store

_TEXTS = (*KEY[:-1], "status", "verdict", "failure_category", "failure_stage")
_NUMBERS = ("granular", "seconds", "answer_seconds", "cost", "answer_cost", "flagged")
_ORIGINS = list(get_args(Origin))
_STATES = ["right", "wrong", "not_found", "undecided"]
_TOKENS = ("input_tokens", "output_tokens")
_RESULT: dict[str, Kind] = {
    "result_id": "any",
    "position": "integer",
    "replicate": "integer",
    **dict.fromkeys(_TEXTS, "text"),
    **dict.fromkeys((*_NUMBERS, *_TOKENS), "number"),
}
_FIELD: dict[str, Kind] = {
    **dict.fromkeys((*KEY[:-1], "name", "state"), "text"),
    "replicate": "integer",
    "result": "number",
}


def stored_results(store: Store, run_id: str) -> pd.DataFrame:
    """Return one row per result in the order of the run, as `results_frame` does."""
    import numpy as np
    import pandas as pd

    from karenina_core.runs import result

    columns = read_columns(store, result, _RESULT, run_id)
    order = np.argsort(columns["position"], kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    origins = _price_answers(store, run_id, columns)
    table: dict[str, Any] = {
        "result_id": pd.Series(columns["result_id"], dtype="str").array,
        "replicate": columns["replicate"],
        **{name: in_order_of_appearance(columns[name]) for name in _TEXTS},
        **{name: columns[name] for name in _NUMBERS},
        **{name: pd.Series(columns[name]).astype("Int64").array for name in _TOKENS},
        "flagged": columns["flagged"] == 1,
        "answer_origin": origins,
    }
    ids, causes = table["question_id"], table["failure_category"]
    texts = _questions(store, run_id)
    table["question"] = renamed(ids, [texts[name][0] for name in ids.categories])
    table["keywords"] = objects([texts[name][1] for name in ids.categories])[ids.codes]
    table["failure_group"] = renamed(causes, [_group(name) for name in causes.categories])
    return pd.DataFrame({name: table[name] for name in RESULTS if name not in UNREAD["results"]})


def stored_fields(store: Store, run_id: str, results: pd.DataFrame) -> pd.DataFrame:
    """Return one row per result and verified field, as `fields_frame` does.

    Args:
        store: The store.
        run_id: The run.
        results: Its `stored_results`.
    """
    import pandas as pd

    from karenina_core.runs import field

    columns = read_columns(store, field, _FIELD, run_id)
    rows = places(results, columns)
    states = _states(columns, rows, results)
    known = pd.DataFrame({"row": rows, "field": columns["name"], "state": states})
    known = known[(rows >= 0) & states.notna()]  # no state of these: the template's own code compares the field
    known = pd.concat([known, _missed(known, results)], ignore_index=True).sort_values("row", kind="stable")
    table = results[list(ROW)].iloc[known["row"]].reset_index(drop=True)
    wrong_or_right = pd.Series(known["state"].cat.codes.to_numpy()).map({0: True, 1: False})
    told = {"field": known["field"].array, "result": wrong_or_right.astype("boolean"), "state": known["state"].array}
    whole: pd.DataFrame = table.assign(**told)
    return whole[[name for name in FIELDS if name not in UNREAD["fields"]]]


def _price_answers(store: Store, run_id: str, columns: Columns) -> pd.Categorical:
    """Put what answers cost when a model was asked for them in place of what this run paid, and return their origins.

    Args:
        store: The store.
        run_id: The run.
        columns: Of its results, ordered by position.
    """
    import numpy as np
    import pandas as pd

    codes = np.where(np.isnan(columns["answer_seconds"]), -1, _ORIGINS.index("model"))
    rows = {position: row for row, position in enumerate(columns["position"].tolist())}
    for position, price in stored_prices(store, run_id):
        if (row := rows.get(position)) is not None:  # otherwise it was stored a moment ago
            codes[row] = _ORIGINS.index(price.origin)
            columns["answer_cost"][row] = math.nan if price.cost is None else price.cost
    return pd.Categorical.from_codes(codes, categories=pd.Index(_ORIGINS, dtype="str"))


def _questions(store: Store, run_id: str) -> dict[str, tuple[str, list[str]]]:
    """Return text and keywords by question, each read once."""
    from sqlalchemy import func, select

    from karenina_core.runs import result

    one_each = select(func.max(result.c.id)).where(result.c.run_id == run_id).group_by(result.c.question_id)
    query = select(result.c.question_id, result.c.question, result.c.keywords).where(result.c.id.in_(one_each))
    with store.reading() as connection:
        return {name: (shorten(text), keywords) for name, text, keywords in connection.execute(query)}


def _group(category: str) -> str:
    return Failure.model_validate({"category": category, "stage": "", "reason": ""}).group


def _states(columns: Columns, rows: Any, results: pd.DataFrame) -> Any:
    """Return the state of every field. Earlier versions did not store it: there it follows from the verdict."""
    import numpy as np
    import pandas as pd

    stored = columns["state"]
    if not (unknown := stored.codes < 0).any():
        return stored.set_categories(_STATES)
    decided = columns["result"]
    judged = results["verdict"].to_numpy()[rows] != "not_evaluated"
    derived = np.select([decided == 1, decided == 0, judged], ["right", "wrong", "not_found"], "undecided")
    # What no rule ever decided is compared by the template's own code; it has no state.
    ruled = pd.Series(~np.isnan(decided)).groupby([columns["question_id"].codes, columns["name"].codes])
    states = pd.Series(derived, dtype=object).where(ruled.transform("any"))
    known = stored.set_categories(_STATES).astype(object)
    return pd.Categorical(states.where(unknown, known), categories=_STATES)


def _missed(known: pd.DataFrame, results: pd.DataFrame) -> pd.DataFrame:
    """Return an undecided row for every field that a broken result would have had."""
    import numpy as np
    import pandas as pd

    questions = results["question_id"].cat.codes.to_numpy()
    fields = known.assign(question=questions[known["row"]])[["question", "field"]].drop_duplicates()
    broken = np.flatnonzero(results["failure_category"].notna())
    lost = np.setdiff1d(broken, known["row"])
    rows = fields.merge(_frame(row=lost, question=questions[lost]), on="question")
    return rows.assign(state=pd.Categorical(["undecided"] * len(rows), categories=_STATES))[["row", "field", "state"]]


def _frame(**columns: Any) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns)
