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
from karenina_core.cli import output
from karenina_core.errors import CheckpointError, InputError, KareninaError
from karenina_core.files import write_atomic
from karenina_core.models import Purpose, Recording, read_answers
from karenina_core.schemas import ModelConfig, VerificationConfig, VerificationResultSet

if TYPE_CHECKING:
    from karenina_core.runs import RunRow, Store

DONE, PROBLEMS, UNUSABLE = 0, 1, 2


def do_demo(options: argparse.Namespace) -> int:
    """Run the bundled benchmark from its recorded calls."""
    from karenina_core.demo import demo_benchmark, demo_config
    from karenina_core.runs import Store, run_verification

    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "demo.db") as store:
        with output.progress(quiet=options.json) as report:
            results = run_verification(
                demo_benchmark(), demo_config(), run_name="Demo", progress_callback=report, store=store
            )
        _show(store, store.runs.get(str(results.run_id)), options.json)
    if not options.json:
        print("This was a demonstration: nothing was stored.")
    return DONE


def do_check(options: argparse.Namespace) -> int:
    """Read a file, report repairs and problems."""
    try:
        benchmark = Benchmark.load(options.file)
    except CheckpointError as error:
        if not options.json:
            raise
        _print_json({"usable": False, "error": str(error), "code": error.code})
        return UNUSABLE
    problems = benchmark.check()
    if options.json:
        _print_json(
            {
                "usable": True,
                "name": benchmark.name,
                "questions": len(benchmark),
                "finished": benchmark.finished_count,
                "repairs": [asdict(repair) for repair in benchmark.repairs],
                "problems": [asdict(problem) for problem in problems],
            }
        )
    else:
        output.show_check(benchmark, problems)
    return PROBLEMS if any(problem.severity == "error" for problem in problems) else DONE


def do_run(options: argparse.Namespace) -> int:
    """Run a benchmark file."""
    from karenina_core.runs import run_verification, wanted

    benchmark = Benchmark.load(options.file)
    config, chosen = _configuration(options), _questions(options, benchmark)
    plan = wanted(benchmark, config, chosen, options.limit)
    if plan.note:
        print(plan.note, file=sys.stderr)
    output.show_prepared(plan)
    with opened_store() as store:
        if options.save_preset:
            store.settings.save_preset(options.save_preset, config)
        if options.estimate:
            output.show_estimate(plan, store)
            return DONE
        quiet = options.json == "-"
        with output.progress(quiet=quiet) as report:
            results = run_verification(
                benchmark, config, chosen, options.name, progress_callback=report, limit=options.limit, store=store
            )
        run = store.runs.get(results.run_id or "")
        if options.json:
            _write(options.json, results, config)
        if not quiet:
            output.show_results(store, run.id)
            print(f"Stored as run {run.id}. Look again with: karenina show {run.id}")
    return max(_outcome(run), _ending(run))


def do_topup(options: argparse.Namespace) -> int:
    """Let a stored run want more, and carry it out."""
    from karenina_core.runs import top_up, widened

    with opened_store() as store:
        store.runs.interrupt_abandoned()
        run = find_run(store, options.run)
        plan = store.runs.plan(run.id)
        named = _questions(options, plan.benchmark) or ()
        growth: dict[str, Any] = {
            "answering_models": _answering_models(options),
            "judges": _judges(options),
            "replicates": options.replicates,
            "question_ids": plan.benchmark.get_finished_questions(ids_only=True) if options.all_questions else named,
        }
        if options.estimate:
            output.show_estimate(widened(plan, **growth), store, run.id)
            return DONE
        if options.max_cost:
            store.runs.limit_cost(run.id, options.max_cost)
        return _carry_on(store, run.id, options.json, top_up(store, run.id, **growth))


