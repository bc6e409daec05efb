"""One function per command; each returns its exit code."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karenina_core.benchmark import Benchmark
from karenina_core.cli import choices, output, tables
from karenina_core.cli.codes import DONE, PROBLEMS, UNUSABLE
from karenina_core.errors import CheckpointError
from karenina_core.schemas import VerificationConfig, VerificationResultSet

if TYPE_CHECKING:
    from karenina_core.runs import Store


def do_demo(options: argparse.Namespace) -> int:
    """Run the bundled benchmark from its recorded calls."""
    from karenina_core.demo import demo_benchmark, demo_config
    from karenina_core.runs import Store, run_verification

    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{Path(folder) / 'demo.db'}")
        try:
            with output.progress(quiet=options.json) as report:
                results = run_verification(
                    demo_benchmark(), demo_config(), run_name="Demo", progress_callback=report, store=store
                )
        finally:
            store.close()
    _print_results(results, options.json)
    if not options.json:
        print("This was a demonstration: nothing was stored.")
    return DONE


def do_check(options: argparse.Namespace) -> int:
    """Read a file, report repairs and problems."""
    try:
        benchmark = Benchmark.load(options.file)
    except CheckpointError as error:
        if options.json:
            print(json.dumps({"usable": False, "error": str(error), "code": error.code}, indent=2))
            return UNUSABLE
        raise
    problems = benchmark.check()
    serious = [problem for problem in problems if problem.severity == "error"]
    if options.json:
        report = {
            "usable": True,
            "name": benchmark.name,
            "questions": len(benchmark),
            "finished": benchmark.finished_count,
            "repairs": [asdict(repair) for repair in benchmark.repairs],
            "problems": [asdict(problem) for problem in problems],
        }
        print(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        output.show_check(benchmark, problems)
    return PROBLEMS if serious else DONE


def do_run(options: argparse.Namespace) -> int:
    """Run a benchmark file."""
    from karenina_core.runs import run_verification, wanted

    benchmark = Benchmark.load(options.file)
    config, chosen = choices.configuration(options), choices.questions(options, benchmark)
    plan = wanted(benchmark, config, chosen, options.limit)
    if plan.note:
        print(plan.note, file=sys.stderr)
    output.show_prepared(plan)
    if options.save_preset:
        with output.opened_store() as store:
            store.settings.save_preset(options.save_preset, config)
    if options.estimate:
        with output.opened_store() as store:
            output.show_estimate(plan, store)
        return DONE
    quiet = options.json == "-"
    with output.progress(quiet=quiet) as report:
        results = run_verification(
            benchmark, config, chosen, run_name=options.name, progress_callback=report, limit=options.limit
        )
    if options.json:
        _write(options.json, results, config)
    if not quiet:
        tables.show_results(results)
        print(f"Stored as run {results.run_id}. Look again with: karenina show {results.run_id}")
    return max(_outcome(results), _ending(results.run_id))


def do_topup(options: argparse.Namespace) -> int:
    """Let a stored run want more, and carry it out."""
    from karenina_core.runs import top_up, widened

    with output.opened_store() as store:
        store.runs.interrupt_abandoned()
        run = output.find_run(store, options.run)
        plan = store.runs.plan(run.id)
        named = choices.questions(options, plan.benchmark) or ()
        growth: dict[str, Any] = {
            "answering_models": choices.answering_models(options),
            "judges": choices.judges(options),
            "replicates": options.replicates,
            "question_ids": plan.benchmark.get_finished_questions(ids_only=True) if options.all_questions else named,
        }
        if options.estimate:
            output.show_estimate(widened(plan, **growth), store, run.id)
            return DONE
        if options.max_cost:
            store.runs.limit_cost(run.id, options.max_cost)
        config = top_up(store, run.id, **growth)
        return _carry_on(store, run.id, options.json, config)


def do_presets(options: argparse.Namespace) -> int:
    """List stored configurations, or delete one."""
    with output.opened_store() as store:
        if options.delete:
            store.settings.preset(options.delete)
            store.settings.delete_preset(options.delete)
        presets = store.settings.presets()
    if options.json:
        shown = {name: config.model_dump(mode="json", exclude_defaults=True) for name, config in presets.items()}
        print(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        output.show_presets(presets)
    return DONE


def do_runs(options: argparse.Namespace) -> int:
    """List stored runs."""
    with output.opened_store() as store:
        store.runs.interrupt_abandoned()
        runs = store.runs.all()
    if options.json:
        print(json.dumps([asdict(run) for run in runs], indent=2, ensure_ascii=False, default=str))
    else:
        output.show_runs(runs)
    return DONE


def do_show(options: argparse.Namespace) -> int:
    """Show one run."""
    with output.opened_store() as store:
        run = output.find_run(store, options.run)
        results = VerificationResultSet(store.results.all(run.id), run.id)
    if not options.json:
        output.print_account(run.id)
    _print_results(results, options.json)
    return _outcome(results)


def do_compare(options: argparse.Namespace) -> int:
    """Say whether models or runs differ."""
    from karenina_core.cli.comparing import compare

    return compare(options)


def do_resume(options: argparse.Namespace) -> int:
    """Continue a run."""
    from karenina_core.models import read_answers
    from karenina_core.runs import with_answers

    with output.opened_store() as store:
        store.runs.interrupt_abandoned()
        run = output.find_run(store, options.run)
        if options.max_cost:
            store.runs.limit_cost(run.id, options.max_cost)
        config = with_answers(run.config, read_answers(options.answers)) if options.answers else None
        return _carry_on(store, run.id, options.json, config)


def _carry_on(store: Store, run_id: str, as_json: bool, config: VerificationConfig | None = None) -> int:
    from karenina_core.runs import resume_run

    with output.progress(quiet=as_json) as report:
        results = resume_run(store, run_id, progress_callback=report, config=config)
    if not as_json:
        output.print_account(run_id)
    _print_results(results, as_json)
    return max(_outcome(results), _ending(run_id))


def do_reverify(options: argparse.Namespace) -> int:
    """Recompute verdicts without model calls."""
    from karenina_core.runs import flips, reverify

    with output.opened_store() as store:
        run = output.find_run(store, options.run)
        benchmark = Benchmark.load(options.benchmark) if options.benchmark else None
        revision = reverify(store, run.id, benchmark)
        changes = flips(store, run.id, revision)
        results = VerificationResultSet(store.results.all(revision), revision)
    if options.json:
        print(json.dumps({"run": revision, **asdict(changes)}, indent=2, ensure_ascii=False))
    else:
        output.show_flips(revision, changes)
        tables.show_results(results)
    return DONE


def do_diff(options: argparse.Namespace) -> int:
    """Say what changed between two runs."""
    from karenina_core.cli.changes import show_changes

    return show_changes(options.before, options.after, as_json=options.json)


def do_export(options: argparse.Namespace) -> int:
    """Write the results of a run to a file."""
    from karenina_core.analysis import FORMATS
    from karenina_core.analysis.formats import Options
    from karenina_core.files import write_atomic

    shown = Options(answers=options.answers, charts=not options.no_figures)
    with output.opened_store() as store:
        run = output.find_run(store, options.run)
        content = FORMATS[options.format].content(store, run.id, shown)
    write_atomic(Path(options.out), content)
    print(f"{run.done} results written to {options.out}")
    return DONE


def _write(target: str, results: VerificationResultSet, config: VerificationConfig | None = None) -> None:
    from karenina_core.analysis import to_json
    from karenina_core.files import write_atomic

    content = to_json(results, config)
    if target == "-":
        print(content.decode())
    else:
        write_atomic(Path(target), content)


def _print_results(results: VerificationResultSet, as_json: bool) -> None:
    if as_json:
        _write("-", results)
    else:
        tables.show_results(results)


def _ending(run_id: str | None) -> int:
    """Say why a run stopped before its end, if it did."""
    with output.opened_store() as store:
        run = store.runs.get(run_id or "")
    if run.done < run.total:
        print(f"{run.done} of {run.total} evaluations are done. {run.note}".strip(), file=sys.stderr)
    return PROBLEMS if run.done < run.total else DONE


def _outcome(results: VerificationResultSet) -> int:
    failed = [result for result in results if result.status == "failed"]
    if failed:
        print(f"{len(failed)} of {len(results)} evaluations failed and have no verdict.", file=sys.stderr)
    return PROBLEMS if failed or not results else DONE
