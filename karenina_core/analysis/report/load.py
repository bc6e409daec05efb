"""Stored runs to a report."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence

from karenina_core import __version__
from karenina_core.analysis.comparison.arms import arm_labels, tallies
from karenina_core.analysis.comparison.data import outcomes
from karenina_core.analysis.comparison.pairs import compare
from karenina_core.analysis.comparison.words import interval_sentence, verdict_sentence
from karenina_core.analysis.report.build import Options, build_report
from karenina_core.analysis.report.content import Report, RunPart
from karenina_core.runs import Store
from karenina_core.schemas.entities.question import now

MOST_ARMS = 12
"""With more models and runs than this, the sentences would fill the report; the page Compare has them."""


def report_of_runs(
    store: Store,
    run_ids: Sequence[str],
    options: Options = Options(),  # noqa: B008  frozen
    *,
    title: str = "",
    author: str = "",
) -> Report:
    """Return the report of one or several stored runs.

    Args:
        store: Where the runs are.
        run_ids: Ids of the runs, in the order of the report.
        options: What is shown.
        title: Heading; the names of the runs when empty.
        author: Who made the report; nobody is named when empty.

    Raises:
        InputError: A run is unknown.
    """
    parts = tuple(_part(store, run_id, options) for run_id in run_ids)
    return Report(
        title or " and ".join(part.name for part in parts), author, now(), parts, tuple(_comparisons(store, run_ids))
    )


def _comparisons(store: Store, run_ids: Sequence[str]) -> Iterator[str]:
    """Yield what can be said of every model against the first one."""
    counts = tallies(outcomes(store, run_ids))
    order = {
        (run_id, model): place
        for run_id in run_ids
        for place, model in enumerate(store.runs.get(run_id).answering_models, len(run_ids))
    }
    arms = sorted(counts, key=lambda arm: (run_ids.index(arm.run_id), order.get((arm.run_id, arm.answering_model), 0)))
    if len(arms) < 2 or len(arms) > MOST_ARMS:
        return
    labels = arm_labels(arms, {run_id: store.runs.get(run_id).name for run_id in run_ids})
    for pair in compare(counts, arms[0], arms[1:]):
        yield f"{verdict_sentence(pair, labels)} {interval_sentence(pair)}".rstrip()


def _part(store: Store, run_id: str, options: Options) -> RunPart:
    run, plan = store.runs.get(run_id), store.runs.plan(run_id)
    facts = {
        "Benchmark": f"{plan.benchmark.name}, version {plan.benchmark.version}",
        "Benchmark SHA-256": run.snapshot,
        "Questions in the run": f"{len(plan.question_ids):,}",
        "Configuration SHA-256": run.config_hash,
        "Run": f"{run.id}, {run.state}",
        "Created": run.created,
        "Finished": run.finished or "not yet",
        "Karenina Workbench": __version__,
        "Python": platform.python_version(),
    }
    return build_report(
        run.name,
        store.results.all(run_id),
        options,
        config=plan.config,
        benchmark=plan.benchmark,
        annotations=store.annotations.all(run_id),
        facts=facts,
    )
