"""`karenina compare` and `karenina diff`: what can be said of models and runs, and what changed between two runs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence

from karenina_core.analysis import (
    Arm,
    arm_labels,
    interval_sentence,
    left_out_sentence,
    outcomes,
    pairs_frame,
    power_sentence,
    run_diff,
    stored_results,
    tallies,
    verdict_sentence,
)
from karenina_core.analysis import compare as compared
from karenina_core.cli import output
from karenina_core.errors import InputError
from karenina_core.runs import RunRow, Store
from karenina_core.schemas import VerificationResult

_LISTED = 50
_GROUP = 500  # results of one query


def compare(store: Store, runs: Sequence[RunRow], options: argparse.Namespace) -> None:
    """Print what can be said of every candidate against the baseline.

    Raises:
        InputError: There is no such model, or fewer than two to compare.
    """
    counts = tallies(outcomes(store, [run.id for run in runs]))
    arms = list(counts)
    labels = arm_labels(arms, {run.id: run.name for run in runs})
    if len(arms) < 2:
        raise InputError("A comparison takes two models at least.", next="Name another run, or top this one up.")
    baseline, *others = _arms_of(labels, options.baseline) if options.baseline else arms[:1]
    if others:
        names = "; ".join(labels[arm] for arm in (baseline, *others))
        raise InputError("Several models have that name, and there is one baseline.", next=f"Use one of: {names}.")
    named = [arm for text in options.candidate for arm in _arms_of(labels, text)]
    pairs = compared(counts, baseline, dict.fromkeys(arm for arm in named or arms if arm != baseline))
    if options.json:
        rows = [
            # JSON has no word for a number that is none.
            {str(name): None if value != value else value for name, value in record.items()}
            | {"sentence": verdict_sentence(pair, labels), "remark": interval_sentence(pair) or None}
            for record, pair in zip(pairs_frame(pairs, labels).to_dict("records"), pairs, strict=True)
        ]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for pair in pairs:
        output.print_line(output.shown(verdict_sentence(pair, labels), 1000))
        for line in (interval_sentence(pair), power_sentence(pair), left_out_sentence(pair)):
            if line:
                output.print_line(f"  {output.shown(line, 1000)}")


def _arms_of(labels: dict[Arm, str], text: str) -> list[Arm]:
    arms = [arm for arm in labels if labels[arm] == text] or [arm for arm in labels if arm.answering_model == text]
    if not arms:
        raise InputError(
            f"There is no model {text!r} in these runs.", next=f"Use one of: {'; '.join(labels.values())}."
        )
    return arms


def show_changes(store: Store, before: RunRow, after: RunRow, *, as_json: bool) -> None:
    """Print what changed from an earlier run to a later one."""
    diff = run_diff.diff_runs(stored_results(store, before.id), stored_results(store, after.id))
    moved = diff.rows[diff.rows["change"].isin(run_diff.MOVED)]
    causes = run_diff.causes_of(
        moved,
        _results(store, before.id, moved["before_id"]),
        _results(store, after.id, moved["after_id"]),
        run_diff.changed_models(before.settings, after.settings, diff.renamed),
    )
    columns = ["question", "answering_model", "parsing_model", "replicate", "change"]
    rows = [
        {**record, "cause": causes.get(str(result_id))}
        for record, result_id in zip(moved[columns].to_dict("records"), moved["after_id"], strict=True)
    ]
    if as_json:
        only = {"only_before": diff.only_before, "only_after": diff.only_after}
        print(json.dumps({"counts": diff.counts, **only, "changed": rows}, indent=2, ensure_ascii=False))
        return
    output.print_line(f"From {output.shown(before.name)} to {output.shown(after.name)}: {run_diff.sentence(diff)}")
    for row in rows[:_LISTED]:
        cause = run_diff.CHANGE_CAUSE_WORDS[row["cause"]] if row["cause"] else "not known"
        where = f"{output.shown(row['question'])} · {output.shown(row['answering_model'])}"
        output.print_line(f"  {run_diff.CHANGE_WORDS[row['change']]}: {where} ({cause})")
    if len(rows) > _LISTED:
        output.print_line(f"  and {len(rows) - _LISTED} more; --json lists all of them.")


def _results(store: Store, run_id: str, ids: Iterable[str]) -> Iterable[VerificationResult]:
    wanted = list(ids)
    for start in range(0, len(wanted), _GROUP):
        yield from store.results.iterate(run_id, result_id=wanted[start : start + _GROUP])
