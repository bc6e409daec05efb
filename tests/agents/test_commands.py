"""Commands of an agent: what they see, what they may do, and that they end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from karenina_core.agents import commands, protection
from tests.agents.scripted import wait_until


def run(workspace: Path, command: str, seconds: float = 20) -> str:
    return asyncio.run(commands.run_command(command, workspace, seconds))


@pytest.fixture(params=["isolated", "limited"])
def held(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Either way a command is held; the first needs bubblewrap."""
    if request.param == "isolated" and protection() != "isolated":
        pytest.skip("bubblewrap does not work here")
    monkeypatch.setattr(commands, "protection", lambda: request.param)
    return str(request.param)


def test_a_command_works_in_its_workspace(workspace: Path, held: str) -> None:
    said = run(workspace, "pwd; echo fixed > result.txt; ls; exit 3")
    assert said.splitlines() == ["exit code 3", str(workspace), "README.md", "result.txt", "src"]
    assert (workspace / "result.txt").read_text() == "fixed\n"


def test_a_command_sees_no_key(workspace: Path, held: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    said = run(workspace, "env")
    assert "sk-" not in said and "KEY" not in said and f"HOME={workspace}" in said


def test_a_command_ends_in_time_with_all_it_started(workspace: Path, held: str) -> None:
    said = run(workspace, "(sleep 300 & echo $! > child); sleep 300", seconds=0.5)
    assert said.startswith("ended after 0.5 s")
    if held == "limited":  # isolated, its number is another one out here
        child = int((workspace / "child").read_text())
        wait_until(lambda: not Path(f"/proc/{child}").exists() or " Z " in Path(f"/proc/{child}/stat").read_text())


def test_a_command_that_prints_without_end_is_ended(workspace: Path, held: str) -> None:
    said = run(workspace, "yes")
    assert said.startswith("ended after 100,000 bytes") and len(said) < 101_000


def test_an_isolated_command_writes_nowhere_else_and_reaches_no_network(workspace: Path, tmp_path: Path) -> None:
    if protection() != "isolated":
        pytest.skip("bubblewrap does not work here")
    script = (
        f"echo evil > {tmp_path}/secret.txt; echo evil > /etc/evil; cat /root/.ssh/* /home/*/.ssh/*; "
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 22), 2)'; kill -9 -1; echo alive"
    )
    said = run(workspace, script)
    assert (tmp_path / "secret.txt").read_text() == "the secret"
    assert not Path("/etc/evil").exists()
    assert "Read-only file system" in said or "Permission denied" in said


def test_without_bubblewrap_a_command_is_only_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands.shutil, "which", lambda name: None)
    protection.cache_clear()
    assert protection() == "limited"
    protection.cache_clear()
