"""Rates, means and metrics with their uncertainty: pure functions from the tables of `frames`.

Every summary says how many rows it rests on, how many were left out and why, and whether they are too few to tell.
Tables without rows give summaries without rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.clusters import Cells, effective_sizes, question_cells
from karenina_core.analysis.groups import keys, labels
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
    columns = list(dict.fromkeys([*names, "question_id", "kind", "value"]))
    plain = frame.loc[frame["kind"].isin(["llm_score", "llm_binary", "regex"]), columns]
    groups = keys(plain, names)
    value = plain["value"].to_numpy()
    valued = ~np.isnan(value)
    cells = question_cells(plain[valued], groups.codes[valued], {"yes": value[valued] == 1, "value": value[valued]})
    by_group = plain["value"].groupby(groups.codes)
    n = groups.count(valued)
    yes = np.bincount(cells.group, cells.sums["yes"], len(groups))
    rate = np.divide(yes, n, out=np.full(len(groups), math.nan), where=n > 0)
    questions = np.bincount(cells.group, minlength=len(groups))
    low, high = (np.array(ends) for ends in wilson(rate, effective_sizes(rate, n, questions, cells, "yes")))
    mean, means = rate.copy(), cells.sums["value"] / cells.size
    for group in np.unique(groups.codes[(plain["kind"] == "llm_score").to_numpy() & valued]):
        own = means[cells.group == group]
        mean[group] = own.mean()
        low[group], high[group] = mean_interval(own.tolist())
    found = {
        "n": n,
        "missing": groups.count() - n,
        "questions": questions,
        "mean": mean,
        "sd": by_group.std().to_numpy(),
        "median": by_group.median().to_numpy(),
        "low": low,
        "high": high,
        "few": n < FEW,
    }
    return labels(groups, plain, names).assign(**found)


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
    import numpy as np

    names = _names(by)
    columns = list(dict.fromkeys([*names, "question_id", "value", "undefined", *_BUCKETS]))
    metrics = frame.loc[(frame["kind"] == "metric") & (frame["metric"] != ""), columns]
    groups = keys(metrics, names)
    value, undefined = metrics["value"].to_numpy(), metrics["undefined"].to_numpy(dtype=bool)
    valued = ~np.isnan(value)
    cells = question_cells(metrics[valued], groups.codes[valued], {"value": value[valued]})
    n, questions = groups.count(valued), np.bincount(cells.group, minlength=len(groups))
    means = np.bincount(cells.group, cells.sums["value"] / cells.size, len(groups))
    counts = {name: groups.total(metrics[name].to_numpy(dtype=float, na_value=0)).astype("int64") for name in _BUCKETS}
    table = labels(groups, metrics, names).assign(
        n=n,
        undefined=groups.count(undefined),
        missing=groups.count() - n - groups.count(undefined),
        questions=questions,
        macro=np.divide(means, questions, out=np.full(len(groups), math.nan), where=questions > 0),
        micro=math.nan,
        **counts,
        few=n < FEW,
    )
    table["micro"] = [
        _micro(str(row["metric"]), {name: row[name] for name in _BUCKETS}) for row in table.to_dict("records")
    ]
    return table


def call_totals(frame: pd.DataFrame, by: By = "model") -> pd.DataFrame:
    """Return what model calls took, one row per group; a call shared by several results counts once.

    Args:
        frame: A table of `calls_frame`.
        by: Columns to group by.

    Returns:
        The `by` columns, then `calls`, `asked` (sent to a provider), `input_tokens`, `output_tokens`,
        `cost` (US dollars of the calls with a known price), `unpriced` (calls without), `median_seconds`.
    """
    return _table(frame.drop_duplicates("key"), by, _call_row, _CALL_COLUMNS)


_BUCKETS = ("tp", "fp", "tn", "fn")
_CALL_COLUMNS = ("calls", "asked", "input_tokens", "output_tokens", "cost", "unpriced", "median_seconds")


def _names(by: By) -> list[str]:
    return [by] if isinstance(by, str) else list(by)


def _rates(frame: pd.DataFrame, by: By, counts: Mapping[str, Any], success: str) -> pd.DataFrame:
    """Sum up `counts` by group and add the rate of `success` among the evaluated rows, with its interval.

    Works on whole columns, because a grid of questions and models has many thousands of groups.
    """
    import numpy as np

    names = _names(by)
    marked = frame[list(dict.fromkeys([*names, "question_id"]))]
    marks = {name: np.asarray(rows) for name, rows in counts.items()}
    if "keywords" in names:
        marked, places = _by_keyword(marked)
        marks = {name: rows[places] for name, rows in marks.items()}
    groups = keys(marked, names)
    sums = {name: groups.count(rows) for name, rows in marks.items()}
    evaluated = marks["evaluated"]
    if "question_id" in names:  # then the rows of a group are of one question
        questions = (sums["evaluated"] > 0).astype("int64")
        cells = Cells(np.arange(len(groups)), sums["evaluated"], {success: sums[success]})
    else:
        cells = question_cells(marked[evaluated], groups.codes[evaluated], {success: marks[success][evaluated]})
        questions = np.bincount(cells.group, minlength=len(groups))
    n = sums["evaluated"]
    rate = np.divide(sums[success], n, out=np.full(len(groups), math.nan), where=n > 0)
    low, high = wilson(rate, effective_sizes(rate, n, questions, cells, success))
    found = {**sums, "n": groups.count(), "questions": questions, "rate": rate, "low": low, "high": high}
    return labels(groups, marked, names).assign(**found, few=n < FEW)


def _by_keyword(frame: pd.DataFrame) -> tuple[pd.DataFrame, Any]:
    """Return every row once for each keyword of its question, and the place it had."""
    import numpy as np
    import pandas as pd

    questions = keys(frame, ["question_id"])
    own = [tuple(names) if names else (NO_KEYWORD,) for names in frame["keywords"].iloc[questions.first]]
    codes, found = pd.factorize(np.array([name for names in own for name in names], dtype=object))
    sizes = np.array([len(names) for names in own], dtype=np.int64)
    repeats = sizes[questions.codes]
    places = np.repeat(np.arange(len(frame)), repeats)
    # The keywords of a question stand one after the other: its start, and how many of a row came before.
    nth = np.arange(len(places)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    at = np.repeat((np.cumsum(sizes) - sizes)[questions.codes], repeats) + nth
    names = pd.Categorical.from_codes(codes[at], categories=pd.Index(found, dtype="str"))
    return frame.drop(columns="keywords").iloc[places].assign(keywords=names), places


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
    from karenina_core.pipeline import metric_values

    values, undefined = metric_values([metric], **counts)
    return math.nan if undefined else values[metric]


def _call_row(group: pd.DataFrame) -> Row:
    return {
        "calls": len(group),
        "asked": int((group["source"] == "provider").sum()),
        "input_tokens": int(group["input_tokens"].sum()),
        "output_tokens": int(group["output_tokens"].sum()),
        "cost": float(group["cost"].sum()),
        "unpriced": int(group["cost"].isna().sum()),
        "median_seconds": group["seconds"].median(),
    }
