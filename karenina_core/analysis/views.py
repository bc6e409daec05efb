"""Which results a person looks at: quick views by outcome, and filters by question, keyword, model and judge.

Filters say what is looked at, so that rates may be taken over what they keep. Quick views choose by outcome: a pass
rate over failures says nothing, so they are for lists only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from karenina_core.analysis.statistics import Groups

if TYPE_CHECKING:
    import pandas as pd

Mask = Any  # a boolean for every row of a table


class View(NamedTuple):
    """A quick view of a table of results.

    Attributes:
        label: Its name.
        meaning: Which results it shows.
        rows: Says of every row of a results table whether it belongs.
    """

    label: str
    meaning: str
    rows: Callable[[pd.DataFrame], Mask]


def _verdict(wanted: str) -> Callable[[pd.DataFrame], Mask]:
    return lambda results: results["verdict"] == wanted


def _errors(results: pd.DataFrame) -> Mask:
    return (results["verdict"] == "not_evaluated") & (results["status"] == "failed")


def unstable(results: pd.DataFrame) -> Mask:
    """Say of every row whether repeats of the same question, model and judge came to different verdicts."""
    repeats = Groups(results, ("question_id", "answering_model", "parsing_model"))
    passed, failed = (repeats.count((results["verdict"] == verdict).to_numpy()) for verdict in ("pass", "fail"))
    return ((passed > 0) & (failed > 0))[repeats.codes]


def models_differ(results: pd.DataFrame) -> Mask:
    """Say of every row whether one model is mostly right on its question and another mostly wrong, by the same judge.

    A model that is right in exactly half of its repeats counts on neither side.
    """
    by_model = Groups(results, ("question_id", "parsing_model", "answering_model"))
    questions = Groups(results, ("question_id", "parsing_model"))
    passed, failed = (by_model.count((results["verdict"] == verdict).to_numpy()) for verdict in ("pass", "fail"))
    better, worse = (passed > failed)[by_model.codes], (passed < failed)[by_model.codes]
    return ((questions.count(better) > 0) & (questions.count(worse) > 0))[questions.codes]


def flagged(results: pd.DataFrame) -> Mask:
    """Say of every row whether its answer seems to address the judge, or a person disagrees with the verdict.

    Args:
        results: A results table; a column `disputed` says with whose verdict a person disagrees.
    """
    return results["flagged"] | results["disputed"] if "disputed" in results else results["flagged"]


VIEWS: dict[str, View] = {
    "all": View("All", "every evaluation.", lambda results: results["verdict"].notna()),
    "failures": View("Failures", "evaluations whose verdict is fail.", _verdict("fail")),
    "passes": View("Passes", "evaluations whose verdict is pass.", _verdict("pass")),
    "none": View(
        "Not evaluated", "evaluations without a verdict, errors among them. They count in no rate.",
        _verdict("not_evaluated"),
    ),
    "errors": View("Errors", "evaluations where something broke before there was a verdict.", _errors),
    "unstable": View("Unstable over replicates", "answers whose repeats came to different verdicts.", unstable),
    "differ": View(
        "Models differ", "evaluations of questions that one model gets mostly right and another mostly wrong.",
        models_differ,
    ),
    "flagged": View(
        "Flagged", "answers that seem to address their judge, and verdicts that a person disagrees with.", flagged
    ),
}  # fmt: skip


def narrowed(
    results: pd.DataFrame,
    search: str = "",
    keywords: Sequence[str] = (),
    models: Sequence[str] = (),
    judges: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the rows that all filters keep; an empty filter keeps everything.

    Args:
        results: A results table.
        search: Part of the question's text, in upper or lower case.
        keywords: Questions with any of these keywords.
        models: Answering models.
        judges: Judges.
    """
    import numpy as np

    shown = np.ones(len(results), dtype=bool)
    if search:
        texts = results["question"].astype("category")
        found = texts.cat.categories.str.contains(search, case=False, regex=False)
        shown &= np.append(found, False)[texts.cat.codes]
    if keywords:
        once = results.drop_duplicates("question_id").set_index("question_id")["keywords"]
        having = once.index[once.map(lambda own: not set(own).isdisjoint(keywords)).astype(bool)]
        shown &= results["question_id"].isin(having).to_numpy()
    for column, wanted in (("answering_model", models), ("parsing_model", judges)):
        if wanted:
            shown &= results[column].isin(list(wanted)).to_numpy()
    return results if shown.all() else results[shown]


def keywords_of(results: pd.DataFrame) -> list[str]:
    """Return all keywords of the questions, in the order of the alphabet."""
    once = results.drop_duplicates("question_id")["keywords"]
    return sorted({str(keyword) for keywords in once for keyword in keywords})
