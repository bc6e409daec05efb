"""The two uses of an agent: a model under test answers in a workspace, a judge inspects what it left there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from karenina_core.agents.loop import AgentOutcome, run_agent
from karenina_core.agents.servers import tools_of_servers
from karenina_core.agents.tools import file_tools, run_command_tool
from karenina_core.agents.workspaces import Workspace
from karenina_core.models import MAX_REPLY, ChatRequest, Message, ModelCaller
from karenina_core.schemas import AgentConfig, AgentLimits, ModelConfig

READING_TOOLS = ("list_files", "read_file", "search_files")
"""What an inspecting judge may do."""
_LONGEST_REPORT = 60_000  # characters of an inspection that are read; the middle of a longer one is left out
_ABOUT_TOOLS = (
    "You work in a folder, your workspace, with the tools you are given. Paths are relative to the workspace. Use the "
    "tools as often as you need, then give your final answer as plain text, without a tool call."
)


async def answer_as_agent(
    caller: ModelCaller,
    model: ModelConfig,
    agent: AgentConfig,
    request: ChatRequest,
    workspace: Workspace,
    *,
    allow_commands: bool,
) -> AgentOutcome:
    """Let the model under test work on a question in a workspace.

    Args:
        caller: The way to the model.
        model: The model.
        agent: Its tools and limits.
        request: As it would be asked without tools.
        workspace: Where it works.
        allow_commands: Whether it may run commands, and servers may be started for it.

    Raises:
        ModelError: A call failed for good.
        ConfigError: An MCP server cannot be used.
    """
    tools = file_tools(workspace.path, agent.tools)
    if "run_command" in agent.tools and allow_commands:
        tools.append(run_command_tool(workspace.path, agent.limits.max_seconds))
    own = [message.content for message in request.messages if message.role == "system"]
    others = [message for message in request.messages if message.role != "system"]
    asked = replace(request, messages=(Message("system", "\n\n".join([*own, _ABOUT_TOOLS])), *others))
    async with tools_of_servers(agent.mcp_servers, workspace.path, allow_commands=allow_commands) as more:
        return await run_agent(caller, model, asked, [*tools, *more], agent.limits)


async def inspect(
    caller: ModelCaller, judge: ModelConfig, request: ChatRequest, workspace: Workspace | None, limits: AgentLimits
) -> tuple[str, AgentOutcome]:
    """Let a judge look into what an answer left.

    Args:
        caller: The way to the judge.
        judge: The judge.
        request: What it is to find out.
        workspace: Where it may read; None when it has the transcript alone.
        limits: When it has to stop.

    Returns:
        Its report, and what it did.

    Raises:
        ModelError: A call failed for good.
    """
    tools = file_tools(workspace.path, READING_TOOLS) if workspace is not None else []
    outcome = await run_agent(caller, judge, request, tools, limits)
    report = outcome.text or trace_text([message.as_data() for message in outcome.transcript])
    if len(report) > _LONGEST_REPORT:
        head = _LONGEST_REPORT // 3
        report = f"{report[:head]}\n…\n{report[head - _LONGEST_REPORT :]}"
    return report, outcome


def trace_text(transcript: Sequence[Mapping[str, Any]]) -> str:
    """Return what an agent said, which tools it used, and what they gave, as one text."""
    parts = []
    for message in transcript:
        if message["role"] == "assistant":
            calls = [f"--- Tool call: {call['name']} {call['arguments']}" for call in message.get("tool_calls", ())]
            parts += ["--- Assistant", message["content"], *calls]
        elif message["role"] == "tool":
            parts += ["--- Tool result", message["content"]]
    return "\n".join(filter(None, parts))[:MAX_REPLY]
