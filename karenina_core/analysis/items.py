"""Item analysis: how hard a question is, and whether it tells good models from weak ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.intervals import LEVEL
from karenina_core.analysis.statistics import pass_rate

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

MIN_EXAMINEES = 5
"""With fewer models and repeats a discrimination says next to nothing."""


def item_analysis(frame: pd.DataFrame) -> pd.DataFrame:
    """Return difficulty and discrimination of every question.

    An examinee is a model, with its repeats and judges averaged; with fewer than five models, every repeat of one.
    Discrimination is the correlation between being right on the question and the share right on all other questions.
    Below 0, the examinees that are better elsewhere are worse here: often the reference answer or the rule is wrong.

    Args:
        frame: A table of `results_frame`.

    Returns:
        The columns of `statistics.pass_rate` by `question_id` and `question` (the share right is `rate`), then
        `examinees`, `discrimination` (-1 to 1; missing with fewer than five examinees, or where all are right or all
        wrong), `discrimination_low` and `discrimination_high` (95 % interval).
    """
    import pandas as pd

    table = pass_rate(frame, ["question_id", "question"])
    decided = frame[frame["verdict"] != "not_evaluated"]
    models = frame["answering_model"].nunique()
    who = ["answering_model"] if models >= MIN_EXAMINEES else ["answering_model", "replicate"]
    examinees = decided.groupby(who, sort=False).ngroup()
    questions = pd.Index(table["question_id"].astype("str")).get_indexer(pd.Index(decided["question_id"].astype("str")))
    scores = (decided["verdict"] == "pass").groupby([questions, examinees.to_numpy()]).mean()
    wide = scores.unstack().reindex(range(len(table)))
    values, low, high = _discriminations(wide.to_numpy(dtype=float))
    found = {"discrimination": values, "discrimination_low": low, "discrimination_high": high}
    return table.assign(examinees=wide.notna().sum(axis=1).to_numpy(), **found)


def _discriminations(scores: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """Return correlation and interval of every row with the mean of all other rows, examinee by examinee."""
    import numpy as np

    known = ~np.isnan(scores)
    filled = np.where(known, scores, 0.0)
    others = known.sum(axis=0) - known
    with np.errstate(invalid="ignore", divide="ignore"):
        rest = (filled.sum(axis=0) - filled) / others
    usable = known & (others > 0)
    columns = tuple(np.full(len(scores), math.nan) for _ in range(3))
    for pattern in np.unique(usable, axis=0) if len(scores) else ():
        if pattern.sum() < MIN_EXAMINEES:
            continue
        rows = np.flatnonzero((usable == pattern).all(axis=1))
        for column, values in zip(columns, _correlated(scores[rows][:, pattern], rest[rows][:, pattern]), strict=True):
            column[rows] = values
    return columns


def _correlated(first: Any, second: Any) -> tuple[Any, ...]:
    """Return the correlation of every row of one array with that row of the other, and its interval."""
    import numpy as np
    from scipy.stats import pearsonr

    found = tuple(np.full(len(first), math.nan) for _ in range(3))
    varied = (np.ptp(first, axis=1) > 0) & (np.ptp(second, axis=1) > 1e-12)
    if varied.any():
        outcome = pearsonr(first[varied], second[varied], axis=1)
        interval = outcome.confidence_interval(LEVEL)
        for column, values in zip(found, (outcome.statistic, interval.low, interval.high), strict=True):
            column[varied] = values
    return found
