"""Results as one long table: a row for every single value, which pivot tables and statistics programs want."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.columns import ROW, Column
from karenina_core.analysis.frames import fields_frame, results_frame, traits_frame
from karenina_core.schemas.results import VerificationResult

if TYPE_CHECKING:
    import pandas as pd

LONG: dict[str, Column] = {
    **ROW,
    "item": Column("str", "verdict, field, trait or metric: what the row is about."),
    "name": Column("str", "Name of the field or trait; `trait / metric` for metrics; empty for the verdict."),
    "expected": Column("str", "The ground truth of a field, as text."),
    "value": Column("str", "What was found: the verdict, the extracted value, the score or class, the metric."),
    "result": Column("boolean", "Whether it is right, for verdicts and fields; missing where nothing was decided."),
    "number": Column("float64", "The value as a number: 1 and 0 for right and wrong or yes and no, scores, metrics."),
    "reason": Column("str", "Why."),
}


def long_frame(results: Sequence[VerificationResult]) -> pd.DataFrame:
    """Return one row per result for its verdict, and one per field, trait and metric of it; columns as in `LONG`."""
    import pandas as pd

    parts = [_verdicts(results_frame(results)), _fields(fields_frame(results)), _traits(traits_frame(results))]
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
    table = frame[list(ROW)].assign(**columns)
    table["number"] = table["result"].astype("boolean").astype("Float64").astype("float64")
    return table[list(LONG)]
