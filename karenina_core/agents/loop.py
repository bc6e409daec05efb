"""The loop of an agent: the model asks for tools, they are used, and it goes on until it answers or a limit is met."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from karenina_core.agents.tools import Tool, use_tool
from karenina_core.models import ChatRequest, Message, ModelCaller
from karenina_core.schemas import AgentLimitName, AgentLimits, CallRecord, ModelConfig

_CUT = "\n… cut"


@dataclass
class AgentOutcome:
    """What an agent did.

    Attributes:
        text: What it said last.
        transcript: All messages, from the prompt on.
        calls: Its model calls.
        limit: Which limit ended it; empty when it came to an end by itself.
    """

    text: str = ""
    transcript: list[Message] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    limit: AgentLimitName | None = None


async def run_agent(
    caller: ModelCaller,
    model: ModelConfig,
    request: ChatRequest,
    tools: Sequence[Tool],
    limits: AgentLimits,
    clock: Callable[[], float] = time.monotonic,
) -> AgentOutcome:
    """Let a model work with tools until it answers.

    Every turn and every result of a tool is in the ledger. Each turn but the first has its number as the part of its
    subject, by which recordings find it.

    Args:
        caller: The way to the model.
        model: The model.
        request: The prompt, its purpose and subject.
        tools: What it may use.
        limits: When it has to stop.
        clock: Seconds, for the limit of time.

    Raises:
        ModelError: A call failed for good.
    """
    offered, by_name = tuple(tool.spec for tool in tools), {tool.spec.name: tool for tool in tools}
    outcome = AgentOutcome(transcript=[*request.messages])
    used, output, end = 0, 0, clock() + limits.max_seconds
    for turn in range(1, limits.max_turns + 1):
        if turn > 1 and clock() > end:
            outcome.limit = "seconds"
            return outcome
        part = f"turn {turn}" if turn > 1 else ""
        asked = replace(
            request,
            messages=tuple(outcome.transcript),
            tools=offered,
            subject=replace(request.subject, part=part),
        )
        reply, record = await caller.complete(model, asked)
        outcome.calls.append(record)
        outcome.transcript.append(Message("assistant", reply.text, reply.tool_calls))
        outcome.text = reply.text or outcome.text
        if not reply.tool_calls:
            return outcome
        for call in reply.tool_calls:
            used += 1
            if used > limits.max_tool_calls or output > limits.max_output_bytes:
                outcome.limit = "tool calls" if used > limits.max_tool_calls else "output"
                return outcome
            place = replace(asked, purpose="tool", messages=tuple(outcome.transcript))
            tool, use = by_name.get(call.name), partial(use_tool, by_name, call.name, call.arguments)
            again = tool is not None and tool.changes_workspace
            result = _cut(await caller.tool_result(model, place, use, again=again), limits.max_result_bytes)
            output += len(result.encode("utf-8", "replace"))
            outcome.transcript.append(Message("tool", result, tool_call_id=call.id))
    outcome.limit = "turns"
    return outcome


def _cut(text: str, most: int) -> str:
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most else data[:most].decode("utf-8", "ignore") + _CUT
