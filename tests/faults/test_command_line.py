"""Commands that are killed, interrupted or started twice: real processes, and the same store after them."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from karenina_core.cli import main
from karenina_core.runs import Store, wanted
from tests.faults.openai_server import HANGING, OpenAIServer, Reply
from tests.faults.road import PATIENCE, call_of, config, honest, islands, wait_until

ROOT = Path(__file__).parents[2]
QUESTIONS = 30
ANSWERED = 20
AT_ONCE = 4
SILENT: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def place(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store of all commands."""
    monkeypatch.setenv("KARENINA_DATABASE_URL", f"sqlite:///{path}")
    return path


@pytest.fixture
def arguments(tmp_path: Path, server: OpenAIServer) -> list[str]:
    """`run`, with a benchmark and two models; the server that plays them is silent about the last questions."""
    server.script = lambda request: HANGING if call_of(request)[1] > ANSWERED else honest(request)
    islands(QUESTIONS).save(tmp_path / "islands.jsonld")
    models = ["--answering", "openai/answerer", "--judge", "openai/judge", "--base-url", server.url]
    return ["run", str(tmp_path / "islands.jsonld"), *models, "--concurrency", str(AT_ONCE)]


@contextmanager
def begun(arguments: list[str], name: str, server: OpenAIServer) -> Iterator[subprocess.Popen[str]]:
    """Start a command in a process of its own; when this goes on it waits for answers that never come."""
    command = [sys.executable, "-m", "karenina_core", *arguments, "--name", name]
    # Where the tests themselves run in the background, Ctrl-C is ignored, and a child would take that over.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, before)
    try:
        wait_until(lambda: len(server.requests) >= 2 * ANSWERED + AT_ONCE or child.poll() is not None)
        yield child
    finally:
        server.script = honest
        child.kill()
        child.communicate()


def stop(child: subprocess.Popen[str], how: signal.Signals) -> str:
    """Send a signal, and return what the command said on standard error."""
    child.send_signal(how)
    return child.communicate(timeout=PATIENCE)[1]


def warning(child: subprocess.Popen[str]) -> str:
    """Return what a command says on standard error beside its progress."""
    assert child.stderr is not None
    return next(line for line in child.stderr if "%" not in line)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_was_killed_is_listed_and_resumed(
    arguments: list[str], server: OpenAIServer, capsys: Output, how: signal.Signals
) -> None:
    with begun(arguments, "Killed", server) as child:
        stop(child, how)
    assert child.returncode == -how
    assert main(["runs"]) == 0
    listed = capsys.readouterr().out
    with Store.open() as store:
        (run,) = store.runs.all()
        kept = {row["result_id"]: row["timestamp"] for row in store.results.rows(run.id)}
    assert f"{len(kept)} of {QUESTIONS}" in listed
    assert f"Go on with: karenina resume {run.id}" in listed
    assert main(["resume", run.id]) == 0
    assert f"{QUESTIONS} of {QUESTIONS} evaluations done" in capsys.readouterr().out
    with Store.open() as store:
        assert (store.runs.get(run.id).status, store.runs.get(run.id).passed) == ("completed", QUESTIONS)
        assert kept.items() <= {row["result_id"]: row["timestamp"] for row in store.results.rows(run.id)}.items()
    calls = [call_of(request) for request in server.requests]
    assert len(calls) - len(set(calls)) <= AT_ONCE, "more was paid twice than was in flight"


def test_an_interrupted_command_stores_what_is_in_flight_and_names_the_run_it_was_carrying_out(
    arguments: list[str], server: OpenAIServer, capsys: Output
) -> None:
    with Store.open() as store:
        earlier = store.runs.create(wanted(islands(1), config(server)), "Earlier")
        store.runs.set_status(earlier, "interrupted")

    def slow_at_the_end(request: dict[str, Any]) -> Reply:
        server.delay = 3.0 if call_of(request)[1] > ANSWERED else 0.0
        return honest(request)

    server.script = slow_at_the_end
    with begun(arguments, "Mine", server) as child:
        child.send_signal(signal.SIGINT)
        assert "Interrupt again" in warning(child)
        message = child.communicate(timeout=PATIENCE)[1]
    assert child.returncode == 130
    with Store.open() as store:
        (mine,) = [run for run in store.runs.all() if run.name == "Mine"]
    assert mine.status == "interrupted" and mine.calls == len(server.requests) == 2 * ANSWERED + AT_ONCE
    assert f"Go on with: karenina resume {mine.id}." in message
    server.delay = 0.0
    assert main(["resume", mine.id]) == 0
    assert f"{QUESTIONS} of {QUESTIONS} evaluations done" in capsys.readouterr().out
    assert len(server.requests) == 2 * QUESTIONS, "a call was paid twice"


def test_interrupted_twice_it_gives_up_what_is_in_flight(arguments: list[str], server: OpenAIServer) -> None:
    with begun(arguments, "Mine", server) as child:
        child.send_signal(signal.SIGINT)
        assert "Interrupt again" in warning(child)
        assert child.poll() is None
        assert "Go on with: karenina resume" in stop(child, signal.SIGINT)
    assert child.returncode == 130
    with Store.open() as store:
        (mine,) = store.runs.all()
    assert mine.status in ("cancelled", "interrupted") and mine.done == ANSWERED


def test_a_run_under_way_is_left_to_its_process(arguments: list[str], server: OpenAIServer, capsys: Output) -> None:
    with begun(arguments, "Theirs", server) as child:
        assert main(["resume", "Theirs"]) == 2
        assert "carried out by another process" in capsys.readouterr().err
        assert main(["topup", "Theirs", "--replicates", "2"]) == 2
        assert "under way" in capsys.readouterr().err
        assert main(["resume", "Theirs", "--max-cost", "1"]) == 2
        assert "cannot change" in capsys.readouterr().err
        assert child.poll() is None
    assert len(server.requests) == 2 * ANSWERED + AT_ONCE


def test_two_commands_at_once_share_the_store_and_its_account(arguments: list[str], server: OpenAIServer) -> None:
    server.script = honest
    children = []
    for name in ("openai/gpt-4.1-mini", "openai/gpt-4.1-nano"):
        options = [name if option == "openai/answerer" else option for option in arguments]
        children.append(subprocess.Popen([sys.executable, "-m", "karenina_core", *options], cwd=ROOT, **SILENT))
    assert [child.wait(PATIENCE) for child in children] == [0, 0]
    with Store.open() as store:
        runs = store.runs.all()
        assert [(run.status, run.passed) for run in runs] == [("completed", QUESTIONS)] * 2
        assert store.spending.today() == pytest.approx(sum(run.cost or 0 for run in runs))
        assert store.spending.today() > 0
