"""Rates, means and correlations with their uncertainty: pure functions from the tables of `frames`.

Every summary says how many rows it rests on, how many were left out and why, and whether they are too few to tell.
Tables without rows give summaries without rows. Intervals are 95 % intervals, clustered by question where questions
repeat: repeated answers to one question resemble each other and count for less than as many questions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from karenina_core.analysis.columns import TraitKind

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

LEVEL = 0.95
FEW = 5  # below this number of evaluated rows a rate says next to nothing
NO_KEYWORD = "(no keyword)"  # stands for questions without keywords
MIN_EXAMINEES = 5  # with fewer models and repeats a discrimination says next to nothing
MOST_TRAITS = 15  # more make a grid of correlations that nobody reads; the first ones are taken
SAME = 0.9  # from this correlation on, two traits hardly tell anything different
QUANTILES = {"p10": 0.1, "median": 0.5, "p90": 0.9, "p99": 0.99}
_BUCKETS = ("tp", "fp", "tn", "fn")

By = str | Sequence[str]


# Intervals


class Proportion(NamedTuple):
    """A share of successes with its Wilson interval; not numbers when there is nothing to share.

    Attributes:
        successes: Rows that succeeded.
        n: All rows.
        rate: Their share, 0 to 1.
        low: Lower end of the interval.
        high: Upper end.
    """

    successes: int
    n: int
    rate: float
    low: float
    high: float


def proportion(outcomes: Sequence[bool], questions: Sequence[str] = ()) -> Proportion:
    """Return a share with its interval, which is Wilson's for the effective sample size.

    Where every question occurs once this is the plain Wilson interval.

    Args:
        outcomes: True for a success.
        questions: The question of each outcome; without it every outcome stands for itself.
    """
    import pandas as pd

    n = len(outcomes)
    if not n:
        return Proportion(0, 0, math.nan, math.nan, math.nan)
    frame = pd.DataFrame({"question_id": list(questions) or range(n), "verdict": pd.Series(outcomes, dtype=bool)})
    [row] = _rates(frame, (), {"passed": frame["verdict"], "evaluated": frame["verdict"] | True}, "passed").to_dict(
        "records"
    )
    return Proportion(row["passed"], n, row["rate"], row["low"], row["high"])


def wilson(rates: Any, sizes: Any) -> tuple[Any, Any]:
    """Return the lower and upper ends of the Wilson score intervals of shares.

    Args:
        rates: The shares, 0 to 1; not a number where there is none.
        sizes: The numbers of rows they were observed in.

    Returns:
        Two arrays, not numbers where there is no share.
    """
    import numpy as np
    from statsmodels.stats.proportion import proportion_confint

    shares, rows = np.asarray(rates, dtype=float), np.asarray(sizes, dtype=float)
    low, high = np.full(shares.shape, math.nan), np.full(shares.shape, math.nan)
    known = rows > 0
    if known.any():
        counts = shares[known] * rows[known]
        low[known], high[known] = proportion_confint(counts, rows[known], alpha=1 - LEVEL, method="wilson")
    return low, high


def mean_interval(values: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """Return the t interval of a mean.

    Not numbers when there are fewer than two values or all are equal: then nothing tells how far they scatter.

    Args:
        values: The values.
        level: How often such intervals hold the true mean, 0 to 1.
    """
    if len(set(values)) < 2:
        return math.nan, math.nan
    from statsmodels.stats.weightstats import DescrStatsW

    low, high = DescrStatsW(list(values)).tconfint_mean(alpha=1 - level)
    return float(low), float(high)


# Groups and clusters


class Groups:
    """Rows of a table by the values of some columns; a missing value is a value of its own.

    Attributes:
        codes: By row the number of its group; groups are numbered in the order in which they appear.
        first: By group the place of its first row.
        labels: The values of the columns, one row per group.
    """

    def __init__(self, frame: pd.DataFrame, names: Sequence[str]) -> None:
        """Group by these columns; without any, all rows are one group."""
        import numpy as np

        codes = np.zeros(len(frame), dtype="int64")
        if names:
            codes = frame.groupby(list(names), sort=False, dropna=False, observed=True).ngroup().to_numpy()
        self.codes: np.ndarray[Any, Any] = codes
        self.first: np.ndarray[Any, Any] = np.unique(codes, return_index=True)[1]
        self.labels = frame[list(names)].iloc[self.first].reset_index(drop=True)

    def __len__(self) -> int:
        """Return how many groups there are."""
        return len(self.first)

    def count(self, rows: Any = None) -> np.ndarray[Any, Any]:
        """Return how many rows every group has: all, or those for which `rows` is true."""
        import numpy as np

        return np.bincount(self.codes if rows is None else self.codes[rows], minlength=len(self))

    def total(self, values: Any) -> np.ndarray[Any, Any]:
        """Return the sum of a value of every row by group."""
        import numpy as np

        return np.bincount(self.codes, np.asarray(values, dtype=float), minlength=len(self))


class _Cells(NamedTuple):
    """The rows of every question in every group: their group, how many they are, and sums of values over them."""

    group: np.ndarray[Any, Any]
    size: np.ndarray[Any, Any]
    sums: Mapping[str, np.ndarray[Any, Any]]


def _question_cells(rows: pd.DataFrame, codes: Any, values: Mapping[str, Any]) -> _Cells:
    cells = Groups(rows[["question_id"]].assign(group=codes), ["group", "question_id"])
    sums = {name: cells.total(own) for name, own in values.items()}
    return _Cells(cells.labels["group"].to_numpy(), cells.count(), sums)


def _clustered_interval(rate: Any, n: Any, questions: Any, cells: _Cells, success: str) -> tuple[Any, Any]:
    """Return Wilson's intervals of shares for how many independent rows those of each group are worth."""
    import numpy as np

    # The clustered variance of a mean: squared sums of what a question's answers differ from it.
    away = cells.sums[success] - rate[cells.group] * cells.size
    error = np.bincount(cells.group, away**2, minlength=len(n)) / np.where(n > 0, n, 1) ** 2
    spread = rate * (1 - rate)
    worth = np.where(error > 0, np.minimum(n, spread / np.where(error > 0, error, 1)), n)
    # Without variation nothing tells how alike repeats are: only questions count. The repeats of one question alone
    # are what is asked about, and independent.
    sizes = np.where((questions < 2) | (questions == n), n, np.where(spread == 0, questions, worth))
    return wilson(rate, sizes)


