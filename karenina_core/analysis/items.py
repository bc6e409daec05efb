"""Item analysis: how hard a question is, and whether it tells good models from weak ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.groups import keys
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
    table = pass_rate(frame, ["question_id", "question"])
    scores = _scores(frame)
    values, low, high = _discriminations(scores)
    found = {"discrimination": values, "discrimination_low": low, "discrimination_high": high}
    return table.assign(examinees=(scores == scores).sum(axis=1), **found)


def _scores(frame: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return the share right, one row per question in the order of the table, one column per examinee."""
    import numpy as np

    models = keys(frame, ["answering_model"])
    examinees = models if len(models) >= MIN_EXAMINEES else keys(frame, ["answering_model", "replicate"])
    questions = keys(frame, ["question_id", "question"])
    cells, shape = questions.codes * len(examinees) + examinees.codes, (len(questions), len(examinees))
    passed, decided = frame["verdict"] == "pass", frame["verdict"] != "not_evaluated"
    right, all_of_them = (np.bincount(cells[rows], minlength=shape[0] * shape[1]) for rows in (passed, decided))
    shares = np.divide(right, all_of_them, out=np.full(len(right), math.nan), where=all_of_them > 0).reshape(shape)
    # Who decided nothing at all is no examinee.
    known: np.ndarray[Any, Any] = shares[:, ~np.isnan(shares).all(axis=0)]
    return known


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
