"""Rates, means and metrics with their uncertainty: pure functions from the tables of `frames`.

Every summary says how many rows it rests on, how many were left out and why, and whether they are too few to tell.
Tables without rows give summaries without rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.intervals import effective_size, mean_interval, proportion, wilson

if TYPE_CHECKING:
    import pandas as pd

FEW = 5
"""Below this number of evaluated rows a rate says next to nothing."""

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
    plain = frame[frame["kind"].isin(["llm_score", "llm_binary", "regex"])]
    return _table(plain, by, _trait_row, _TRAIT_COLUMNS)


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
    return _table(frame[(frame["kind"] == "metric") & (frame["metric"] != "")], by, _metric_row, _METRIC_COLUMNS)


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
_CALL_COLUMNS = ("calls", "asked", "input_tokens", "output_tokens", "cost", "unpriced", "median_seconds")


def _names(by: By) -> list[str]:
    return [by] if isinstance(by, str) else list(by)


def _rates(frame: pd.DataFrame, by: By, counts: Mapping[str, pd.Series[bool]], success: str) -> pd.DataFrame:
    """Sum up `counts` by group and add the rate of `success` among the evaluated rows, with its interval.

    Works on whole columns, because a grid of questions and models has many thousands of groups.
    """
    names = _names(by)
    marked = _by_keyword(frame.assign(**counts), names)
    groups = marked.groupby(names or (lambda _: 0), sort=False, dropna=False)
    table = groups[list(counts)].sum().astype(int).assign(n=groups.size())
    evaluated = marked.assign(group=groups.ngroup())[marked["evaluated"]]
    questions = evaluated.groupby("group")["question_id"].nunique()
    table["questions"] = questions.reindex(range(len(table)), fill_value=0).to_numpy()
    table["rate"] = table[success] / table["evaluated"].where(table["evaluated"] > 0)
    low, high = wilson(table["rate"], _effective_sizes(table, evaluated, success))
    return table.assign(low=low, high=high, few=table["evaluated"] < FEW).reset_index(drop=not names)


def _effective_sizes(table: pd.DataFrame, evaluated: pd.DataFrame, success: str) -> list[float]:
    sizes = table["evaluated"].astype(float).to_list()
    repeated = table["questions"].between(2, table["evaluated"] - 1).to_numpy().nonzero()[0]
    for group, rows in evaluated[evaluated["group"].isin(repeated)].groupby("group"):
        sizes[int(str(group))] = effective_size(rows[success].to_list(), rows["question_id"].to_list())
    return sizes


def _by_keyword(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    if "keywords" not in names:
        return frame
    return frame.explode("keywords", ignore_index=True).fillna({"keywords": "(no keyword)"})


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


def _trait_row(group: pd.DataFrame) -> Row:
    valued = group.dropna(subset="value")
    questions = valued.groupby("question_id", sort=False)["value"].mean()
    if (group["kind"] == "llm_score").any():
        mean, (low, high) = questions.mean(), mean_interval(questions.to_list())
    else:
        share = proportion((valued["value"] == 1).to_list(), valued["question_id"].to_list())
        mean, low, high = share.rate, share.low, share.high
    return {
        "n": len(valued),
        "missing": len(group) - len(valued),
        "questions": len(questions),
        "mean": mean,
        "sd": valued["value"].std(),
        "median": valued["value"].median(),
        "low": low,
        "high": high,
        "few": len(valued) < FEW,
    }


def _metric_row(group: pd.DataFrame) -> Row:
    valued = group.dropna(subset="value")
    counts = {name: int(group[name].sum()) for name in ("tp", "fp", "tn", "fn")}
    undefined = int(group["undefined"].sum())
    questions = valued.groupby("question_id", sort=False)["value"].mean()
    return {
        "n": len(valued),
        "undefined": undefined,
        "missing": len(group) - len(valued) - undefined,
        "questions": len(questions),
        "macro": questions.mean(),
        "micro": _micro(str(group["metric"].iloc[0]), counts),
        **counts,
        "few": len(valued) < FEW,
    }


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