def do_presets(options: argparse.Namespace) -> int:
    """List stored configurations, or delete one."""
    with opened_store() as store:
        if options.delete:
            store.settings.preset(options.delete)
            store.settings.delete_preset(options.delete)
        presets = store.settings.presets()
    if options.json:
        _print_json({name: config.model_dump(mode="json", exclude_defaults=True) for name, config in presets.items()})
    else:
        output.show_presets(presets)
    return DONE


def do_runs(options: argparse.Namespace) -> int:
    """List stored runs."""
    with opened_store() as store:
        store.runs.interrupt_abandoned()
        runs = store.runs.all()
    if options.json:
        _print_json([asdict(run) for run in runs])
    else:
        output.show_runs(runs)
    return DONE


def do_show(options: argparse.Namespace) -> int:
    """Show one run."""
    with opened_store() as store:
        run = find_run(store, options.run)
        _show(store, run, options.json)
    return _outcome(run)


def do_compare(options: argparse.Namespace) -> int:
    """Say whether models or runs differ."""
    from karenina_core.cli.comparisons import compare

    with opened_store() as store:
        compare(store, [find_run(store, text) for text in options.run], options)
    return DONE


def do_diff(options: argparse.Namespace) -> int:
    """Say what changed between two runs."""
    from karenina_core.cli.comparisons import show_changes

    with opened_store() as store:
        show_changes(store, find_run(store, options.before), find_run(store, options.after), as_json=options.json)
    return DONE


def do_resume(options: argparse.Namespace) -> int:
    """Continue a run."""
    from karenina_core.runs import with_answers

    with opened_store() as store:
        store.runs.interrupt_abandoned()
        run = find_run(store, options.run)
        if options.max_cost:
            store.runs.limit_cost(run.id, options.max_cost)
        config = with_answers(run.config, read_answers(options.answers)) if options.answers else None
        return _carry_on(store, run.id, options.json, config)


def _carry_on(store: Store, run_id: str, as_json: bool, config: VerificationConfig | None = None) -> int:
    from karenina_core.runs import resume_run

    with output.progress(quiet=as_json) as report:
        resume_run(store, run_id, progress_callback=report, config=config)
    run = store.runs.get(run_id)
    _show(store, run, as_json)
    return max(_outcome(run), _ending(run))


def do_reverify(options: argparse.Namespace) -> int:
    """Recompute verdicts without model calls."""
    from karenina_core.runs import flips, reverify

    with opened_store() as store:
        run = find_run(store, options.run)
        revision = reverify(store, run.id, Benchmark.load(options.benchmark) if options.benchmark else None)
        changes = flips(store, run.id, revision)
        if options.json:
            _print_json({"run": revision, **asdict(changes)})
        else:
            output.show_flips(revision, changes)
            output.show_results(store, revision)
    return DONE


def do_export(options: argparse.Namespace) -> int:
    """Write the results of a run to a file."""
    from karenina_core.analysis import FORMATS, ReportOptions

    shown = ReportOptions(answers=options.answers, charts=not options.no_figures)
    with opened_store() as store:
        run = find_run(store, options.run)
        content = FORMATS[options.format].content(store, run.id, shown)
    write_atomic(Path(options.out), content)
    print(f"{run.done} results written to {options.out}")
    return DONE


def opened_store() -> Store:
    """Return the configured store; use it as a context, which closes it."""
    from karenina_core.runs import Store

    return Store.open()


def find_run(store: Store, text: str) -> RunRow:
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


def last_stopped() -> str:
    """Return the id of the run that stopped last and can go on, or a placeholder where there is none."""
    try:
        with opened_store() as store:
            stopped = [run for run in store.runs.all() if run.status in ("interrupted", "cancelled")]
            return max(stopped, key=lambda run: run.finished or "").id if stopped else "RUN"
    except KareninaError:
        return "RUN"


def _print_json(content: Any) -> None:
    print(json.dumps(content, indent=2, ensure_ascii=False, default=str))