def _divided(part: Any, whole: Any) -> Any:
    """Return quotients, not numbers where there is nothing to divide by."""
    import numpy as np

    return np.divide(part, whole, out=np.full(np.shape(whole), math.nan), where=np.asarray(whole) > 0)


# Rates, means and metrics


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


def _rates(frame: pd.DataFrame, by: By, counts: Mapping[str, Any], success: str) -> pd.DataFrame:
    """Sum up `counts` by group and add the rate of `success` among the evaluated rows, with its interval.

    Works on whole columns, because a grid of questions and models has many thousands of groups.
    """
    import numpy as np

    names = _names(by)
    marked = frame[list(dict.fromkeys([*names, "question_id"]))]
    marks = {name: np.asarray(rows) for name, rows in counts.items()}
    if "keywords" in names:
        places = marked.reset_index(drop=True)["keywords"].map(lambda own: own or [NO_KEYWORD]).explode()
        marked = marked.iloc[places.index].assign(keywords=places.astype("str").to_numpy())
        marks = {name: rows[places.index] for name, rows in marks.items()}
    groups, evaluated = Groups(marked, names), marks["evaluated"]
    sums = {name: groups.count(rows) for name, rows in marks.items()}
    n = sums["evaluated"]
    cells = _question_cells(marked[evaluated], groups.codes[evaluated], {success: marks[success][evaluated]})
    questions = np.bincount(cells.group, minlength=len(groups))
    rate = _divided(sums[success], n)
    low, high = _clustered_interval(rate, n, questions, cells, success)
    found = {**sums, "n": groups.count(), "questions": questions, "rate": rate, "low": low, "high": high}
    return groups.labels.assign(**found, few=n < FEW)


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
    groups, value = Groups(plain, names), plain["value"].to_numpy()
    valued = ~np.isnan(value)
    cells = _question_cells(plain[valued], groups.codes[valued], {"yes": value[valued] == 1, "value": value[valued]})
    n, questions = groups.count(valued), np.bincount(cells.group, minlength=len(groups))
    mean = _divided(np.bincount(cells.group, cells.sums["yes"], len(groups)), n)
    low, high = map(np.array, _clustered_interval(mean, n, questions, cells, "yes"))
    means = cells.sums["value"] / cells.size
    for group in np.unique(groups.codes[(plain["kind"] == "llm_score").to_numpy() & valued]):
        own = means[cells.group == group]
        mean[group], (low[group], high[group]) = own.mean(), mean_interval(own.tolist())
    spread = plain["value"].groupby(groups.codes).agg(["std", "median"])
    found = {"n": n, "missing": groups.count() - n, "questions": questions, "mean": mean}
    scatter = {"sd": spread["std"].to_numpy(), "median": spread["median"].to_numpy()}
    return groups.labels.assign(**found, **scatter, low=low, high=high, few=n < FEW)


