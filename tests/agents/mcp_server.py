"""A small MCP server, started by tests as a process: `python mcp_server.py` or `python mcp_server.py PORT`."""

from __future__ import annotations

import os
import sys

from mcp.server import MCPServer

server = MCPServer("genes")


@server.tool()
def length(name: str) -> str:
    """Return the length of a gene."""
    if name == "broken":
        raise ValueError("no such gene")
    return f"{name} has 1,234 bases in {os.path.basename(os.getcwd())}"


@server.tool()
def environment() -> str:
    """Return the names of all variables."""
    return " ".join(os.environ)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