def _write(target: str, results: VerificationResultSet, config: VerificationConfig | None = None) -> None:
    from karenina_core.analysis import to_json

    content = to_json(results, config)
    if target == "-":
        print(content.decode())
    else:
        write_atomic(Path(target), content)


def _show(store: Store, run: RunRow, as_json: bool) -> None:
    if as_json:
        _write("-", VerificationResultSet(store.results.all(run.id), run.id))
    else:
        output.show_account(store, run)
        output.show_results(store, run.id)


def _ending(run: RunRow) -> int:
    """Say why a run stopped before its end, if it did."""
    if run.done == run.total:
        return DONE
    print(f"{run.done} of {run.total} evaluations are done. {run.note}".strip(), file=sys.stderr)
    return PROBLEMS


def _outcome(run: RunRow) -> int:
    if run.errors:
        print(f"{run.errors} of {run.done} evaluations failed and have no verdict.", file=sys.stderr)
    return PROBLEMS if run.errors or not run.done else DONE


def _configuration(options: argparse.Namespace) -> VerificationConfig:
    """Return the configuration: a file or a preset where one is named, changed by the other options."""
    settings: dict[str, Any] = {}
    if options.config:
        from karenina_core.runs import read_configuration_file

        settings = dict(read_configuration_file(options.config))
    elif options.preset:
        with opened_store() as store:
            settings = dict(store.settings.preset(options.preset))
    given = {
        "answering_models": _answering_models(options),
        "parsing_models": _judges(options),
        "replicate_count": options.replicates,
        "max_concurrent_requests": options.concurrency,
        "abstention_enabled": options.abstention,
        "embedding_check_enabled": options.embeddings,
        "max_cost": options.max_cost,
    }
    settings |= {name: value for name, value in given.items() if value}
    if not settings.get("answering_models"):
        raise InputError(
            "No model to test was given.", next="Name one with --answering, or give prepared answers with --answers."
        )
    if not settings.get("parsing_models"):
        raise InputError("No judge was given.", next="Name one with --judge.")
    return VerificationConfig.model_validate(settings)


def _answering_models(options: argparse.Namespace) -> list[ModelConfig]:
    prepared = [f"manual:{options.answers}"] if options.answers else []
    return [model for text in (*options.answering, *prepared) for model in _models(text, options, "answer")]


def _judges(options: argparse.Namespace) -> list[ModelConfig]:
    return [model for text in options.judge for model in _models(text, options, "parse")]


def _models(text: str, options: argparse.Namespace, purpose: Purpose) -> list[ModelConfig]:
    if text.startswith("manual:"):
        answers = read_answers(text.removeprefix("manual:"))
        return [
            ModelConfig(id=name, interface="manual", model_name=name, manual_traces=answers[name]) for name in answers
        ]
    if text.startswith("recorded:") and "/" not in text:
        # A recording by its name alone stands for all models in it.
        entries = Recording.load(text.removeprefix("recorded:")).entries(purpose)
        return [ModelConfig.parse(f"{text}/{entry}") for entry in entries]
    model = ModelConfig.parse(text)
    place = {"endpoint_base_url": options.base_url, "api_key_env": options.api_key_env}
    settings = {name: value for name, value in place.items() if value}
    return [ModelConfig.parse(text, **settings) if model.is_provider else model]


def _questions(options: argparse.Namespace, benchmark: Benchmark) -> list[str] | None:
    """Return the questions that the options choose; None when they choose all."""
    from karenina_core.runs import choose_questions, questions_of

    named = set(options.question) if options.question else None
    if options.only_failing_in:
        with opened_store() as store:
            failing = set(questions_of(store, find_run(store, options.only_failing_in).id))
        named = failing if named is None else named & failing
    if named is None and not options.keyword and not options.search:
        return None
    chosen = choose_questions(benchmark, keywords=options.keyword, search=options.search or "", question_ids=named)
    if not chosen:
        raise InputError("No question is left.", next="Loosen --keyword, --search, --question or --only-failing-in.")
    return chosen
