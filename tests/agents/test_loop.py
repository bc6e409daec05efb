"""The loop of an agent, against a scripted provider: its way to the answer, its limits, and going on after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from karenina_core.agents import trace_text
from karenina_core.agents.tools import file_tools
from karenina_core.models import MemoryLedger
from tests.agents.scripted import uses, work
from tests.faults.openai_server import OpenAIServer, Reply

FIX = [
    uses(("list_files", {"path": "."}), ("read_file", {"path": "src/calculator.py"}), text="I look."),
    uses(("write_file", {"path": "src/calculator.py", "content": "def add(a, b):\n    return a + b\n"})),
    Reply("The sign was wrong."),
]


def test_an_agent_reads_writes_and_answers(workspace: Path) -> None:
    with OpenAIServer(FIX) as server:
        outcome = work(server, workspace)
        assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == [
            "list_files",
            "read_file",
            "search_files",
            "write_file",
        ]
        third = server.requests[2]["messages"]
    assert outcome.text == "The sign was wrong." and outcome.limit is None
    assert (workspace / "src" / "calculator.py").read_text().endswith("a + b\n")
    assert [message["role"] for message in third] == ["user", "assistant", "tool", "tool", "assistant", "tool"]
    assert third[3]["tool_call_id"] == third[1]["tool_calls"][1]["id"] and "return a - b" in third[3]["content"]
    assert [call.part for call in outcome.calls] == ["", "turn 2", "turn 3"]
    trace = trace_text([message.as_data() for message in outcome.transcript])
    assert "--- Tool call: list_files" in trace and trace.endswith("--- Assistant\nThe sign was wrong.")


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        ({"max_turns": 2}, "turns"),
        ({"max_tool_calls": 3}, "tool calls"),
        ({"max_output_bytes": 1_000, "max_result_bytes": 200}, "output"),
        ({"max_seconds": 1e-9}, "seconds"),
    ],
)
def test_a_limit_ends_the_work_and_keeps_the_transcript(workspace: Path, limits: dict, limit: str) -> None:
    (workspace / "README.md").write_text("x" * 1_000)
    with OpenAIServer([uses(("read_file", {"path": "README.md"}), text="On it.")]) as server:
        outcome = work(server, workspace, **limits)
        asked = len(server.requests)
    assert outcome.limit == limit
    assert len(outcome.calls) == asked == {"turns": 2, "tool calls": 4, "output": 6, "seconds": 1}[limit]
    assert len(outcome.transcript) > asked


def test_what_a_tool_says_is_cut(workspace: Path) -> None:
    (workspace / "README.md").write_text("é" * 1_000)
    with OpenAIServer([uses(("read_file", {"path": "README.md"})), Reply("done")]) as server:
        work(server, workspace, max_result_bytes=201)
        said = server.requests[1]["messages"][-1]["content"]
    assert said == "é" * 100 + "\n… cut"


def test_a_mistake_of_the_model_is_told_to_it(workspace: Path) -> None:
    with OpenAIServer([uses(("fly", {})), Reply("I cannot fly.")]) as server:
        assert work(server, workspace).text == "I cannot fly."
        assert "There is no tool 'fly'" in server.requests[1]["messages"][-1]["content"]


def test_an_agent_that_was_killed_goes_on_where_it_was(workspace: Path) -> None:
    """The replies and results until then are taken from the ledger, and the workspace is rebuilt."""
    ledger, original = MemoryLedger(), (workspace / "src" / "calculator.py").read_text()
    with OpenAIServer([*FIX[:2], Reply("gone", fault="drop")]) as server:
        with pytest.raises(Exception, match="agent"):
            work(server, workspace, ledger=ledger)
        assert len(server.requests) == 3
        (workspace / "src" / "calculator.py").write_text(original)  # the copy of the first process is gone
        server.script = [FIX[2]]
        outcome = work(server, workspace, ledger=ledger)
        assert len(server.requests) == 4
    assert outcome.text == "The sign was wrong."
    assert (workspace / "src" / "calculator.py").read_text().endswith("a + b\n")


def test_a_result_that_is_known_is_not_asked_for_again(workspace: Path) -> None:
    ledger, used = MemoryLedger(), []
    [reader] = file_tools(workspace, ["read_file"])

    async def counting(arguments: object) -> str:
        used.append(arguments)
        return f"read {len(used)} times"

    with OpenAIServer([uses(("read_file", {"path": "README.md"})), Reply("done")]) as server:
        first = work(server, workspace, ledger=ledger, tools=[reader._replace(use=counting)])
        again = work(server, workspace, ledger=ledger, tools=[reader._replace(use=counting)])
        changing = reader._replace(use=counting, changes_workspace=True)
        rebuilt = work(server, workspace, ledger=ledger, tools=[changing])
        assert len(server.requests) == 2
    assert first.transcript == again.transcript == rebuilt.transcript and len(used) == 2
