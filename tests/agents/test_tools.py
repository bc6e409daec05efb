"""File tools: they do their work, and reach nothing outside of the workspace."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from karenina_core.agents.tools import file_tools, use_tool

ESCAPES = [
    "..",
    "../..",
    "../../secret.txt",
    "src/../../../secret.txt",
    "/etc/passwd",
    "/",
    "//etc/passwd",
    "./../../secret.txt",
    "link",
    "link/secret.txt",
    "src/deep/secret.txt",
    "file_link",
    "chain",
    "~/../../secret.txt/../../../../etc/passwd",
    "src/calculator.py/../../../../secret.txt",
    "\0",
    "a" * 5_000,
    "loop",
    "../task_01_evil/x",
    "/proc/self/environ",
    "/dev/zero",
]


def use(workspace: Path, name: str, **arguments: object) -> str:
    tools = {tool.spec.name: tool for tool in file_tools(workspace)}
    return asyncio.run(use_tool(tools, name, json.dumps(arguments)))


@pytest.fixture
def trapped(workspace: Path) -> Path:
    outside = workspace.parents[1]
    (workspace / "link").symlink_to(outside)
    (workspace / "src" / "deep").symlink_to(outside, target_is_directory=True)
    (workspace / "file_link").symlink_to(outside / "secret.txt")
    (workspace / "chain").symlink_to("file_link")
    (workspace / "loop").symlink_to("loop")
    (workspace.parent / "task_01_evil").mkdir()
    return workspace


@pytest.mark.parametrize("path", ESCAPES, ids=range(len(ESCAPES)))
@pytest.mark.parametrize("tool", ["list_files", "read_file", "search_files", "write_file"])
def test_nothing_outside_of_the_workspace_is_reached(trapped: Path, tool: str, path: str) -> None:
    outside = trapped.parents[1]
    before = sorted(item.name for item in outside.rglob("*"))
    more = {"write_file": {"content": "evil"}, "search_files": {"pattern": "secret"}}.get(tool, {})
    said = use(trapped, tool, path=path, **more)
    assert said.startswith("Error:") or "Written" in said
    assert "the secret" not in said and "root:" not in said
    assert (outside / "secret.txt").read_text() == "the secret"
    if "Written" in said:
        assert (trapped / path).resolve().is_relative_to(trapped)
    else:
        assert sorted(item.name for item in outside.rglob("*")) == before


def test_links_are_neither_listed_nor_searched(trapped: Path) -> None:
    listed = use(trapped, "list_files", path=".")
    assert listed.splitlines() == ["README.md  14", "src/calculator.py  32"]
    assert use(trapped, "search_files", path=".", pattern="secret") == "Nothing matches."


def test_files_are_read_searched_and_written(workspace: Path) -> None:
    assert use(workspace, "read_file", path="src/calculator.py", first_line=2) == "    return a - b"
    assert use(workspace, "search_files", path=".", pattern=r"a - \w") == "src/calculator.py:2:     return a - b"
    assert use(workspace, "write_file", path="out/é.txt", content="é\r\n") == "Written: 3 characters."
    assert (workspace / "out" / "é.txt").read_bytes() == "é\r\n".encode()
    (workspace / "long.txt").write_text("\n".join(map(str, range(600))))
    assert use(workspace, "read_file", path="long.txt").endswith("499\n… 100 more lines")


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("read_file", {"path": "missing.txt"}, "no file 'missing.txt'"),
        ("read_file", {"path": "src"}, "no file 'src'"),
        ("read_file", {"path": 3}, "must be a text"),
        ("read_file", {}, "must be a text"),
        ("read_file", {"path": "README.md", "first_line": 0}, "counted from 1"),
        ("read_file", {"path": "binary"}, "no text file"),
        ("read_file", {"path": "pipe"}, "no file 'pipe'"),
        ("list_files", {"path": "README.md"}, "no folder"),
        ("search_files", {"path": ".", "pattern": "("}, "not valid"),
        ("search_files", {"path": ".", "pattern": "(a+)+$" * 400}, "characters long"),
        ("write_file", {"path": "src", "content": "x"}, "no file"),
        ("write_file", {"path": "README.md/x", "content": "x"}, "Error"),
        ("write_file", {"path": "x", "content": "x" * 200_001}, "At most 200,000 are read"),
        ("fly", {}, "There is no tool 'fly'"),
    ],
)
def test_a_mistake_is_told_to_the_model(workspace: Path, tool: str, arguments: dict, problem: str) -> None:
    (workspace / "binary").write_bytes(b"\0\1")
    os.mkfifo(workspace / "pipe")
    assert problem in use(workspace, tool, **arguments)


@pytest.mark.parametrize("arguments", ["{", "[1]", "null", "[" * 100_000, '"x"'])
def test_arguments_that_are_no_object_are_told_to_the_model(workspace: Path, arguments: str) -> None:
    tools = {tool.spec.name: tool for tool in file_tools(workspace)}
    assert "arguments" in asyncio.run(use_tool(tools, "list_files", arguments))
