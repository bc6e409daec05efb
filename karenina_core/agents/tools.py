"""What an agent can do in its workspace. Whatever goes wrong is a result that the model reads, not an error here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from karenina_core import patterns
from karenina_core.agents.commands import run_command
from karenina_core.agents.workspaces import contained, files_in
from karenina_core.errors import InputError, KareninaError
from karenina_core.files import read_json, write_atomic
from karenina_core.models import ToolSpec
from karenina_core.text import counted

_MOST_READ = 2_000_000  # bytes of a file that is read or searched
_MOST_LINES = 500
_MOST_ENTRIES = 500
_MOST_HITS = 100
_LONGEST_LINE = 300


class Tool(NamedTuple):
    """A tool.

    Attributes:
        spec: What the model is told of it.
        use: Arguments to result.
        changes_workspace: Whether it has to be used again where its result is known, to rebuild the workspace.
    """

    spec: ToolSpec
    use: Callable[[Mapping[str, Any]], Awaitable[str]]
    changes_workspace: bool = False


def file_tools(root: Path, names: Sequence[str] | None = None) -> list[Tool]:
    """Return tools that work on the files of a workspace and on nothing else.

    Args:
        root: The workspace; resolved.
        names: Only these: `list_files`, `read_file`, `search_files`, `write_file`; all of them when not given.
    """
    path = {"path": {"type": "string", "description": "a path below the workspace; '.' is the workspace itself"}}
    tools = [
        _tool("list_files", "List the files below a folder, with their sizes in bytes.", path, _list, root),
        _tool(
            "read_file",
            f"Read a text file, {_MOST_LINES} lines at a time.",
            path | {"first_line": {"type": "integer", "description": "counted from 1"}},
            _read,
            root,
        ),
        _tool(
            "search_files",
            "Search the files below a folder for a regular expression; gives file, line number and line.",
            path | {"pattern": {"type": "string"}},
            _search,
            root,
        ),
        _tool(
            "write_file",
            "Write a text file; one that exists is replaced.",
            path | {"content": {"type": "string"}},
            _write,
            root,
            changes=True,
        ),
    ]
    return [tool for tool in tools if names is None or tool.spec.name in names]


def run_command_tool(root: Path, seconds: float) -> Tool:
    """Return a tool that runs shell commands in a workspace.

    Args:
        root: The workspace; resolved.
        seconds: The longest time of one command.
    """

    async def use(arguments: Mapping[str, Any]) -> str:
        return await run_command(_text(arguments, "command"), root, seconds)

    about = f"Run a shell command in the workspace; gives its exit code and what it printed. At most {seconds:g} s."
    return Tool(ToolSpec("run_command", about, _schema({"command": {"type": "string"}})), use, True)


async def use_tool(tools: Mapping[str, Tool], name: str, arguments: str) -> str:
    """Return what a tool gives for arguments as a model wrote them; a mistake is told to the model."""
    if name not in tools:
        return f"There is no tool {name!r}. There are: {', '.join(tools)}."
    try:
        data = read_json(arguments or "{}")
    except KareninaError as error:
        return f"The arguments cannot be read: {error}"
    if not isinstance(data, dict):
        return "The arguments must be a JSON object."
    try:
        return await tools[name].use(data)
    except (KareninaError, OSError) as error:
        return f"Error: {error}"


def _schema(properties: dict[str, Any]) -> dict[str, Any]:
    required = [name for name in properties if name != "first_line"]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _tool(
    name: str,
    about: str,
    properties: dict[str, Any],
    work: Callable[[Path, Mapping[str, Any]], str],
    root: Path,
    *,
    changes: bool = False,
) -> Tool:
    async def use(arguments: Mapping[str, Any]) -> str:
        return await asyncio.to_thread(work, root, arguments)

    return Tool(ToolSpec(name, about, _schema(properties)), use, changes)


def _text(arguments: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise InputError(f"The argument {name!r} must be a text.")
    return value


def _list(root: Path, arguments: Mapping[str, Any]) -> str:
    folder = contained(root, _text(arguments, "path", "."))
    if not folder.is_dir():
        raise InputError(f"{arguments.get('path')!r} is no folder.")
    files = [f"{path.relative_to(root).as_posix()}  {path.stat().st_size}" for path in files_in(folder)]
    left_out = len(files) - _MOST_ENTRIES
    more = [f"… and {counted(left_out, 'more file')}"] if left_out > 0 else []
    return "\n".join([*files[:_MOST_ENTRIES], *more]) or "The folder is empty."


def _read(root: Path, arguments: Mapping[str, Any]) -> str:
    lines = _content(contained(root, _text(arguments, "path"))).splitlines()
    first = arguments.get("first_line", 1)
    if not isinstance(first, int) or first < 1:
        raise InputError("first_line is counted from 1.")
    shown = lines[first - 1 : first - 1 + _MOST_LINES]
    left = len(lines) - (first - 1 + len(shown))
    return "\n".join(shown) + (f"\n… {counted(left, 'more line')}" if left > 0 else "")


def _search(root: Path, arguments: Mapping[str, Any]) -> str:
    folder, pattern = contained(root, _text(arguments, "path", ".")), _text(arguments, "pattern")
    patterns.validate(pattern)
    hits: list[str] = []
    for path in [folder] if folder.is_file() else files_in(folder):
        try:
            text = _content(path)
        except InputError:
            continue
        ends = [end for _, end in patterns.spans(pattern, text)[:_MOST_HITS]]
        numbers = dict.fromkeys(text.count("\n", 0, max(end - 1, 0)) for end in ends)
        lines = text.splitlines() or [""]
        name = path.relative_to(root).as_posix()
        hits += [f"{name}:{number + 1}: {lines[number][:_LONGEST_LINE]}" for number in numbers if number < len(lines)]
        if len(hits) >= _MOST_HITS:
            return "\n".join([*hits[:_MOST_HITS], "… there may be more"])
    return "\n".join(hits) or "Nothing matches."


def _write(root: Path, arguments: Mapping[str, Any]) -> str:
    path, content = contained(root, _text(arguments, "path")), _text(arguments, "content")
    if path.exists() and not path.is_file():
        raise InputError(f"{arguments['path']!r} is no file.")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, content.encode("utf-8", "replace"))
    return f"Written: {counted(len(content), 'character')}."


def _content(path: Path) -> str:
    if not path.is_file():
        raise InputError(f"There is no file {path.name!r}.", next="List the files first.")
    if path.stat().st_size > _MOST_READ:
        raise InputError(
            f"{path.name!r} is larger than {_MOST_READ:,} bytes.", next="Search it, or read it by command."
        )
    data = path.read_bytes()
    if b"\0" in data:
        raise InputError(f"{path.name!r} is no text file.")
    return data.decode("utf-8", "replace")
