"""`karenina`: read the arguments, do the job, map errors to exit codes.

Exit codes: 0 done; 1 done, but problems were found or some evaluations failed; 2 the input cannot be used;
130 interrupted.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

from karenina_core import __version__
from karenina_core.cli.codes import INTERRUPTED, UNUSABLE
from karenina_core.errors import KareninaError, validation_message

EXPORT_FORMATS = ("csv", "csv-long", "xlsx", "json", "upstream", "html", "markdown", "latex")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="karenina",
        description="Build, run and explore LLM benchmarks whose verdicts are decided by code.",
        epilog="Exit codes: 0 done; 1 problems found or evaluations failed; 2 input not usable; 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"karenina {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="run the bundled benchmark from recorded calls and print the table")
    demo.add_argument("--json", action="store_true", help="print JSON")
    check = commands.add_parser("check", help="read a benchmark file and report repairs and problems")
    check.add_argument("file", metavar="FILE")
    check.add_argument("--json", action="store_true", help="print JSON")
    _add_run(commands)
    _add_topup(commands)
    presets = commands.add_parser("presets", help="list stored configurations")
    presets.add_argument("--delete", metavar="NAME", help="forget this one first")
    presets.add_argument("--json", action="store_true", help="print JSON")
    runs = commands.add_parser("runs", help="list stored runs")
    runs.add_argument("--json", action="store_true", help="print JSON")
    show = commands.add_parser("show", help="show one run")
    show.add_argument("run", metavar="RUN", help="run id, the start of one, or a run name")
    show.add_argument("--json", action="store_true", help="print JSON")
    _add_compare(commands)
    resume = commands.add_parser(
        "resume", help="continue an interrupted run; failed evaluations and failed traits are tried again"
    )
    resume.add_argument("run", metavar="RUN")
    resume.add_argument("--answers", metavar="FILE", help="the prepared answers of the run, where it has some")
    resume.add_argument("--max-cost", type=_amount, metavar="USD", help="let the run spend this much in all")
    resume.add_argument("--json", action="store_true", help="print JSON")
    reverify = commands.add_parser("reverify", help="recompute verdicts by present rules, without model calls")
    reverify.add_argument("run", metavar="RUN")
    reverify.add_argument("--benchmark", metavar="FILE", help="benchmark with the new rules; else the stored one")
    reverify.add_argument("--json", action="store_true", help="print JSON")
    diff = commands.add_parser("diff", help="say which verdicts changed between two runs, and what changed them")
    diff.add_argument("before", metavar="RUN")
    diff.add_argument("after", metavar="RUN")
    diff.add_argument("--json", action="store_true", help="print JSON")
    export = commands.add_parser("export", help="write the results of a run to a file")
    export.add_argument("run", metavar="RUN")
    export.add_argument("--format", choices=EXPORT_FORMATS, required=True, help="html is a report in one file")
    export.add_argument(
        "--answers",
        choices=("none", "failures", "all"),
        default="failures",
        help="whose texts an HTML report shows (default: failures)",
    )
    export.add_argument("--no-figures", action="store_true", help="an HTML report of some 50 KB without any script")
    export.add_argument("--out", metavar="FILE", required=True)
    return parser


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = commands.add_parser(
        "run",
        help="run a benchmark file",
        description="MODEL is a litellm name (openai/gpt-4.1-mini), litellm:NAME, local, local:FILE.gguf, recorded:NAME"
        " or manual:FILE. Keys are read from the environment.",
    )
    run.add_argument("file", metavar="FILE")
    run.add_argument("--config", metavar="FILE", help="configuration as JSON, or exported results; options change it")
    run.add_argument("--preset", metavar="NAME", help="stored configuration; options change it")
    run.add_argument("--save-preset", metavar="NAME", help="store this configuration under a name")
    _add_models(run)
    _add_questions(run)
    run.add_argument("--replicates", type=_positive, metavar="N", help="how often every question is asked")
    run.add_argument("--concurrency", type=_positive, metavar="N", help="calls at once, 8 when not given")
    run.add_argument("--limit", type=_positive, metavar="N", help="only the first N questions")
    run.add_argument("--abstention", action="store_true", help="ask the judge whether the answer declines")
    run.add_argument("--embeddings", action="store_true", help="enable the embedding check")
    run.add_argument("--max-cost", type=_amount, metavar="USD", help="stop when the run has spent this much")
    run.add_argument("--estimate", action="store_true", help="say what the run would take, and ask nobody")
    run.add_argument("--name", metavar="NAME", help="name of the run")
    run.add_argument("--json", metavar="OUT", help="write all results as JSON to this file, - for standard output")


def _add_topup(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    topup = commands.add_parser(
        "topup",
        help="add models, judges, replicates or questions to a stored run, and carry it out",
        description="The run stays the same run: what it has is kept, and what is answered is not asked again.",
    )
    topup.add_argument("run", metavar="RUN", help="run id, the start of one, or a run name")
    _add_models(topup)
    _add_questions(topup)
    topup.add_argument("--all-questions", action="store_true", help="all finished questions of the run's benchmark")
    topup.add_argument("--replicates", type=_positive, metavar="N", help="how often every question is asked, in all")
    topup.add_argument("--max-cost", type=_amount, metavar="USD", help="let the run spend this much in all")
    topup.add_argument("--estimate", action="store_true", help="say what it would take, and ask nobody")
    topup.add_argument("--json", action="store_true", help="print JSON")


def _add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    compare = commands.add_parser(
        "compare",
        help="say whether models or runs really differ",
        description="Compares models question by question, with intervals and tests. MODEL is a model's name, or what "
        "the comparison calls it where several runs or judges are compared.",
    )
    compare.add_argument("run", metavar="RUN", nargs="+", help="run id, the start of one, or a run name")
    compare.add_argument("--baseline", metavar="MODEL", help="compare with this one; the first when not given")
    compare.add_argument("--candidate", metavar="MODEL", nargs="+", default=[], help="all others when not given")
    compare.add_argument("--json", action="store_true", help="print JSON")


def _add_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--answering", nargs="+", metavar="MODEL", default=[], help="models under test")
    parser.add_argument("--judge", nargs="+", metavar="MODEL", default=[], help="models that fill the templates")
    parser.add_argument("--base-url", metavar="URL", help="OpenAI-compatible endpoint for provider models")
    parser.add_argument("--api-key-env", metavar="NAME", help="environment variable that holds the key")
    parser.add_argument("--answers", metavar="FILE", help="prepared answers (JSON, or CSV: question, answer[, model])")


def _add_questions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keyword", nargs="+", metavar="WORD", default=[], help="only questions with a keyword")
    parser.add_argument("--search", metavar="TEXT", help="only questions that hold this text")
    parser.add_argument("--question", nargs="+", metavar="ID", default=[], help="only these questions")
    parser.add_argument("--only-failing-in", metavar="RUN", help="only questions that failed or broke down in a run")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _amount(text: str) -> float:
    amount = float(text)
    if not 0 < amount < math.inf:
        raise argparse.ArgumentTypeError("must be more than 0")
    return amount


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    from karenina_core.redact import redact

    options = build_parser().parse_args(arguments)
    from karenina_core.cli import commands

    try:
        return int(getattr(commands, f"do_{options.command}")(options))
    except KareninaError as error:
        for part in (error.what if not getattr(error, "line", None) else str(error), error.why, error.next):
            if part:
                print(redact(part), file=sys.stderr)
        return UNUSABLE
    except ValueError as error:
        print(redact(validation_message(error)), file=sys.stderr)
        return UNUSABLE
    except OSError as error:
        print(redact(f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")), file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print("Interrupted. What was finished is stored.", file=sys.stderr)
        print(f"Go on with: karenina resume {_interrupted()}. All runs are listed by: karenina runs", file=sys.stderr)
        return INTERRUPTED


def _interrupted() -> str:
    """Return the id of the run that stopped last and can go on, or a placeholder where there is none."""
    from karenina_core.cli import output

    try:
        with output.opened_store() as store:
            stopped = [run for run in store.runs.all() if run.status in ("interrupted", "cancelled")]
            return max(stopped, key=lambda run: run.finished or "").id if stopped else "RUN"
    except KareninaError:
        return "RUN"