def label_shares(
    frame: pd.DataFrame, by: By = ("trait", "answering_model"), kind: TraitKind = "llm_literal"
) -> pd.DataFrame:
    """Return how often each class of a literal trait was chosen, one row per group and class.

    Args:
        frame: A table of `traits_frame`.
        by: Columns to group by.
        kind: Kind of the traits; the classes of a score are the scores that occur.

    Returns:
        The `by` columns, then `label`, `index` (its place among the classes), `count`, `n` (rows of the group),
        `share`.
    """
    import numpy as np

    names = _names(by)
    literal = frame[(frame["kind"] == kind) & (frame["label"] != "")]
    groups, of = Groups(literal, [*names, "label"]), Groups(literal, names)
    lowest = literal["value"].groupby(groups.codes).min().to_numpy()
    n = of.count()[of.codes[groups.first]]
    table = groups.labels.assign(index=lowest, count=groups.count(), n=n, share=_divided(groups.count(), n))
    return table.iloc[np.argsort(of.codes[groups.first], kind="stable")].reset_index(drop=True)


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
    groups, value = Groups(metrics, names), metrics["value"].to_numpy()
    valued, undefined = ~np.isnan(value), metrics["undefined"].to_numpy(dtype=bool)
    cells = _question_cells(metrics[valued], groups.codes[valued], {"value": value[valued]})
    n, questions = groups.count(valued), np.bincount(cells.group, minlength=len(groups))
    means = np.bincount(cells.group, cells.sums["value"] / cells.size, len(groups))
    counts = {name: groups.total(metrics[name].to_numpy(dtype=float, na_value=0)).astype("int64") for name in _BUCKETS}
    without = groups.count(undefined)
    table = groups.labels.assign(n=n, undefined=without, missing=groups.count() - n - without, questions=questions)
    micro = [
        _micro(str(metric), dict(zip(_BUCKETS, map(int, row), strict=True)))
        for metric, *row in zip(table["metric"], *counts.values(), strict=True)
    ]
    return table.assign(macro=_divided(means, questions), micro=np.array(micro, dtype=float), **counts, few=n < FEW)


def _micro(metric: str, counts: Mapping[str, int]) -> float:
    from karenina_core.pipeline import metric_values

    values, undefined = metric_values([metric], **counts)
    return math.nan if undefined else values[metric]


