"""The pool of interpreters: shared, restarted, retried, and reporting within the author's lines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from karenina_core.errors import TemplateError
from karenina_core.templates import Limits, Sandbox
from karenina_core.templates.sandbox import shared_sandbox


def test_a_program_gives_the_value_of_its_last_expression(sandbox: Sandbox) -> None:
    assert sandbox.run("x + 1", {"x": 41}, lines=[1]) == 42


def test_a_closed_sandbox_starts_again() -> None:
    own = Sandbox()
    assert own.run("1", {}, lines=[1]) == 1
    own.close()
    own.close()
    assert own.run("2", {}, lines=[1]) == 2
    own.close()


def test_several_threads_share_the_processes(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: sandbox.run("n * n", {"n": n}, lines=[1]), range(40)))
    assert found == [n * n for n in range(40)]


def test_a_run_that_takes_too_long_is_repeated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: list[Any] = [TemplateError("slow", code="timeout"), 42]
    own = Sandbox()

    def once(*_: Any) -> Any:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(own, "_run_once", once)
    assert own.run("", {}, lines=()) == 42
    outcomes += [TemplateError("slow", code="timeout"), TemplateError("slow again", code="timeout")]
    with pytest.raises(TemplateError, match="slow again"):
        own.run("", {}, lines=())


def test_an_endless_loop_ends(sandbox: Sandbox) -> None:
    with pytest.raises(TemplateError) as caught:
        sandbox.run("while True:\n    pass", {}, lines=[1, 2])
    assert caught.value.code == "timeout"
    assert sandbox.run("1", {}, lines=[1]) == 1


def test_a_worker_that_is_stuck_outside_of_its_limits_is_a_timeout() -> None:
    own = Sandbox(Limits(seconds=0.2))
    crashed = type("Crash", (), {"timed_out": True})
    from karenina_core.templates.sandbox import _crashed

    assert _crashed(crashed()).code == "timeout"
    crashed.timed_out = False
    assert _crashed(crashed()).code == "crashed"
    own.close()


def test_a_pool_that_does_not_start_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONTY_BIN", "/nonexistent/monty")
    own = Sandbox()
    with pytest.raises(TemplateError) as caught:
        own.run("1", {}, lines=[1])
    assert caught.value.code == "unavailable"
    assert "does not start" in caught.value.why


def test_errors_of_the_tail_name_the_authors_line(sandbox: Sandbox) -> None:
    with pytest.raises(TemplateError) as caught:
        sandbox.run("def f():\n    return 1 / 0\n\nf()\n", {}, lines=[1, 2])
    assert (caught.value.line, caught.value.what) == (2, "f() raised ZeroDivisionError")


def test_the_process_has_one_sandbox() -> None:
    assert shared_sandbox() is shared_sandbox()


def test_imports_that_are_provided_work(sandbox: Sandbox) -> None:
    code = (
        "import string, statistics\n"
        "from statistics import mean\n"
        "from dateutil import parser\n"
        "from dateutil.parser import parse\n"
        "[string.digits, statistics.median([3, 1, 2]), mean([1, 2]), parser.parse('11 April 2016').month, "
        "parse('2016-04-11T10:00:00+02:00').utcoffset().total_seconds()]"
    )
    assert sandbox.run(code, {}, lines=range(1, 5 + 1)) == ["0123456789", 2, 1.5, 4, 7200.0]


@pytest.mark.parametrize(
    "code",
    [
        "import statistics\nstatistics.mean(list(range(20_000)))",
        "import statistics\nstatistics.mean(['a'])",
        "from dateutil.parser import parse\nparse('x' * 1000)",
        "from dateutil.parser import parse\nparse('no date')",
        "from dateutil.parser import parse\nparse('9' * 99)",
    ],
)
def test_what_runs_outside_is_bounded(sandbox: Sandbox, code: str) -> None:
    with pytest.raises(TemplateError, match="ValueError"):
        sandbox.run(code, {}, lines=[1, 2])
