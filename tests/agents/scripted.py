"""What a scripted provider replies to an agent, and an agent that talks to it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from karenina_core.agents.loop import AgentOutcome, run_agent
from karenina_core.agents.tools import Tool, file_tools
from karenina_core.models import CallServices, ChatRequest, MemoryLedger, Message, ModelCaller, RunLimiter, Subject
from karenina_core.schemas import AgentLimits, ModelConfig
from tests.faults.openai_server import OpenAIServer, Reply


def uses(*calls: tuple[str, dict[str, Any]], text: str | None = None) -> Reply:
    """Return a reply that asks for tools."""
    wanted = [
        {"id": f"id{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text, "tool_calls": wanted}
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    return Reply(body=json.dumps({"model": "gpt-test", "choices": [choice], "usage": usage}).encode())


def model_at(server: OpenAIServer, **settings: Any) -> ModelConfig:
    return ModelConfig(
        id="agent", interface="openai_endpoint", model_name="gpt-test", endpoint_base_url=server.url, **settings
    )


def work(
    server: OpenAIServer,
    workspace: Path,
    *,
    ledger: MemoryLedger | None = None,
    tools: list[Tool] | None = None,
    **limits: Any,
) -> AgentOutcome:
    """Let an agent answer one question in a workspace."""
    request = ChatRequest("answer", (Message("user", "What is wrong?"),), Subject("q", "What is wrong?", "agent"))

    async def run() -> AgentOutcome:
        services = CallServices(ledger or MemoryLedger(), RunLimiter(attempts=1))
        async with ModelCaller(services) as caller:
            offered = file_tools(workspace) if tools is None else tools
            return await run_agent(caller, model_at(server), request, offered, AgentLimits(**limits))

    return asyncio.run(run())


def wait_until(done: Callable[[], bool], most: float = 60) -> None:
    """Wait for a state, looking often."""
    end = time.monotonic() + most
    while not done():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)