def call_totals(frame: pd.DataFrame, by: By = "model") -> pd.DataFrame:
    """Return what model calls took, one row per group; a call shared by several results counts once.

    Args:
        frame: A table of `calls_frame`.
        by: Columns to group by.

    Returns:
        The `by` columns, then `calls`, `asked` (sent to a provider), `input_tokens`, `output_tokens`,
        `cost` (US dollars of the calls with a known price), `unpriced` (calls without), `median_seconds`.
    """
    calls = frame.drop_duplicates("key")
    groups = Groups(calls, _names(by))
    rows = calls[["input_tokens", "output_tokens", "cost"]].groupby(groups.codes).sum()
    return groups.labels.assign(
        calls=groups.count(),
        asked=groups.count((calls["source"] == "provider").to_numpy()),
        input_tokens=rows["input_tokens"].to_numpy(dtype=int),
        output_tokens=rows["output_tokens"].to_numpy(dtype=int),
        cost=rows["cost"].to_numpy(),
        unpriced=groups.count(calls["cost"].isna().to_numpy()),
        median_seconds=calls["seconds"].groupby(groups.codes).median().to_numpy(),
    )


def _names(by: By) -> list[str]:
    return [by] if isinstance(by, str) else list(by)


# Cost and time


def cost_quality(frame: pd.DataFrame) -> pd.DataFrame:
    """Return price and pass rate of every answering model, and which models nobody beats on both.

    Args:
        frame: A table of `results_frame`.

    Returns:
        The columns of `pass_rate` by `answering_model`, then `priced` (rows with a known price), `cost` (mean US
        dollars of the call that answered, as it was when the model was asked, also where the ledger answered this
        time; missing when none is known), and `best` (no other model is at least as often right for at most the same
        price, and better in one of them).
    """
    table = pass_rate(frame, "answering_model")
    costs = frame.groupby("answering_model", sort=False)["answer_cost"].agg(["count", "mean"])
    costs = costs.reindex(table["answering_model"])
    priced, cost = costs["count"].astype("int64").to_numpy(), costs["mean"].to_numpy(dtype=float)
    table = table.assign(priced=priced, cost=cost)
    return table.assign(best=[_unbeaten(*pair, table) for pair in zip(cost, table["rate"], strict=True)])


def _unbeaten(cost: Any, rate: Any, table: pd.DataFrame) -> bool:
    if cost != cost or rate != rate:
        return False
    as_good = (table["cost"] <= cost) & (table["rate"] >= rate)
    return not (as_good & ((table["cost"] < cost) | (table["rate"] > rate))).any()


