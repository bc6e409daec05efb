"""`karenina`: read the arguments, do the job, map errors to exit codes.

Exit codes: 0 done; 1 done, but problems were found or some evaluations failed; 2 the input cannot be used;
130 interrupted.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from karenina_core import __version__
from karenina_core.errors import KareninaError, validation_message

UNUSABLE, INTERRUPTED = 2, 130


class _Formats:
    """The names of the export formats, read when they are needed: the analysis takes a while to load."""

    def __iter__(self) -> Iterator[str]:
        from karenina_core.analysis import FORMATS

        return iter(FORMATS)


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


_FLAG: dict[str, Any] = {"action": "store_true"}
_SEVERAL: dict[str, Any] = {"nargs": "+", "default": []}
_RUN = {"metavar": "RUN", "help": "run id, the start of one, or a run name"}
_FILE = {"metavar": "FILE"}
_COUNT: dict[str, Any] = {"type": _positive, "metavar": "N"}

# What an option is, wherever a command has it; a command may say something else about it.
OPTIONS: dict[str, dict[str, Any]] = {
    "file": _FILE,
    **dict.fromkeys(("run", "before", "after"), _RUN),
    "--json": {**_FLAG, "help": "print JSON"},
    "--config": {**_FILE, "help": "configuration as JSON, or exported results; options change it"},
    "--preset": {"metavar": "NAME", "help": "stored configuration; options change it"},
    "--save-preset": {"metavar": "NAME", "help": "store this configuration under a name"},
    "--delete": {"metavar": "NAME", "help": "forget this one first"},
    "--answering": {**_SEVERAL, "metavar": "MODEL", "help": "models under test"},
    "--judge": {**_SEVERAL, "metavar": "MODEL", "help": "models that fill the templates"},
    "--base-url": {"metavar": "URL", "help": "OpenAI-compatible endpoint for provider models"},
    "--api-key-env": {"metavar": "NAME", "help": "environment variable that holds the key"},
    "--answers": {**_FILE, "help": "prepared answers (JSON, or CSV: question, answer[, model])"},
    "--keyword": {**_SEVERAL, "metavar": "WORD", "help": "only questions with a keyword"},
    "--search": {"metavar": "TEXT", "help": "only questions that hold this text"},
    "--question": {**_SEVERAL, "metavar": "ID", "help": "only these questions"},
    "--only-failing-in": {"metavar": "RUN", "help": "only questions that failed or broke down in a run"},
    "--all-questions": {**_FLAG, "help": "all finished questions of the run's benchmark"},
    "--replicates": {**_COUNT, "help": "how often every question is asked, in all"},
    "--concurrency": {**_COUNT, "help": "calls at once, 8 when not given"},
    "--limit": {**_COUNT, "help": "only the first N questions"},
    "--abstention": {**_FLAG, "help": "ask the judge whether the answer declines"},
    "--embeddings": {**_FLAG, "help": "enable the embedding check"},
    "--max-cost": {"type": _amount, "metavar": "USD", "help": "let the run spend this much in all"},
    "--estimate": {**_FLAG, "help": "say what it would take, and ask nobody"},
    "--name": {"metavar": "NAME", "help": "name of the run"},
    "--baseline": {"metavar": "MODEL", "help": "compare with this one; the first when not given"},
    "--candidate": {**_SEVERAL, "metavar": "MODEL", "help": "all others when not given"},
    "--benchmark": {**_FILE, "help": "benchmark with the new rules; else the stored one"},
    "--format": {"metavar": "FORMAT", "choices": _Formats(), "required": True, "help": "one of: %(choices)s"},
    "--no-figures": {**_FLAG, "help": "an HTML report of some 50 KB without any script"},
    "--out": {**_FILE, "required": True},
}
_MODELS = "--answering --judge --base-url --api-key-env --answers"
_QUESTIONS = "--keyword --search --question --only-failing-in"


class Command(NamedTuple):
    """A command of the command line; the function of that name in `commands` carries it out.

    Attributes:
        help: One line for the list of commands.
        options: Names of its options, in the order of its help.
        changes: What differs from the table of options, by option.
        description: More about it, for its own help.
    """

    help: str
    options: str
    changes: Mapping[str, dict[str, Any]] = {}
    description: str | None = None


COMMANDS: dict[str, Command] = {
    "demo": Command("run the bundled benchmark from recorded calls and print the table", "--json"),
    "check": Command("read a benchmark file and report repairs and problems", "file --json"),
    "run": Command(
        "run a benchmark file",
        f"file --config --preset --save-preset {_MODELS} {_QUESTIONS} --replicates --concurrency --limit --abstention "
        "--embeddings --max-cost --estimate --name --json",
        {
            "--max-cost": {"help": "stop when the run has spent this much"},
            "--json": {"action": "store", "metavar": "OUT", "help": "write all results as JSON here, - for printing"},
        },
        "MODEL is a litellm name (openai/gpt-4.1-mini), litellm:NAME, local, local:FILE.gguf, recorded:NAME or "
        "manual:FILE. Keys are read from the environment.",
    ),
    "topup": Command(
        "add models, judges, replicates or questions to a stored run, and carry it out",
        f"run {_MODELS} {_QUESTIONS} --all-questions --replicates --max-cost --estimate --json",
        description="The run stays the same run: what it has is kept, and what is answered is not asked again.",
    ),
    "presets": Command("list stored configurations", "--delete --json"),
    "runs": Command("list stored runs", "--json"),
    "show": Command("show one run", "run --json"),
    "compare": Command(
        "say whether models or runs really differ",
        "run --baseline --candidate --json",
        {"run": {"nargs": "+"}},
        "Compares models question by question, with intervals and tests. MODEL is a model's name, or what the "
        "comparison calls it where several runs or judges are compared.",
    ),
    "resume": Command(
        "continue an interrupted run; failed evaluations and failed traits are tried again",
        "run --answers --max-cost --json",
        {"--answers": {"help": "the prepared answers of the run, where it has some"}},
    ),
    "reverify": Command("recompute verdicts by present rules, without model calls", "run --benchmark --json"),
    "diff": Command("say which verdicts changed between two runs, and what changed them", "before after --json"),
    "export": Command(
        "write the results of a run to a file",
        "run --format --answers --no-figures --out",
        {
            "--answers": {
                "metavar": None,
                "choices": ("none", "failures", "all"),
                "default": "failures",
                "help": "whose texts an HTML report shows (default: failures)",
            }
        },
    ),
}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="karenina",
        description="Build, run and explore LLM benchmarks whose verdicts are decided by code.",
        epilog="Exit codes: 0 done; 1 problems found or evaluations failed; 2 input not usable; 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"karenina {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        added = commands.add_parser(name, help=command.help, description=command.description)
        for option in command.options.split():
            added.add_argument(option, **OPTIONS[option] | command.changes.get(option, {}))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    from karenina_core.redact import redact

    options = build_parser().parse_args(arguments)
    from karenina_core.cli import commands

    try:
        return int(getattr(commands, f"do_{options.command}")(options))
    except KareninaError as error:
        problem = [error.what if not getattr(error, "line", None) else str(error), error.why, error.next]
    except ValueError as error:
        problem = [validation_message(error)]
    except OSError as error:
        problem = [f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")]
    except KeyboardInterrupt:
        print("Interrupted. What was finished is stored.", file=sys.stderr)
        run = commands.last_stopped()
        print(f"Go on with: karenina resume {run}. All runs are listed by: karenina runs", file=sys.stderr)
        return INTERRUPTED
    for line in filter(None, problem):
        print(redact(line), file=sys.stderr)
    return UNUSABLE
