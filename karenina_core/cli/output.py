"""What the command line prints: tables, a progress bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from karenina_core.schemas import VerificationConfig

if TYPE_CHECKING:
    from rich.console import Console

    from karenina_core.runs import FlipList, Plan, RunRow, Share, Store

Report = Callable[[float, str], None]
SIGNS = {"pass": "✓ pass", "fail": "✗ fail", "not_evaluated": "– not evaluated"}


def console() -> Console:
    """Return a console for standard output; wide enough for a table where there is no terminal."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


def print_account(run_id: str) -> None:
    """Print where a run stands, and what it took."""
    from karenina_core.runs import spent_in_words

    with opened_store() as store:
        run = store.runs.get(run_id)
        spent = spent_in_words(run.cost, run.config, store.settings.prices(), run.calls - run.cached_calls)
    console().print(
        f"{shown(run.name)}: {shown(run.state, 200)}. {run.done} of {run.total} evaluations done, {run.calls} model "
        f"calls ({run.cached_calls} from the ledger), spent: {spent}."
    )


def shown(text: Any, limit: int = 60) -> str:
    """Return foreign text for one table cell: one line, no markup, no control characters."""
    from rich.markup import escape

    line = " ".join(str(text).split())
    clean = "".join(character if character.isprintable() else "�" for character in line)
    return escape(clean if len(clean) <= limit else clean[: limit - 1] + "…")


@contextmanager
def progress(quiet: bool) -> Iterator[Report]:
    """Yield a function that reports percent and a line of text, drawn on standard error."""
    if quiet:
        yield lambda percent, message: None
    elif not sys.stderr.isatty():
        yield _plain_reporter()
    else:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("starting", total=100)
            yield lambda percent, message: bar.update(task, completed=percent, description=shown(message, 100))


def _plain_reporter() -> Report:
    last = -10.0

    def report(percent: float, message: str) -> None:
        nonlocal last
        if percent - last >= 10 or (percent >= 100 > last):
            last = percent
            print(f"{percent:3.0f} %  {message}", file=sys.stderr, flush=True)

    return report


@contextmanager
def opened_store() -> Iterator[Store]:
    """Yield the configured store, closed afterwards."""
    from karenina_core.runs import Store

    store = Store.open()
    try:
        yield store
    finally:
        store.close()


def find_run(store: Store, text: str) -> Any:
    """Return the run of that id, id prefix or name.

    Raises:
        InputError: There is none, or several.
    """
    runs = store.runs.all()
    exact = [run for run in runs if run.id == text] or [run for run in runs if run.name == text]
    matches = exact or [run for run in runs if run.id.startswith(text)]
    if len(matches) != 1:
        what = f"There is no run {text!r}." if not matches else f"{len(matches)} runs match {text!r}."
        raise InputError(what, next="List the stored runs with: karenina runs")
    return matches[0]


def show_check(benchmark: Benchmark, problems: Sequence[Any]) -> None:
    """Print what reading a file found."""
    out = console()
    out.print(f"[bold]{shown(benchmark.name)}[/bold]: {len(benchmark)} questions, {benchmark.finished_count} finished")
    for repair in benchmark.repairs:
        out.print(f"  repaired  {shown(repair.where)}: {shown(repair.what, 200)} → {shown(repair.action, 200)}")
    for problem in problems:
        out.print(
            f"  {problem.severity:8}  {shown(problem.where)}: {shown(problem.what, 300)} {shown(problem.next, 200)}"
        )
    if not benchmark.repairs and not problems:
        out.print("No repairs were needed and no problems were found.")


def show_runs(runs: Sequence[RunRow]) -> None:
    """Print the list of runs, and under it why some have stopped."""
    from rich import box
    from rich.table import Table

    if not runs:
        console().print("No runs are stored. Start one with: karenina run FILE --answering MODEL --judge MODEL")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("Run", no_wrap=True, min_width=max(len(run.id) for run in runs))
    for title in ("Name", "Benchmark", "State", "Done", "Pass", "Fail", "None", "Started"):
        table.add_column(title, no_wrap=True, overflow="ellipsis")
    for run in runs:
        counts = (str(run.passed), str(run.failed), str(run.not_evaluated))
        started = run.created[:16].replace("T", " ")
        names = (shown(run.name, 30), shown(run.benchmark_name, 30))
        table.add_row(run.id, *names, run.status, f"{run.done} of {run.total}", *counts, started)
    console().print(table)
    for run in runs:
        if run.status in ("interrupted", "failed"):
            console().print(
                f"{run.id}: {shown(run.state.rstrip('.'), 300)}. Go on with: karenina resume {run.id}", soft_wrap=True
            )


def show_presets(presets: Mapping[str, VerificationConfig]) -> None:
    """Print the stored configurations."""
    if not presets:
        console().print("No presets are stored. Keep one with: karenina run FILE ... --save-preset NAME")
    for name, config in presets.items():
        models, judges = (
            ", ".join(model.id for model in role) for role in (config.answering_models, config.parsing_models)
        )
        text = f"{shown(name, 60)}: {shown(models, 200)} judged by {shown(judges, 200)}, {config.replicate_count} ×"
        console().print(text, soft_wrap=True)


def show_prepared(plan: Plan) -> None:
    """Print how prepared answers fit the questions, on standard error."""
    from karenina_core.runs import match_answers

    for model in plan.config.answering_models:
        if model.manual_traces is not None:
            match = match_answers(plan.benchmark, model.manual_traces, plan.question_ids)
            if not match.complete:
                print(f"{model.id}: {match.sentence}", file=sys.stderr)


def show_estimate(plan: Plan, store: Store, run_id: str | None = None) -> None:
    """Print what a plan would take."""
    from karenina_core.runs import estimate

    out, expected = console(), estimate(plan, store, run_id)
    out.print(f"{plan.answers} answers and {plan.rows} evaluations in all.")
    if expected is None:
        out.print("No provider is asked, so nothing is spent.")
        return
    took = f", {expected.time}" if expected.time else ""
    out.print(f"{expected.calls} calls to providers, {expected.cost}{took}; {expected.cached} more are in the ledger.")
    if expected.calls:
        out.print(shown(expected.assumption, 1000), soft_wrap=True)


def show_flips(revision: str, changes: FlipList) -> None:
    """Print which verdicts a re-verification changed."""
    out = console()
    before, after = (share_text(share) for share in (changes.before, changes.after))
    out.print(f"Run {revision}: {before} → {after}, {len(changes.flips)} verdicts changed, without a model call.")
    for flip in changes.flips:
        out.print(
            f"  {shown(flip.question)} · {shown(flip.key.answering_model)}: {SIGNS[flip.before]} → {SIGNS[flip.after]}"
        )


def share_text(share: Share) -> str:
    """Return a share of passes as text."""
    if share.rate is None:
        return "none evaluated"
    return f"{share.passed} of {share.evaluated} right ({share.rate:.0%})"