def latencies(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how long answering models take, one row each.

    Args:
        frame: A table of `results_frame`.

    Returns:
        `answering_model`, `of` (`answer`: the call that answered; `evaluation`: the whole evaluation, where no time
        of a call is known), `n` (rows with a time), `missing`, `p10`, `median`, `p90`, `p99` (seconds), `few`.
    """
    of, column = ("answer", "answer_seconds") if frame["answer_seconds"].notna().any() else ("evaluation", "seconds")
    groups = frame.groupby("answering_model", sort=False)[column]
    quantiles = {name: groups.quantile(share) for name, share in QUANTILES.items()}
    n = groups.count()
    table = n.to_frame("n").assign(of=of, missing=groups.size() - n, **quantiles, few=n < FEW)
    return table.reset_index()[["answering_model", "of", "n", "missing", *QUANTILES, "few"]]


# Items and redundancy


def item_analysis(frame: pd.DataFrame) -> pd.DataFrame:
    """Return difficulty and discrimination of every question.

    An examinee is a model, with its repeats and judges averaged; with fewer than five models, every repeat of one.
    Discrimination is the correlation between being right on the question and the share right on all other questions.
    Below 0, the examinees that are better elsewhere are worse here: often the reference answer or the rule is wrong.

    Args:
        frame: A table of `results_frame`.

    Returns:
        The columns of `pass_rate` by `question_id` and `question` (the share right is `rate`), then `examinees`,
        `discrimination` (-1 to 1; missing with fewer than five examinees, or where all are right or all wrong),
        `discrimination_low` and `discrimination_high` (95 % interval).
    """
    table = pass_rate(frame, ["question_id", "question"])
    scores = _examinee_scores(frame)
    values, low, high = _discriminations(scores)
    found = {"discrimination": values, "discrimination_low": low, "discrimination_high": high}
    return table.assign(examinees=(scores == scores).sum(axis=1), **found)


def _examinee_scores(frame: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return the share right, one row per question in the order of the table, one column per examinee."""
    import numpy as np

    models = Groups(frame, ["answering_model"])
    examinees = models if len(models) >= MIN_EXAMINEES else Groups(frame, ["answering_model", "replicate"])
    questions = Groups(frame, ["question_id", "question"])
    cells, shape = questions.codes * len(examinees) + examinees.codes, (len(questions), len(examinees))
    right, decided = (
        np.bincount(cells[rows], minlength=shape[0] * shape[1]).reshape(shape)
        for rows in (frame["verdict"] == "pass", frame["verdict"] != "not_evaluated")
    )
    shares = _divided(right, decided)
    # Who decided nothing at all is no examinee.
    known: np.ndarray[Any, Any] = shares[:, ~np.isnan(shares).all(axis=0)]
    return known


def _discriminations(scores: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """Return correlation and interval of every row with the mean of all other rows, examinee by examinee."""
    import numpy as np

    known = ~np.isnan(scores)
    filled = np.where(known, scores, 0.0)
    others = known.sum(axis=0) - known
    rest = _divided(filled.sum(axis=0) - filled, others)
    usable = known & (others > 0)
    columns = tuple(np.full(len(scores), math.nan) for _ in range(3))
    for pattern in np.unique(usable, axis=0) if len(scores) else ():
        if pattern.sum() < MIN_EXAMINEES:
            continue
        rows = np.flatnonzero((usable == pattern).all(axis=1))
        for column, values in zip(columns, _correlated(scores[rows][:, pattern], rest[rows][:, pattern]), strict=True):
            column[rows] = values
    return columns


def trait_correlations(frame: pd.DataFrame) -> pd.DataFrame:
    """Return Spearman's correlation of every two traits, one row per pair.

    Scores are averaged over the repeats and judges of a question and model first, so that repeats do not pretend to
    be new evidence.

    Args:
        frame: A table of `traits_frame`; scores, yes-or-no and pattern traits are compared.

    Returns:
        `first` and `second`, `n` (questions and models with a value of both), `correlation` (-1 to 1, missing where
        one of them never changes), `low` and `high` (95 % interval), `few`.
    """
    import pandas as pd

    scored = frame[frame["kind"].isin(["llm_score", "llm_binary", "regex"]) & frame["value"].notna()]
    names = scored["trait"].astype("str").unique()[:MOST_TRAITS]
    means = scored.groupby(["question_id", "answering_model", "trait"], sort=False, observed=True)["value"].mean()
    wide, rows = means.unstack("trait"), []
    for first, second in combinations(names, 2):
        # Spearman's correlation is Pearson's of the ranks.
        ranks = wide[[first, second]].dropna().rank().to_numpy()
        rows.append(
            [
                first,
                second,
                len(ranks),
                *(float(value[0]) for value in _correlated(*ranks.T[:, None])),
                len(ranks) < FEW,
            ]
        )
    return pd.DataFrame(rows, columns=["first", "second", "n", "correlation", "low", "high", "few"])


def _correlated(first: Any, second: Any) -> tuple[Any, ...]:
    """Return the correlation of every row of one array with that row of the other, and its interval."""
    import numpy as np
    from scipy.stats import pearsonr

    found = tuple(np.full(len(first), math.nan) for _ in range(3))
    if first.shape[1] < 2:
        return found
    varied = (np.ptp(first, axis=1) > 0) & (np.ptp(second, axis=1) > 1e-12)
    if varied.any():
        outcome = pearsonr(first[varied], second[varied], axis=1)
        interval = outcome.confidence_interval(LEVEL)
        for column, values in zip(found, (outcome.statistic, interval.low, interval.high), strict=True):
            column[varied] = values
    return found
