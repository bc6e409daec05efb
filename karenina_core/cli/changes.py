"""`karenina diff`: what changed from one stored run to another."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from karenina_core.analysis import run_diff
from karenina_core.cli import output
from karenina_core.cli.codes import DONE
from karenina_core.runs import Store
from karenina_core.schemas import VerificationResult

_LISTED = 50
_AT_ONCE = 500


def show_changes(before: str, after: str, *, as_json: bool) -> int:
    """Print what changed, and return the exit code.

    Args:
        before: Id, start of an id, or name of the earlier run.
        after: The same of the later one.
        as_json: Print JSON.

    Raises:
        InputError: There is no such run.
    """
    from karenina_core.analysis import stored_results

    with output.opened_store() as store:
        first, second = output.find_run(store, before), output.find_run(store, after)
        diff = run_diff.diff_runs(stored_results(store, first.id), stored_results(store, second.id))
        moved = diff.rows[diff.rows["change"].isin(run_diff.MOVED)]
        causes = run_diff.causes_of(
            moved,
            _results(store, first.id, moved["before_id"]),
            _results(store, second.id, moved["after_id"]),
            run_diff.changed_models(first.settings, second.settings, diff.renamed),
        )
    rows: list[dict[str, Any]] = [
        {
            "question": row.question,
            "answering_model": row.answering_model,
            "parsing_model": row.parsing_model,
            "replicate": row.replicate,
            "change": row.change,
            "cause": causes.get(str(row.after_id)),
        }
        for row in moved.itertuples()
    ]
    if as_json:
        only = {"only_before": diff.only_before, "only_after": diff.only_after}
        print(json.dumps({"counts": diff.counts, **only, "changed": rows}, indent=2, ensure_ascii=False))
        return DONE
    out = output.console()
    out.print(
        f"From {output.shown(first.name)} to {output.shown(second.name)}: {run_diff.sentence(diff)}", soft_wrap=True
    )
    for row in rows[:_LISTED]:
        cause = run_diff.CAUSE_WORDS[row["cause"]] if row["cause"] else "not known"
        words = run_diff.CHANGE_WORDS[row["change"]]
        out.print(
            f"  {words}: {output.shown(row['question'])} · {output.shown(row['answering_model'])} ({cause})",
            soft_wrap=True,
        )
    if len(rows) > _LISTED:
        out.print(f"  and {len(rows) - _LISTED} more; --json lists all of them.")
    return DONE


def _results(store: Store, run_id: str, ids: Iterable[str]) -> Iterable[VerificationResult]:
    wanted = list(ids)
    for start in range(0, len(wanted), _AT_ONCE):
        yield from store.results.iterate(run_id, result_id=wanted[start : start + _AT_ONCE])
