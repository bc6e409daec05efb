"""How far judges agree with each other, with people and with themselves.

A table of ratings has one row per unit and rater. Its columns: `unit` (a number; equal units are about the same
thing), `question_id`, `run_id`, `result_id` (the evaluation behind the rating), `item` (a field, or empty),
`rater` and `label`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from karenina_core.analysis.statistics import proportion
from karenina_core.schemas import Annotation

if TYPE_CHECKING:
    import pandas as pd

PEOPLE = "People"
UNDECIDED = ("not_evaluated", "undecided")  # no opinion: left out of every agreement, and counted
FEW_RATINGS = 10  # below this number of common ratings an agreement says next to nothing
_ANSWER = ["run_id", "question_id", "answering_model", "replicate"]
_COLUMNS = ["unit", "question_id", "run_id", "result_id", "item", "rater", "label"]
_NO_VERDICT = ("unparseable", "abstained", "technical")


# Who said what


def verdict_ratings(frame: pd.DataFrame, annotations: Iterable[Annotation] = ()) -> pd.DataFrame:
    """Return the verdicts of every judge on every answer, and of people where they reviewed one.

    Args:
        frame: A results table with a column `run_id`.
        annotations: Reviews of its results; of those about one answer, the latest counts.
    """
    rated = frame.assign(item="", rater=frame["parsing_model"].astype("str"), label=frame["verdict"].astype("str"))
    return _with_people(_with_units(rated, _ANSWER), [item for item in annotations if item.field is None])


def field_ratings(fields: pd.DataFrame, annotations: Iterable[Annotation] = ()) -> pd.DataFrame:
    """Return what every judge's extraction led to, field by field, and what people say where they reviewed one.

    Args:
        fields: A table of `fields_frame` with a column `run_id`.
        annotations: Reviews of its results; those of a field count.
    """
    rated = fields.assign(
        item=fields["field"].astype("str"),
        rater=fields["parsing_model"].astype("str"),
        label=fields["state"].astype("str"),
    )
    return _with_people(
        _with_units(rated, [*_ANSWER, "field"]), [item for item in annotations if item.field is not None]
    )


def repeat_ratings(frame: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Return the verdicts of one judge on the repeats of every question and model; a rater is a repeat.

    Args:
        frame: A results table with a column `run_id`.
        judge: The judge.
    """
    own = frame[frame["parsing_model"] == judge]
    rated = own.assign(item="", rater="repeat " + own["replicate"].astype("str"), label=own["verdict"].astype("str"))
    return _with_units(rated, ["run_id", "question_id", "answering_model"])


def human_label(machine: str, annotation: Annotation) -> str:
    """Return what a person's review says the verdict, or the state of a field, should have been.

    Args:
        machine: What the machine said.
        annotation: The review of it.
    """
    if annotation.agrees or machine in UNDECIDED:
        # Without a verdict, disagreeing does not say which one it should have been.
        return machine
    if annotation.field is not None:
        return "wrong" if machine == "right" else "right"
    if annotation.cause in _NO_VERDICT:
        return "not_evaluated"
    return "fail" if machine == "pass" else "pass"


