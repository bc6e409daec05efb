"""Results as one long table: a row for every single value, which pivot tables and statistics programs want."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.columns import ROW, Column
from karenina_core.analysis.frames import fields_frame, results_frame, traits_frame
from karenina_core.schemas import Annotation, VerificationResult

if TYPE_CHECKING:
    import pandas as pd

LONG: dict[str, Column] = {
    **ROW,
    "item": Column("str", "verdict, review, field, trait or metric: what the row is about."),
    "name": Column("str", "Name of the field or trait, `trait / metric` for metrics; empty for what is as a whole."),
    "expected": Column("str", "The ground truth of a field, as text."),
    "value": Column("str", "What was found: the verdict, agrees or disagrees, the extracted value, a score, a metric."),
    "result": Column("boolean", "Whether it is right, for verdicts and fields; for reviews whether the person agrees."),
    "number": Column("float64", "The value as a number: 1 and 0 for right and wrong or yes and no, scores, metrics."),
    "reason": Column("str", "Why; the note of a review."),
    "cause": Column("str", "What the result comes from, in the eyes of a person; reviews only."),
    "author": Column("str", "Who reviewed it."),
    "at": Column("str", "When, ISO 8601; reviews only."),
}


def long_frame(results: Sequence[VerificationResult], annotations: Iterable[Annotation] = ()) -> pd.DataFrame:
    """Return one row per result for its verdict, and one per review, field, trait and metric of it.

    Args:
        results: The evaluations.
        annotations: What people said about them; what was taken back is left out.

    Returns:
        A table with the columns of `LONG`. The reviews of a result follow its verdict, the oldest first.
    """
    import pandas as pd

    evaluated = results_frame(results)
    parts = [
        _verdicts(evaluated),
        _reviews(evaluated, annotations),
        _fields(fields_frame(results)),
        _traits(traits_frame(results)),
    ]
    filled = [part for part in parts if not part.empty]
    if not filled:
        return pd.DataFrame(columns=list(LONG))
    # Stable, so that the items of a result keep their order.
    table = pd.concat(filled, ignore_index=True)
    order = {result.result_id: place for place, result in enumerate(results)}
    return table.sort_values("result_id", key=lambda ids: ids.map(order), kind="stable", ignore_index=True)


def _verdicts(frame: pd.DataFrame) -> pd.DataFrame:
    right = frame["verdict"].map({"pass": True, "fail": False}).astype("boolean")
    return _shaped(
        frame,
        item="verdict",
        name="",
        expected=None,
        value=frame["verdict"],
        result=right,
        reason=frame["failure_reason"],
    )


def _reviews(frame: pd.DataFrame, annotations: Iterable[Annotation]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        {
            "result_id": item.result_id,
            "item": "review",
            "name": item.field or "",
            "value": "agrees" if item.agrees else "disagrees",
            "result": item.agrees,
            "reason": item.note,
            "cause": item.cause,
            "author": item.author,
            "at": item.at.isoformat(),
        }
        for item in sorted(annotations, key=lambda item: item.at)
        if not item.undone
    ]
    named = [name for name in LONG if name not in ROW and name not in ("expected", "number")]
    said = pd.DataFrame(rows, columns=["result_id", *named])
    found = frame[list(ROW)].merge(said, on="result_id")
    return _shaped(found, **{name: found[name] for name in named}, expected=None)


def _fields(frame: pd.DataFrame) -> pd.DataFrame:
    return _shaped(
        frame,
        item="field",
        name=frame["field"],
        expected=frame["expected"],
        value=frame["extracted"],
        result=frame["result"],
        reason=frame["reason"],
    )


def _traits(frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    metric = frame["metric"] != ""
    name = frame["trait"].where(~metric, frame["trait"] + " / " + frame["metric"])
    value = frame["label"].where(~metric, frame["value"].map(str, na_action="ignore"))
    table = _shaped(
        frame,
        item=metric.map({True: "metric", False: "trait"}),
        name=name,
        expected=None,
        value=value,
        result=pd.array([pd.NA] * len(frame), dtype="boolean"),
        reason=frame["error"].fillna(frame["reason"]),
    )
    return table.assign(number=frame["value"])


def _shaped(frame: pd.DataFrame, **columns: Any) -> pd.DataFrame:
    table = frame[list(ROW)].assign(**{"cause": None, "author": None, "at": None} | columns)
    table["number"] = table["result"].astype("boolean").astype("Float64").astype("float64")
    return table[list(LONG)]
