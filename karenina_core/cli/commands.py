"""One function per command; each returns its exit code."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from karenina_core.benchmark import Benchmark
from karenina_core.cli import output, tables
from karenina_core.cli.codes import DONE, PROBLEMS, UNUSABLE
from karenina_core.errors import CheckpointError, InputError
from karenina_core.models.ports import Purpose
from karenina_core.models.recorded import Recording
from karenina_core.schemas.config import ModelConfig, VerificationConfig
from karenina_core.schemas.results import VerificationResultSet


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
    config = _configuration(options)
    if note := wanted(benchmark, config, limit=options.limit).note:
        print(note, file=sys.stderr)
    quiet = options.json == "-"
    with output.progress(quiet=quiet) as report:
        results = run_verification(
            benchmark, config, run_name=options.name, progress_callback=report, limit=options.limit
        )
    if options.json:
        _write(options.json, results, config)
    if not quiet:
        tables.show_results(results)
        print(f"Stored as run {results.run_id}. Look again with: karenina show {results.run_id}")
    return max(_outcome(results), _ending(results.run_id))


def _configuration(options: argparse.Namespace) -> VerificationConfig:
    settings = {
        key: value
        for key, value in (("endpoint_base_url", options.base_url), ("api_key_env", options.api_key_env))
        if value
    }
    answering = [model for text in options.answering for model in _models(text, settings, "answer")]
    if options.answers:
        answering += _prepared(options.answers)
    if not answering:
        raise InputError(
            "No model to test was given.", next="Name one with --answering, or give prepared answers with --answers."
        )
    judges = [model for text in options.judge for model in _models(text, settings, "parse")]
    return VerificationConfig(
        answering_models=answering,
        parsing_models=judges,
        replicate_count=options.replicates,
        max_concurrent_requests=options.concurrency,
        abstention_enabled=options.abstention,
        embedding_check_enabled=options.embeddings,
        max_cost=options.max_cost,
    )


def _models(text: str, settings: dict[str, Any], purpose: Purpose) -> list[ModelConfig]:
    if text.startswith("manual:"):
        return _prepared(text.removeprefix("manual:"))
    if text.startswith("recorded:") and "/" not in text:
        # A recording by its name alone stands for all models in it.
        entries = Recording.load(text.removeprefix("recorded:")).entries(purpose)
        return [ModelConfig.parse(f"{text}/{entry}") for entry in entries]
    model = ModelConfig.parse(text)
    return [ModelConfig.parse(text, **settings) if model.transport == "litellm" else model]


def _prepared(path: str) -> list[ModelConfig]:
    from karenina_core.models.manual import read_answers

    return [
        ModelConfig(id=label, interface="manual", model_name=label, manual_traces=answers)
        for label, answers in read_answers(path).items()
    ]


def do_runs(options: argparse.Namespace) -> int:
    """List stored runs."""
    with output.opened_store() as store:
        runs = store.runs()
    if options.json:
        print(json.dumps([asdict(run) for run in runs], indent=2, ensure_ascii=False, default=str))
    else:
        output.show_runs(runs)
    return DONE


def do_show(options: argparse.Namespace) -> int:
    """Show one run."""
    with output.opened_store() as store:
        run = output.find_run(store, options.run)
        results = VerificationResultSet(store.results(run.id), run.id)
    _print_results(results, options.json)
    return _outcome(results)


def do_resume(options: argparse.Namespace) -> int:
    """Continue a run."""
    from karenina_core.runs.verification import resume_run

    with output.opened_store() as store:
        run = output.find_run(store, options.run)
        with output.progress(quiet=options.json) as report:
            results = resume_run(store, run.id, progress_callback=report)
    _print_results(results, options.json)
    return _outcome(results)


def do_reverify(options: argparse.Namespace) -> int:
    """Recompute verdicts without model calls."""
    from karenina_core.runs import flips, reverify

    with output.opened_store() as store:
        run = output.find_run(store, options.run)
        benchmark = Benchmark.load(options.benchmark) if options.benchmark else None
        revision = reverify(store, run.id, benchmark)
        changes = flips(store, run.id, revision)
        results = VerificationResultSet(store.results(revision), revision)
    if options.json:
        print(json.dumps({"run": revision, **asdict(changes)}, indent=2, ensure_ascii=False))
    else:
        output.show_flips(revision, changes)
        tables.show_results(results)
    return DONE


def do_export(options: argparse.Namespace) -> int:
    """Write the results of a run to a file."""
    from karenina_core.analysis.export import to_json
    from karenina_core.analysis.spreadsheet import to_csv
    from karenina_core.files import write_atomic

    with output.opened_store() as store:
        run = output.find_run(store, options.run)
        results = store.results(run.id)
        content = to_csv(results) if options.format == "csv" else to_json(results, run.config)
    write_atomic(Path(options.out), content)
    print(f"{len(results)} results written to {options.out}")
    return DONE


def _write(target: str, results: VerificationResultSet, config: VerificationConfig | None = None) -> None:
    from karenina_core.analysis.export import to_json
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
        run = store.run(run_id or "")
    if run.done < run.total:
        print(f"{run.done} of {run.total} evaluations are done. {run.note}".strip(), file=sys.stderr)
    return PROBLEMS if run.done < run.total else DONE


def _outcome(results: VerificationResultSet) -> int:
    failed = [result for result in results if result.status == "failed"]
    if failed:
        print(f"{len(failed)} of {len(results)} evaluations failed and have no verdict.", file=sys.stderr)
    return PROBLEMS if failed or not results else DONE
