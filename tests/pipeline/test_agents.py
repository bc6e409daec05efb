"""Agents in the pipeline: answering and inspecting, each without the other and both together."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from karenina_core.agents import workspaces
from karenina_core.benchmark import Benchmark
from karenina_core.models import CallServices, MemoryLedger, ModelCaller, RunLimiter
from karenina_core.pipeline import Pipeline
from karenina_core.schemas import AgentConfig, VerificationConfig, VerificationResult
from tests.agents.scripted import model_at, uses
from tests.faults.openai_server import OpenAIServer, Reply

TEMPLATE = """class Answer(BaseAnswer):
    sum: int = VerifiedField(description="What add(2, 2) gives", ground_truth=4, verify_with=NumericExact())
"""
FIXED = {"path": "calculator.py", "content": "def add(a, b):\n    return a + b\n"}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-agents-0123456789abcdef")


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    folder = tmp_path / "task"
    folder.mkdir()
    (folder / "calculator.py").write_text("def add(a, b):\n    return a - b\n")
    (folder / "result.txt").write_text("add(2, 2) = 4\n")
    made = Benchmark.create("Bugs")
    made.workspace_root = tmp_path
    made.add_question("What does add(2, 2) give?", "4", TEMPLATE, finished=True, workspace_path="task")
    return made


def scripted(sent: dict[str, Any]) -> Reply:
    """Answer, inspect and fill the form as a model would, by what is asked."""
    system = sent["messages"][0]["content"] if sent["messages"][0]["role"] == "system" else ""
    turn = sum(message["role"] == "tool" for message in sent["messages"])
    if "response_format" in sent:
        said = sent["messages"][-1]["content"]
        return Reply('{"sum": 4}' if "4" in said.partition("Response:")[2] else '{"sum": null}')
    if system.startswith("You find out"):
        tools = [tool["function"]["name"] for tool in sent.get("tools", ())]
        assert "write_file" not in tools and "ground" not in system
        if tools and not turn:
            return uses(("read_file", {"path": "result.txt"}))
        return Reply("The file says: add(2, 2) = 4" if tools else "It wrote 4.")
    if "tools" in sent:
        return [uses(("write_file", FIXED)), Reply("Now it gives the right sum.")][min(turn, 1)]
    return Reply("I cannot tell.")


def evaluate(
    benchmark: Benchmark, server: OpenAIServer, *, agent: AgentConfig | None = None, **settings: Any
) -> VerificationResult:
    answerer = model_at(server, agent=agent).model_copy(update={"id": "answerer"})
    judge = model_at(server).model_copy(update={"id": "judge"})
    config = VerificationConfig(answering_models=[answerer], parsing_models=[judge], **settings)

    async def run() -> VerificationResult:
        async with ModelCaller(CallServices(MemoryLedger(), RunLimiter(attempts=1))) as caller:
            pipeline = Pipeline(benchmark, config, caller)
            context = await pipeline.generate(benchmark.get_question_ids()[0], answerer, 1)
            return await pipeline.judge(context, judge)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("agent", "inspects", "verdict", "purposes"),
    [
        (None, False, "fail", ["answer", "parse"]),
        (AgentConfig(), False, "fail", ["answer", "answer", "parse"]),
        (None, True, "pass", ["answer", "investigate", "investigate", "parse"]),
        (AgentConfig(), True, "pass", ["answer", "answer", "investigate", "investigate", "parse"]),
    ],
    ids=["neither", "answering", "judging", "both"],
)
def test_either_switch_works_without_the_other(
    benchmark: Benchmark, agent: AgentConfig | None, inspects: bool, verdict: str, purposes: list[str]
) -> None:
    with OpenAIServer(scripted) as server:
        result = evaluate(benchmark, server, agent=agent, agentic_parsing=inspects)
        assert len(server.requests) == len(purposes) == result.usage.calls
    assert (result.verdict, result.failure) == (verdict, None)
    assert result.answer is not None and result.template is not None
    calls = [*result.answer.earlier_calls, result.answer.call, *result.template.calls]
    assert [call.purpose for call in calls if call] == purposes
    assert [item.path for item in result.answer.files] == (["calculator.py"] if agent else [])
    assert bool(result.answer.transcript) == bool(agent)
    warned = any("bare question" in warning for warning in result.warnings)
    assert warned == (agent is None and not inspects)
    assert benchmark.workspace_root is not None
    [task] = benchmark.workspace_root.iterdir()  # no copy is left
    assert (task / "calculator.py").read_text().endswith("a - b\n")


def test_an_agent_at_its_limit_fails_with_its_transcript_and_asks_no_judge(benchmark: Benchmark) -> None:
    with OpenAIServer([uses(("list_files", {"path": "."}))]) as server:
        result = evaluate(benchmark, server, agent=AgentConfig.model_validate({"limits": {"max_turns": 2}}))
        assert len(server.requests) == 2
    assert (result.status, result.verdict) == ("completed", "fail")
    assert result.failure is not None and result.failure.category == "recursion_limit"
    assert result.answer is not None and result.answer.limit == "turns" and len(result.answer.transcript) == 6


def test_a_missing_workspace_is_an_error_before_any_call(benchmark: Benchmark) -> None:
    benchmark.edit_question(benchmark.get_question_ids()[0], workspace_path="elsewhere")
    with OpenAIServer(scripted) as server:
        result = evaluate(benchmark, server, agent=AgentConfig())
        assert server.requests == []
    assert (result.status, result.verdict) == ("failed", "not_evaluated")
    assert result.failure is not None and result.failure.category == "workspace"
    assert "There is no workspace 'elsewhere'" in result.failure.reason


@pytest.mark.parametrize(
    ("trigger", "text", "investigated"),
    [("always", "It gives 4.", True), ("dynamic", "It gives 4.", False), ("dynamic", "I cannot tell.", True)],
)
def test_the_judge_inspects_always_or_only_where_the_answer_leaves_a_field_open(
    benchmark: Benchmark, trigger: str, text: str, investigated: bool
) -> None:
    def script(sent: dict[str, Any]) -> Reply:
        asks_model = sent["messages"][0]["role"] == "user"
        return Reply(text) if asks_model else scripted(sent)

    with OpenAIServer(script) as server:
        result = evaluate(benchmark, server, agentic_parsing=True, agentic_parsing_trigger=trigger)
    assert result.verdict == "pass" and result.template is not None
    assert any(call.purpose == "investigate" for call in result.template.calls) == investigated


@pytest.mark.parametrize(
    ("context", "tools", "trace"),
    [("workspace_only", True, False), ("trace_and_workspace", True, True), ("trace_only", False, True)],
)
def test_what_the_inspecting_judge_has(benchmark: Benchmark, context: str, tools: bool, trace: bool) -> None:
    with OpenAIServer(scripted) as server:
        evaluate(benchmark, server, agent=AgentConfig(), agentic_parsing=True, agentic_judge_context=context)
        asked = next(sent for sent in server.requests if sent["messages"][0]["content"].startswith("You find out"))
    assert ("tools" in asked) == tools
    assert ("--- Tool call: write_file" in asked["messages"][1]["content"]) == trace


@pytest.mark.parametrize("whole", [True, False])
def test_the_judge_reads_the_last_message_or_the_whole_transcript(benchmark: Benchmark, whole: bool) -> None:
    with OpenAIServer(scripted) as server:
        evaluate(benchmark, server, agent=AgentConfig(), use_full_trace_for_template=whole)
        asked = next(sent for sent in server.requests if "response_format" in sent)
    assert ("--- Tool call: write_file" in asked["messages"][1]["content"]) == whole


@pytest.mark.parametrize("variable", ["1", ""])
def test_commands_are_off_unless_run_and_environment_switch_them_on(
    benchmark: Benchmark, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARENINA_ALLOW_COMMANDS", variable)
    agent = AgentConfig(tools=["list_files", "run_command"])
    for allowed in (False, True):
        script = [uses(("run_command", {"command": "echo ran > proof.txt"})), Reply("done"), Reply('{"sum": null}')]
        with OpenAIServer(script) as server:
            result = evaluate(benchmark, server, agent=agent, allow_commands=allowed)
        assert result.answer is not None
        assert [item.path for item in result.answer.files] == (["proof.txt"] if allowed and variable else [])
        assert any("could not run commands" in warning for warning in result.warnings) != bool(allowed and variable)


def test_an_answer_is_kept_where_its_workspace_grew_too_large(
    benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspaces, "MOST_FILES", 2)
    script = [uses(("write_file", {"path": "more.txt", "content": "x"})), Reply("It gives 4."), Reply('{"sum": 4}')]
    with OpenAIServer(script) as server:
        result = evaluate(benchmark, server, agent=AgentConfig())
    assert result.verdict == "pass" and result.answer is not None and result.answer.files == []
    assert any("What the agent changed is not known" in warning for warning in result.warnings)
