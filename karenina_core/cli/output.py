"""What the command line prints: tables and sentences, a progress bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from karenina_core.benchmark import Benchmark
from karenina_core.schemas import NO_VERDICT, VerificationConfig

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import Console
    from rich.table import Table

    from karenina_core.runs import FlipList, Plan, RunRow, Share, Store

Report = Callable[[float, str], None]
MOST_QUESTIONS = 500  # in the table of verdicts; a person reads no more, and files have them all
SIGNS = {"pass": "✓", "fail": "✗", "not_evaluated": "–"}


def console() -> Console:
    """Return a console for standard output; wide enough for a table where there is no terminal."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


def print_line(text: str) -> None:
    """Print one line, however long it is."""
    console().print(text, soft_wrap=True)


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
        from rich.progress import Progress

        with Progress(console=Console(stderr=True)) as bar:
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


def show_check(benchmark: Benchmark, problems: Sequence[Any]) -> None:
    """Print what reading a file found."""
    out = console()
    out.print(f"[bold]{shown(benchmark.name)}[/bold]: {len(benchmark)} questions, {benchmark.finished_count} finished")
    for repair in benchmark.repairs:
        out.print(f"  repaired  {shown(repair.where)}: {shown(repair.what, 200)} → {shown(repair.action, 200)}")
    for problem in problems:
        advice = f"{shown(problem.what, 300)} {shown(problem.next, 200)}"
        out.print(f"  {problem.severity:8}  {shown(problem.where)}: {advice}")
    if not benchmark.repairs and not problems:
        out.print("No repairs were needed and no problems were found.")


def show_runs(runs: Sequence[RunRow]) -> None:
    """Print the list of runs, and under it why some have stopped."""
    if not runs:
        print_line("No runs are stored. Start one with: karenina run FILE --answering MODEL --judge MODEL")
        return
    table = _table()
    table.add_column("Run", no_wrap=True, min_width=max(len(run.id) for run in runs))
    for title in ("Name", "Benchmark", "State", "Done", "Pass", "Fail", "None", "Started"):
        table.add_column(title, no_wrap=True, overflow="ellipsis")
    for run in runs:
        counts = (f"{run.done} of {run.total}", str(run.passed), str(run.failed), str(run.not_evaluated))
        names = (shown(run.name, 30), shown(run.benchmark_name, 30))
        table.add_row(run.id, *names, run.status, *counts, run.created[:16].replace("T", " "))
    console().print(table)
    for run in runs:
        if run.status in ("interrupted", "failed"):
            print_line(f"{run.id}: {shown(run.state.rstrip('.'), 300)}. Go on with: karenina resume {run.id}")


def show_presets(presets: Mapping[str, VerificationConfig]) -> None:
    """Print the stored configurations."""
    if not presets:
        print_line("No presets are stored. Keep one with: karenina run FILE ... --save-preset NAME")
    for name, config in presets.items():
        roles = (config.answering_models, config.parsing_models)
        models, judges = (shown(", ".join(model.id for model in role), 200) for role in roles)
        print_line(f"{shown(name, 60)}: {models} judged by {judges}, {config.replicate_count} ×")


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

    expected = estimate(plan, store, run_id)
    print_line(f"{plan.answers} answers and {plan.rows} evaluations in all.")
    if expected is None:
        print_line("No provider is asked, so nothing is spent.")
        return
    time = f", {expected.time}" if expected.time else ""
    print_line(f"{expected.calls} calls to providers, {expected.cost}{time}; {expected.cached} more are in the ledger.")
    if expected.calls:
        print_line(shown(expected.assumption, 1000))


def show_account(store: Store, run: RunRow) -> None:
    """Print where a run stands, and what it took."""
    from karenina_core.runs import spent_in_words

    spent = spent_in_words(run.cost, run.config, store.settings.prices(), run.calls - run.cached_calls)
    console().print(
        f"{shown(run.name)}: {shown(run.state, 200)}. {run.done} of {run.total} evaluations done, {run.calls} model "
        f"calls ({run.cached_calls} from the ledger), spent: {spent}."
    )


def show_flips(revision: str, changes: FlipList) -> None:
    """Print which verdicts a re-verification changed."""
    out = console()
    before, after = (_share(share) for share in (changes.before, changes.after))
    out.print(f"Run {revision}: {before} → {after}, {len(changes.flips)} verdicts changed, without a model call.")
    for flip in changes.flips:
        verdicts = " → ".join(f"{SIGNS[verdict]} {verdict.replace('_', ' ')}" for verdict in (flip.before, flip.after))
        out.print(f"  {shown(flip.question)} · {shown(flip.key.answering_model)}: {verdicts}")


