"""What models cost and how long they take, beside how often they are right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karenina_core.analysis.statistics import FEW, pass_rate

if TYPE_CHECKING:
    import pandas as pd

QUANTILES = {"p10": 0.1, "median": 0.5, "p90": 0.9, "p99": 0.99}


def cost_quality(frame: pd.DataFrame) -> pd.DataFrame:
    """Return price and pass rate of every answering model, and which models nobody beats on both.

    Args:
        frame: A table of `results_frame`.

    Returns:
        The columns of `statistics.pass_rate` by `answering_model`, then `priced` (rows with a known price), `cost`
        (mean US dollars of the call that answered, as it was when the model was asked, also where the ledger answered
        this time; missing when none is known), and `best` (no other model is at
        least as often right for at most the same price, and better in one of them).
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
    column = "answer_seconds" if frame["answer_seconds"].notna().any() else "seconds"
    groups = frame.groupby("answering_model", sort=False)[column]
    quantiles = {name: groups.quantile(share) for name, share in QUANTILES.items()}
    n = groups.count()
    table = n.to_frame("n").assign(
        of="answer" if column == "answer_seconds" else "evaluation", missing=groups.size() - n, **quantiles, few=n < FEW
    )
    return table.reset_index()[["answering_model", "of", "n", "missing", *QUANTILES, "few"]]
