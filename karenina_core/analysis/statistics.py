"""Rates, means and metrics with their uncertainty: pure functions from the tables of `frames`.

Every summary says how many rows it rests on, how many were left out and why, and whether they are too few to tell.
Tables without rows give summaries without rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.intervals import mean_interval, wilson

if TYPE_CHECKING:
    import pandas as pd

FEW = 5
"""Below this number of evaluated rows a rate says next to nothing."""

NO_KEYWORD = "(no keyword)"
"""Stands for questions without keywords."""

By = str | Sequence[str]
Row = dict[str, Any]


def pass_rate(frame: pd.DataFrame, by: By = "answering_model") -> pd.DataFrame:
    """Return pass rates of a results table, one row per group.

    The rate is taken over the evaluated rows. Errors are not wrong answers.

    Args:
        frame: A table of `results_frame`.
        by: Columns to group by; an empty list gives one row for everything. Grouping by `keywords` counts a result
            under each of its keywords.

    Returns:
        The `by` columns, then `passed`, `failed`, `evaluated`, `not_evaluated`, `errors` (the part of
        `not_evaluated` where something broke), `n` (all rows), `questions` (of the evaluated rows), `rate`, `low`
        and `high` (95 % Wilson interval), `few`, and `rate_of_all` (as if rows without a verdict were wrong).
    """
    evaluated = frame["verdict"] != "not_evaluated"
    counts = {
        "passed": frame["verdict"] == "pass",
        "failed": frame["verdict"] == "fail",
        "evaluated": evaluated,
        "not_evaluated": ~evaluated,
        "errors": ~evaluated & (frame["status"] == "failed"),
    }
    table = _rates(frame, by, counts, "passed")
    return table.assign(rate_of_all=table["passed"] / table["n"])


def field_rates(frame: pd.DataFrame, by: By = ("question_id", "question", "field", "answering_model")) -> pd.DataFrame:
    """Return how often template fields were right, one row per group.

    A field the judge found nothing for is not right: it counts against the rate and is shown beside it.

    Args:
        frame: A table of `fields_frame`.
        by: Columns to group by.

    Returns:
        The `by` columns, then `right`, `wrong`, `not_found`, `undecided`, `evaluated` (without the undecided),
        `n`, `questions`, `rate`, `low`, `high`, `few`.
    """
    states = {state: frame["state"] == state for state in ("right", "wrong", "not_found", "undecided")}
    return _rates(frame, by, {**states, "evaluated": ~states["undecided"]}, "right")


def trait_summary(frame: pd.DataFrame, by: By = ("trait", "kind", "answering_model")) -> pd.DataFrame:
    """Return means of score traits and shares of yes for binary and pattern traits, one row per group.

    Scores are averaged within a question first, so that repetitions do not pretend to be new evidence.

    Args:
        frame: A table of `traits_frame`; classes and metrics are summarised by `label_shares`, `metric_summary`.
        by: Columns to group by.

    Returns:
        The `by` columns, then `n` (rows with a value), `missing` (rows without), `questions`, `mean` (or share of
        yes), `sd`, `median`, `low` and `high` (95 % interval: Wilson for shares, t over questions for scores),
        `few`.
    """
    import numpy as np

    names = _names(by)
    plain = frame[frame["kind"].isin(["llm_score", "llm_binary", "regex"])]
    columns = list(dict.fromkeys([*names, "question_id", "kind", "value"]))
    groups = plain[columns].groupby(names or (lambda _: 0), sort=False, dropna=False)
    table = groups["value"].agg(n="count", sd="std", median="median").assign(rows=groups.size())
    marked = plain.assign(group=groups.ngroup(), evaluated=plain["value"].notna(), yes=plain["value"] == 1)
    valued = marked[marked["evaluated"]]
    cells = _cells(valued, "yes").assign(
        mean=valued.groupby(["group", "question_id"], sort=False)["value"].mean().array
    )
    by_question = cells.groupby("group")
    table["questions"] = by_question.size().reindex(range(len(table)), fill_value=0).to_numpy()
    table["evaluated"], table["rate"] = table["n"], by_question["sum"].sum().reindex(range(len(table))).to_numpy()
    table["rate"] = table["rate"] / table["n"].where(table["n"] > 0)
    low, high = (np.array(ends) for ends in wilson(table["rate"], _effective_sizes(table, cells)))
    mean = table["rate"].to_numpy(copy=True)
    scored = marked.loc[marked["kind"] == "llm_score", "group"].unique()
    for group, questions in cells[cells["group"].isin(scored)].groupby("group")["mean"]:
        place = int(str(group))
        mean[place] = questions.mean()
        low[place], high[place] = mean_interval(questions.to_list())
    table = table.assign(missing=table["rows"] - table["n"], mean=mean, low=low, high=high, few=table["n"] < FEW)
    flat: pd.DataFrame = table.reset_index(drop=not names)
    return flat[[*names, *_TRAIT_COLUMNS]]


def label_shares(frame: pd.DataFrame, by: By = ("trait", "answering_model")) -> pd.DataFrame:
    """Return how often each class of a literal trait was chosen, one row per group and class.

    Args:
        frame: A table of `traits_frame`.
        by: Columns to group by.

    Returns:
        The `by` columns, then `label`, `index` (its place among the classes), `count`, `n` (rows of the group),
        `share`.
    """
    import pandas as pd

    literal = frame[(frame["kind"] == "llm_literal") & (frame["label"] != "")]
    rows = [
        {**keys, "label": label, "index": same["value"].min(), "count": len(same), "n": len(group)}
        for keys, group in _groups(literal, by)
        for label, same in group.groupby("label", sort=False)
    ]
    table = pd.DataFrame(rows, columns=[*_names(by), "label", "index", "count", "n"])
    return table.assign(share=table["count"].astype(float) / table["n"].astype(float))


def metric_summary(frame: pd.DataFrame, by: By = ("trait", "metric", "answering_model")) -> pd.DataFrame:
    """Return macro and micro averages of metric traits, one row per group.

    Args:
        frame: A table of `traits_frame`.
        by: Columns to group by; `metric` must be among them.

    Returns:
        The `by` columns, then `n` (rows with a value), `undefined` (0/0, left out of the macro average), `missing`
        (rows without a value for other reasons), `questions`, `macro` (mean of the questions' means), `micro`
        (the metric of the summed counts), `tp`, `fp`, `tn`, `fn`, `few`.
    """
    names = _names(by)
    metrics = frame[(frame["kind"] == "metric") & (frame["metric"] != "")]
    metrics = metrics[list(dict.fromkeys([*names, "question_id", "value", "undefined", *_BUCKETS]))]
    groups = metrics.groupby(names, sort=False, dropna=False)
    table = groups["value"].agg(n="count").assign(undefined=groups["undefined"].sum().astype("int64"))
    table["missing"] = groups.size() - table["n"] - table["undefined"]
    valued = metrics.assign(group=groups.ngroup())[metrics["value"].notna()]
    by_question = valued.groupby(["group", "question_id"], sort=False)["value"].mean().groupby("group")
    everyone = range(len(table))
    table["questions"] = by_question.size().reindex(everyone, fill_value=0).to_numpy()
    table["macro"] = by_question.mean().reindex(everyone).to_numpy()
    for bucket in _BUCKETS:
        table[bucket] = groups[bucket].sum().astype("int64")
    table = table.reset_index()
    table["micro"] = [
        _micro(str(row["metric"]), {name: row[name] for name in _BUCKETS}) for row in table.to_dict("records")
    ]
    flat: pd.DataFrame = table.assign(few=table["n"] < FEW)
    return flat[[*names, *_METRIC_COLUMNS]]


def call_totals(frame: pd.DataFrame, by: By = "model") -> pd.DataFrame:
    """Return what model calls took, one row per group; a call shared by several results counts once.

    Args:
        frame: A table of `calls_frame`.
        by: Columns to group by.

    Returns:
        The `by` columns, then `calls`, `asked` (not answered from the ledger), `input_tokens`, `output_tokens`,
        `cost` (US dollars of the calls with a known price), `unpriced` (calls without), `median_seconds`.
    """
    return _table(frame.drop_duplicates("key"), by, _call_row, _CALL_COLUMNS)


_TRAIT_COLUMNS = ("n", "missing", "questions", "mean", "sd", "median", "low", "high", "few")
_METRIC_COLUMNS = ("n", "undefined", "missing", "questions", "macro", "micro", "tp", "fp", "tn", "fn", "few")
_BUCKETS = ("tp", "fp", "tn", "fn")
_CALL_COLUMNS = ("calls", "asked", "input_tokens", "output_tokens", "cost", "unpriced", "median_seconds")


def _names(by: By) -> list[str]:
    return [by] if isinstance(by, str) else list(by)


def _rates(frame: pd.DataFrame, by: By, counts: Mapping[str, pd.Series[bool]], success: str) -> pd.DataFrame:
    """Sum up `counts` by group and add the rate of `success` among the evaluated rows, with its interval.

    Works on whole columns, because a grid of questions and models has many thousands of groups.
    """
    names = _names(by)
    columns = list(dict.fromkeys([*names, "question_id"]))
    marked = _by_keyword(frame[columns].assign(**counts), names)
    groups = marked.groupby(names or (lambda _: 0), sort=False, dropna=False)
    table = groups[list(counts)].sum().astype("int64").assign(n=groups.size())
    cells = _cells(marked.assign(group=groups.ngroup())[marked["evaluated"]], success)
    table["questions"] = cells.groupby("group").size().reindex(range(len(table)), fill_value=0).to_numpy()
    table["rate"] = table[success] / table["evaluated"].where(table["evaluated"] > 0)
    low, high = wilson(table["rate"], _effective_sizes(table, cells))
    return table.assign(low=low, high=high, few=table["evaluated"] < FEW).reset_index(drop=not names)


def _cells(evaluated: pd.DataFrame, success: str) -> pd.DataFrame:
    """Return rows and successes of every question in every group."""
    cells = evaluated.groupby(["group", "question_id"], sort=False)[success]
    return cells.agg(["sum", "size"]).reset_index()


def _effective_sizes(table: pd.DataFrame, cells: pd.DataFrame) -> Any:
    """Return `intervals.effective_size` of every group, all at once."""
    import numpy as np

    n, rate = table["evaluated"].to_numpy(dtype=float), table["rate"].to_numpy()
    group = cells["group"].to_numpy()
    # The clustered variance of a mean: squared sums of what a question's answers differ from it.
    away = cells["sum"].to_numpy() - rate[group] * cells["size"].to_numpy()
    error = np.bincount(group, away**2, minlength=len(table)) / np.where(n > 0, n, 1) ** 2
    spread = rate * (1 - rate)
    worth = np.where(error > 0, np.minimum(n, spread / np.where(error > 0, error, 1)), n)
    questions = table["questions"].to_numpy()
    return np.where((questions < 2) | (questions == n), n, np.where(spread == 0, questions, worth))


def _by_keyword(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    if "keywords" not in names:
        return frame
    once = frame[["question_id", "keywords"]].drop_duplicates("question_id").explode("keywords")
    once["keywords"] = once["keywords"].fillna(NO_KEYWORD).astype("category")
    return frame.drop(columns="keywords").merge(once, on="question_id", how="left", sort=False)


def _table(frame: pd.DataFrame, by: By, row: Callable[[pd.DataFrame], Row], columns: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    rows = [{**keys, **row(group)} for keys, group in _groups(frame, by)]
    return pd.DataFrame(rows, columns=[*_names(by), *columns])


def _groups(frame: pd.DataFrame, by: By) -> Iterator[tuple[Row, pd.DataFrame]]:
    names = _names(by)
    if names:
        for values, group in frame.groupby(names, sort=False, dropna=False):
            yield dict(zip(names, values, strict=True)), group
    elif len(frame):
        yield {}, frame


def _micro(metric: str, counts: Mapping[str, int]) -> float:
    from karenina_core.pipeline.metrics import metric_values

    values, undefined = metric_values([metric], **counts)
    return math.nan if undefined else values[metric]


def _call_row(group: pd.DataFrame) -> Row:
    return {
        "calls": len(group),
        "asked": int((group["source"] != "ledger").sum()),
        "input_tokens": int(group["input_tokens"].sum()),
        "output_tokens": int(group["output_tokens"].sum()),
        "cost": float(group["cost"].sum()),
        "unpriced": int(group["cost"].isna().sum()),
        "median_seconds": group["seconds"].median(),
    }