def _share(share: Share) -> str:
    if share.rate is None:
        return "none evaluated"
    return f"{share.passed} of {share.evaluated} right ({share.rate:.0%})"


def show_results(store: Store, run_id: str) -> None:
    """Print verdicts, traits and what they add up to; of a large run the first questions, and the sums of all."""
    from karenina_core.analysis import cause_sentences, judge_sentences, rate_sentences, stored_results, stored_traits

    results = stored_results(store, run_id)
    if results.empty:
        return
    questions = results["question_id"].unique()
    console().print(_verdict_table(results[results["question_id"].isin(questions[:MOST_QUESTIONS])]))
    if len(questions) > MOST_QUESTIONS:
        print_line(f"… and {len(questions) - MOST_QUESTIONS:,} more questions.")
    traits = _traits_table(stored_traits(store, run_id, results, Benchmark.create(run_id)))
    if traits.row_count:
        console().print(traits)
    # What the tables do not say is read of a few results of each kind.
    left_out = results[results["verdict"] == "not_evaluated"]
    causes = left_out["failure_category"].astype("str").fillna(NO_VERDICT)
    examples, reasons = left_out.groupby(causes.to_numpy())["result_id"].head(100), dict[str, list[str]]()
    for result in store.results.iterate(run_id, result_id=list(examples)):
        if result.failure:
            reasons.setdefault(result.failure.category, []).append(result.failure.reason)
    judged_first = results.sort_values("verdict", key=lambda verdicts: verdicts == "not_evaluated", kind="stable")
    pairs = judged_first.drop_duplicates(["answering_model", "parsing_model"])["result_id"]
    counts = {str(name): int(number) for name, number in causes.value_counts().items()}
    notes = cause_sentences(counts, reasons) + judge_sentences(store.results.all(run_id, result_id=list(pairs)))
    for indent, lines in (("", rate_sentences(results)), ("  ", notes)):
        for line in lines:
            print_line(indent + shown(line, 300))


def _verdict_table(results: DataFrame) -> Table:
    """Return one row per question and one column per model, judge and replicate."""
    several_judges = results["parsing_model"].nunique() > 1
    repeated = bool((results["replicate"] > 1).any())
    columns, cells = dict[str, str](), dict[tuple[str, str], dict[str, str]]()
    for row in results.to_dict("records"):
        judged = f" · {shown(row['parsing_model'])}" if several_judges else ""
        number = f" #{row['replicate']}" if repeated else ""
        column = repr((row["answering_model"], row["parsing_model"], row["replicate"]))
        columns[column] = f"{shown(row['answering_model'])}{judged}{number}"
        cells.setdefault((row["question_id"], row["question"]), {})[column] = _cell(row)
    return _matrix("Question", columns, [(question, row) for (_, question), row in cells.items()])


def _cell(row: Mapping[Any, Any]) -> str:
    sign = SIGNS[row["verdict"]]
    if isinstance(row["failure_category"], str):
        return f"{sign} {row['failure_category'].replace('_', ' ')}"
    return f"{sign} {row['granular']:.2f}" if 0 < row["granular"] < 1 else sign


def _traits_table(traits: DataFrame) -> Table:
    """Return one row per trait (and metric) and one column per model: means, shares and metrics."""
    from karenina_core.analysis import label_shares, metric_summary, trait_summary

    rows: dict[str, dict[str, str]] = {}
    for row in trait_summary(traits).to_dict("records"):
        text = f"{row['mean']:.1f}" if row["kind"] == "llm_score" else f"{row['mean']:.0%} yes"
        rows.setdefault(row["trait"], {})[row["answering_model"]] = f"{text} (n {row['n']})" if row["n"] else "–"
    for row in label_shares(traits).to_dict("records"):
        cells = rows.setdefault(row["trait"], {})
        text = f"{shown(row['label'])} {row['share']:.0%}"
        cells[row["answering_model"]] = ", ".join(filter(None, [cells.get(row["answering_model"], ""), text]))
    for row in metric_summary(traits).to_dict("records"):
        text = f"{row['macro']:.2f} (n {row['n']})" if row["n"] else "–"
        rows.setdefault(f"{row['trait']}: {row['metric']}", {})[row["answering_model"]] = text
    return _matrix("Trait", {model: shown(model) for model in traits["answering_model"].unique()}, rows.items())


def _matrix(first: str, columns: Mapping[str, str], rows: Iterable[tuple[str, Mapping[str, str]]]) -> Table:
    table = _table()
    table.add_column(first, no_wrap=True, overflow="ellipsis", max_width=60)
    for title in columns.values():
        table.add_column(title, no_wrap=True, overflow="ellipsis", min_width=min(len(title), 14))
    for name, cells in rows:
        table.add_row(shown(name, 200), *(cells.get(column, "") for column in columns))
    return table


def _table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
