"""Who said what about the same answer: judges, people, and the same judge again.

A table of ratings has one row per unit and rater. Its columns: `unit` (a number; equal units are about the same
thing), `question_id`, `run_id`, `result_id` (the evaluation behind the rating), `item` (a field, or empty),
`rater` and `label`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from karenina_core.schemas import Annotation

if TYPE_CHECKING:
    import pandas as pd

PEOPLE = "People"
UNDECIDED = ("not_evaluated", "undecided")
"""Labels that are no opinion: they are left out of every agreement, and counted."""

ANSWER = ["run_id", "question_id", "answering_model", "replicate"]
COLUMNS = ["unit", "question_id", "run_id", "result_id", "item", "rater", "label"]
_NO_VERDICT = ("unparseable", "abstained", "technical")


def verdict_ratings(frame: pd.DataFrame, annotations: Iterable[Annotation] = ()) -> pd.DataFrame:
    """Return the verdicts of every judge on every answer, and of people where they reviewed one.

    Args:
        frame: A results table with a column `run_id`.
        annotations: Reviews of its results; of those about one answer, the latest counts.
    """
    rated = frame.assign(unit=_units(frame, ANSWER), item="", rater=frame["parsing_model"], label=frame["verdict"])
    return _with_people(rated[COLUMNS], [item for item in annotations if item.field is None])


def field_ratings(fields: pd.DataFrame, annotations: Iterable[Annotation] = ()) -> pd.DataFrame:
    """Return what every judge's extraction led to, field by field, and what people say where they reviewed one.

    Args:
        fields: A table of `fields_frame` with a column `run_id`.
        annotations: Reviews of its results; those of a field count.
    """
    rated = fields.assign(
        unit=_units(fields, [*ANSWER, "field"]), item=fields["field"], rater=fields["parsing_model"],
        label=fields["state"],
    )  # fmt: skip
    return _with_people(rated[COLUMNS], [item for item in annotations if item.field is not None])


def repeat_ratings(frame: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Return the verdicts of one judge on the repeats of every question and model; a rater is a repeat.

    Args:
        frame: A results table with a column `run_id`.
        judge: The judge.
    """
    own = frame[frame["parsing_model"] == judge]
    unit = _units(own, ["run_id", "question_id", "answering_model"])
    return own.assign(unit=unit, item="", rater="repeat " + own["replicate"].astype(str), label=own["verdict"])[COLUMNS]


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


def _with_people(ratings: pd.DataFrame, annotations: list[Annotation]) -> pd.DataFrame:
    import pandas as pd

    latest = {(item.run_id, item.result_id, item.field or ""): item for item in sorted(annotations, key=_when)}
    if not latest:
        return ratings
    keys = pd.MultiIndex.from_frame(ratings[["run_id", "result_id", "item"]].astype(str))
    reviewed = ratings[keys.isin(list(latest))]
    rows = [
        (latest[run_id, result_id, item], row)
        for row in reviewed.to_dict("records")
        for run_id, result_id, item in [(str(row["run_id"]), str(row["result_id"]), str(row["item"]))]
    ]
    # A person who looked at one judge's verdict has an opinion of the answer, and so of the other judges' verdicts.
    by_unit = {
        row["unit"]: {**row, "rater": PEOPLE, "label": human_label(str(row["label"]), annotation)}
        for annotation, row in sorted(rows, key=lambda pair: _when(pair[0]))
    }
    return pd.concat([ratings, pd.DataFrame(list(by_unit.values()), columns=COLUMNS)], ignore_index=True)


def _when(annotation: Annotation) -> datetime:
    return annotation.at


def _units(frame: pd.DataFrame, by: list[str]) -> pd.Series[int]:
    return frame.groupby(by, sort=False, observed=True).ngroup()
