"""Tools of MCP servers, beside those of the workspace, through the official `mcp` package."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from karenina_core.agents.tools import Tool
from karenina_core.errors import ConfigError, MissingDependencyError
from karenina_core.models import ToolSpec, check_endpoint
from karenina_core.schemas import MCPServer

_MOST_TOOLS = 64
_SECONDS = 30.0


@asynccontextmanager
async def tools_of_servers(
    servers: Mapping[str, MCPServer], folder: Path, *, allow_commands: bool = False
) -> AsyncIterator[list[Tool]]:
    """Connect to MCP servers and yield their tools, named `mcp__SERVER__TOOL`; ends with the connections.

    Args:
        servers: By name.
        folder: Where a server that is a command starts.
        allow_commands: Whether servers may be started.

    Raises:
        ConfigError: A server cannot be reached, or offers nothing that is allowed.
        MissingDependencyError: The package `mcp` is not installed.
    """
    if not servers:
        yield []
        return
    problem: Exception | None = None
    async with AsyncExitStack() as stack:
        try:
            tools: list[Tool] = []
            for name, server in servers.items():
                if server.command and not allow_commands:
                    how = "Switch commands on for the run, if you trust the configuration."
                    raise ConfigError(f"The MCP server {name!r} is a command, and this run starts none.", next=how)
                tools += await _connect(stack, name, server, folder)
            yield tools
        except Exception as error:  # raised within, it would become a group of errors
            problem = error
    if problem is not None:
        raise problem


async def _connect(stack: AsyncExitStack, name: str, server: MCPServer, folder: Path) -> list[Tool]:
    try:
        from mcp import Client, StdioServerParameters, stdio_client
    except ImportError as error:
        how = 'Install it: pip install "karenina-workbench[agents]"'
        raise MissingDependencyError("MCP servers need the package mcp.", str(error), how) from None
    target: Any
    if server.url is not None:
        target = check_endpoint(server.url)
    else:
        command, *arguments = server.command
        target = stdio_client(StdioServerParameters(command=command, args=arguments, cwd=str(folder)))
    try:
        client = await stack.enter_async_context(Client(target, read_timeout_seconds=_SECONDS))
        listed = (await client.list_tools()).tools
    except Exception as error:
        raise ConfigError(f"The MCP server {name!r} cannot be used.", why=str(error) or type(error).__name__) from error
    allowed = [tool for tool in listed if server.tools is None or tool.name in server.tools][:_MOST_TOOLS]
    if not allowed:
        raise ConfigError(f"The MCP server {name!r} offers no tool that is allowed.", next="Look at its tool filter.")
    return [Tool(_spec(name, tool), partial(_call, client, tool.name)) for tool in allowed]


def _spec(server: str, tool: Any) -> ToolSpec:
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", f"mcp__{server}__{tool.name}")[:64]
    return ToolSpec(name, str(tool.description or tool.name)[:2_000], tool.input_schema)


async def _call(client: Any, name: str, arguments: Mapping[str, Any]) -> str:
    try:
        result = await client.call_tool(name, dict(arguments))
    except Exception as error:
        return f"Error: {error}"
    text = "\n".join(_parts(result.content)) or "(nothing)"
    return f"Error: {text}" if result.is_error else text


def _parts(content: Sequence[Any]) -> list[str]:
    return [part.text if part.type == "text" else f"({part.type})" for part in content]
