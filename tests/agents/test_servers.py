"""Tools of MCP servers: a real process, started by the agent, or reached over HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from karenina_core.agents.servers import tools_of_servers
from karenina_core.agents.tools import use_tool
from karenina_core.errors import ConfigError
from karenina_core.schemas import MCPServer
from tests.agents.scripted import wait_until

SERVER = Path(__file__).with_name("mcp_server.py")
COMMAND = [sys.executable, str(SERVER)]


def say(servers: dict[str, MCPServer], folder: Path, *calls: tuple[str, dict], allow: bool = True) -> list[str]:
    async def run() -> list[str]:
        async with tools_of_servers(servers, folder, allow_commands=allow) as tools:
            by_name = {tool.spec.name: tool for tool in tools}
            return [",".join(by_name), *[await use_tool(by_name, name, json.dumps(given)) for name, given in calls]]

    return asyncio.run(run())


def test_a_server_that_is_started_lends_its_tools(workspace: Path) -> None:
    names, length, broken, variables = say(
        {"genes": MCPServer(command=COMMAND)},
        workspace,
        ("mcp__genes__length", {"name": "BCL2"}),
        ("mcp__genes__length", {"name": "broken"}),
        ("mcp__genes__environment", {}),
    )
    assert names == "mcp__genes__length,mcp__genes__environment"
    assert length == "BCL2 has 1,234 bases in task_01"
    assert broken.startswith("Error:") and "KEY" not in variables


@pytest.fixture
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([*COMMAND, str(port)], stderr=subprocess.DEVNULL) as process:

        def listens() -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_until(listens)
        yield f"http://127.0.0.1:{port}/mcp"
        process.kill()


def test_a_server_is_reached_over_http_and_filtered(workspace: Path, address: str) -> None:
    servers = {"genes": MCPServer(url=address, tools=["length"])}
    names, length = say(servers, workspace, ("mcp__genes__length", {"name": "TP53"}), allow=False)
    assert names == "mcp__genes__length" and length.startswith("TP53 has")


@pytest.mark.parametrize(
    ("server", "allow", "problem"),
    [
        (MCPServer(command=COMMAND), False, "is a command, and this run starts none"),
        (MCPServer(command=COMMAND, tools=["fly"]), True, "offers no tool that is allowed"),
        (MCPServer(command=["/nonexistent/server"]), True, "cannot be used"),
        (MCPServer(url="http://127.0.0.1:9/mcp"), True, "cannot be used"),
        (MCPServer(url="file:///etc/passwd"), True, "cannot be used"),
        (MCPServer(url="http://169.254.169.254/mcp"), True, "cannot be used"),
    ],
)
def test_a_server_that_cannot_be_used_is_named(workspace: Path, server: MCPServer, allow: bool, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        say({"genes": server}, workspace, allow=allow)


def test_a_server_has_one_way_to_it() -> None:
    for given in ({}, {"url": "http://x.org", "command": ["x"]}):
        with pytest.raises(ValueError, match="either a url or a command"):
            MCPServer.model_validate(given)
