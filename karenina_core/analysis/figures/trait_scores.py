"""How do judges score the qualities of the responses?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.figures import canvas
from karenina_core.analysis.figures.bubbles import Bubble, Mark, Panel, bubble_panels
from karenina_core.analysis.figures.clicks import place
from karenina_core.analysis.statistics import trait_summary
from karenina_core.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

USUAL_RANGE = (1, 5)
_SCORED = ["question_id", "answering_model", "trait", "kind", "value"]
_RANGE = ["minimum", "maximum", "higher_is_better"]


def trait_scores(frame: pd.DataFrame) -> go.Figure:
    """Draw how often each score was given, one panel per trait on the trait's own range, with means.

    Args:
        frame: A table of `traits_frame`. Where it does not know a trait's range, 1 to 5 is shown, widened to the
            scores that occur.
    """
    scores = frame.loc[(frame["kind"] == "llm_score") & frame["value"].notna(), [*_SCORED, *_RANGE]]
    if scores.empty:
        return canvas.empty("No scores yet: they appear when a rubric has traits scored by a judge.")
    summary, counts = score_numbers(scores), _counts(scores)
    return bubble_panels(
        [
            _panel(str(trait), rows, summary[summary["trait"] == trait], counts[counts["trait"] == trait])
            for trait, rows in scores[["trait", *_RANGE]].groupby("trait", sort=False)
        ]
    )


def _counts(scores: pd.DataFrame) -> pd.DataFrame:
    groups = scores.groupby(["trait", "answering_model", "value"], sort=False)
    return groups.size().reset_index(name="count")


def score_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means behind the diamonds, see `statistics.trait_summary`."""
    return trait_summary(frame[frame["kind"] == "llm_score"], ["trait", "answering_model"])


def _panel(trait: str, rows: pd.DataFrame, summary: pd.DataFrame, counts: pd.DataFrame) -> Panel:
    low, high = _range(rows, counts["value"])
    # Scores end where the range ends, so their mean does too.
    means = summary.assign(low=summary["low"].clip(low), high=summary["high"].clip(upper=high)).to_dict("records")
    labels = {row["answering_model"]: _label(row) for row in means}
    return Panel(
        title=f"{canvas.literal(trait)}{_direction(rows)}",
        ticks={float(score): str(score) for score in range(low, high + 1, max(1, (high - low) // 20))},
        bubbles=[
            Bubble(
                row=labels[row["answering_model"]],
                x=row["value"],
                count=row["count"],
                hover=f"{labels[row['answering_model']]}<br>"
                f"scored {row['value']:g}: {counted(row['count'], 'response')}",
                click=place(row["answering_model"], item=trait, label=f"{row['value']:g}"),
            )
            for row in counts.to_dict("records")
        ],
        means=[_mean(row, trait, labels) for row in means],
    )


def _direction(rows: pd.DataFrame) -> str:
    known = rows["higher_is_better"].dropna().unique()
    return "" if len(known) != 1 else " (higher is better →)" if known[0] else " (← lower is better)"


def _label(row: dict[Any, Any]) -> str:
    return f"{canvas.literal(row['answering_model'], 40)}<br>n = {row['n']}"


def _range(rows: pd.DataFrame, seen: pd.Series[float]) -> tuple[int, int]:
    low, high = rows["minimum"].min(), rows["maximum"].max()
    if math.isnan(low) or math.isnan(high):
        low, high = USUAL_RANGE
    return int(min(low, seen.min())), int(max(high, seen.max()))


def _mean(row: dict[Any, Any], trait: str, labels: dict[Any, str]) -> Mark:
    model = row["answering_model"]
    spread = "" if math.isnan(row["low"]) else f" (95 % interval {row['low']:.1f}–{row['high']:.1f})"
    few = "<br>too few to tell" if row["few"] else ""
    return Mark(
        row=labels[model],
        x=row["mean"],
        low=row["low"],
        high=row["high"],
        hover=f"{labels[model]}<br>mean {row['mean']:.2f}{spread}{few}",
        click=place(model, item=trait),
    )