def _with_units(rated: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    return rated.assign(unit=rated.groupby(by, sort=False, observed=True).ngroup())[_COLUMNS]


def _with_people(ratings: pd.DataFrame, annotations: Sequence[Annotation]) -> pd.DataFrame:
    import pandas as pd

    in_order = sorted(annotations, key=lambda item: item.at)
    latest = {(item.run_id, item.result_id, item.field or ""): item for item in in_order}
    if not latest:
        return ratings
    keys = pd.MultiIndex.from_frame(ratings[["run_id", "result_id", "item"]].astype("str"))
    reviewed = zip(keys, ratings.to_dict("records"), strict=True)
    rows = [(latest[key], row) for key, row in reviewed if key in latest]
    # A person who looked at one judge's verdict has an opinion of the answer, and so of the other judges' verdicts.
    by_unit = {
        row["unit"]: {**row, "rater": PEOPLE, "label": human_label(str(row["label"]), annotation)}
        for annotation, row in sorted(rows, key=lambda pair: pair[0].at)
    }
    return pd.concat([ratings, pd.DataFrame(list(by_unit.values()), columns=_COLUMNS)], ignore_index=True)


# How far they agree


class Kappa(NamedTuple):
    """Cohen's kappa with its 95 % interval; not numbers where it is 0/0.

    Full agreement has no interval: nothing tells how far it would scatter. Else the interval is the asymptotic one,
    which takes ratings as independent: for few ratings it is rough.
    """

    value: float
    low: float
    high: float


class Consistency(NamedTuple):
    """How often a judge gives repeats of a question the same verdict.

    Attributes:
        judge: Its name.
        same: Questions (of one model) whose repeats all have the same verdict.
        n: Questions with two verdicts at least.
        share: Of the two, 0 to 1, with its 95 % interval.
        low: Lower end.
        high: Upper end.
        alpha: Krippendorff's alpha of the repeats.
    """

    judge: str
    same: int
    n: int
    share: float
    low: float
    high: float
    alpha: float


def agreement(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return how far every two raters agree on what both rated.

    Returns:
        `a`, `b` (people last), `n` (units that both rated with an opinion), `agreed`, `share` with its Wilson
        interval `low` and `high`, `kappa` (Cohen's) with `kappa_low` and `kappa_high`, `alpha` (Krippendorff's, of
        the two), `left_out` (units that both looked at, where one has no opinion), `few`.
    """
    import pandas as pd

    wide = _wide(ratings)
    questions = ratings.groupby("unit", sort=False)["question_id"].first().astype("str").reindex(wide.index)
    rows = [_agreement_row(wide[[a, b]], questions) for a, b in combinations(raters_of(ratings), 2)]
    names = "a b n agreed share low high kappa kappa_low kappa_high alpha left_out few"
    return pd.DataFrame(rows, columns=names.split())


def raters_of(ratings: pd.DataFrame) -> list[str]:
    """Return the raters in the order in which they appear, people last."""
    names = [str(name) for name in ratings["rater"].unique()]
    return [name for name in names if name != PEOPLE] + [name for name in names if name == PEOPLE]


def kappa(table: pd.DataFrame) -> Kappa:
    """Return Cohen's kappa of a square table of counts, labels of one rater by labels of the other."""
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa

    total = table.to_numpy(dtype=float).sum()
    expected = float((table.sum(axis=1) * table.sum(axis=0)).sum())
    if not total or expected == total**2:
        return Kappa(math.nan, math.nan, math.nan)
    # Also computes a test, which divides by nothing where no label is common to both; it is not used.
    with np.errstate(divide="ignore", invalid="ignore"):
        found = cohens_kappa(table.to_numpy())
    if not found.std_kappa:
        return Kappa(float(found.kappa), math.nan, math.nan)
    return Kappa(float(found.kappa), max(-1.0, float(found.kappa_low)), min(1.0, float(found.kappa_upp)))


def krippendorff_alpha(ratings: pd.DataFrame) -> float:
    """Return Krippendorff's alpha of all raters, whoever rated which unit; for labels without an order.

    Returns:
        1 for full agreement, 0 for what chance gives; not a number when no unit has two opinions, or when there is
        only one opinion in all.
    """
    given = ratings[~ratings["label"].isin(UNDECIDED)]
    counts = given.groupby(["unit", "label"], observed=True).size().unstack(fill_value=0)
    counts = counts[counts.sum(axis=1) > 1]
    if counts.shape[1] < 2 or counts.empty:
        return math.nan
    import krippendorff

    return float(krippendorff.alpha(value_counts=counts.to_numpy(), level_of_measurement="nominal"))


def consistency(ratings: pd.DataFrame, judge: str) -> Consistency:
    """Return how often repeats got the same verdict.

    Different repeats are different answers, so this is what the model and its judge do together.

    Args:
        ratings: See `repeat_ratings`.
        judge: The judge's name.
    """
    given = ratings[~ratings["label"].isin(UNDECIDED)]
    units = given.groupby("unit").agg(
        n=("label", "size"), labels=("label", "nunique"), question=("question_id", "first")
    )
    several = units[units["n"] > 1]
    share = proportion((several["labels"] == 1).to_list(), several["question"].to_list())
    return Consistency(judge, *share, krippendorff_alpha(ratings))


def label_pairs(ratings: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """Return how often which label of one rater met which label of another, labels without an opinion included.

    Returns:
        `a_label`, `b_label` and `n`, the most frequent first.
    """
    both = _wide(ratings).reindex(columns=[a, b]).dropna().set_axis(["a_label", "b_label"], axis=1)
    return both.value_counts(sort=True).rename("n").reset_index()


def ratings_behind(
    ratings: pd.DataFrame, a: str, b: str, a_label: str | None = None, b_label: str | None = None
) -> pd.DataFrame:
    """Return the evaluations behind a pair of labels.

    Args:
        ratings: See `ratings`.
        a: One rater.
        b: The other.
        a_label: What the one said; with neither label, all on which the two differ.
        b_label: What the other said.

    Returns:
        One row per unit: `question_id`, `run_id`, `item`, `a_result`, `b_result` (result ids), `a_label`, `b_label`.
    """
    one, other = (ratings[ratings["rater"] == name].drop_duplicates("unit").set_index("unit") for name in (a, b))
    both = one[["question_id", "run_id", "item"]].assign(a_result=one["result_id"], a_label=one["label"])
    both = both.join(other[["result_id", "label"]].set_axis(["b_result", "b_label"], axis=1), how="inner")
    if a_label is None and b_label is None:
        chosen = both["a_label"] != both["b_label"]
    else:
        chosen = (both["a_label"] == a_label) & (both["b_label"] == b_label)
    names = ["question_id", "run_id", "item", "a_result", "a_label", "b_result", "b_label"]
    return both.loc[chosen, names].reset_index(drop=True)


def _wide(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return one row per unit and one column per rater; where a rater speaks twice, the first counts."""
    single = ratings.drop_duplicates(["unit", "rater"])
    return single.pivot(index="unit", columns="rater", values="label").astype(object)


def _agreement_row(wide: pd.DataFrame, questions: pd.Series[str]) -> list[Any]:
    a, b = map(str, wide.columns)
    seen = wide.dropna()
    decided = seen[~seen.isin(UNDECIDED).any(axis=1)]
    same = decided[a] == decided[b]
    share = proportion(same.to_list(), questions.loc[decided.index].to_list())
    labels = sorted({*decided[a], *decided[b]})
    crossed = decided.groupby([a, b]).size().unstack(fill_value=0)
    value = kappa(crossed.reindex(index=labels, columns=labels, fill_value=0))
    alpha = krippendorff_alpha(decided.melt(ignore_index=False, value_name="label").reset_index())
    left_out = len(seen) - len(decided)
    return [a, b, share.n, share.successes, *share[2:], *value, alpha, left_out, share.n < FEW_RATINGS]
