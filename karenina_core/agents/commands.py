"""Shell commands of an agent: without keys, and within limits.

Where bubblewrap works, a command sees the file system read-only except for its workspace, no network, and no other
process, and ends with everything it started. Elsewhere the operating system's limits are all that holds it.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Literal

MOST_OUTPUT = 100_000
"""Bytes of output that are read; a command that prints more is ended."""
ALLOWED = "KARENINA_ALLOW_COMMANDS"
"""The environment variable that lets agents run commands, when it is `1` and the run switches them on."""
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ")
_TICK = 0.1  # seconds
_MEMORY_KB, _FILE_BLOCKS = 4_000_000, 1_000_000
_BWRAP = (
    *("--unshare-all", "--die-with-parent", "--new-session", "--clearenv"),
    *("--ro-bind", "/", "/", "--tmpfs", "/tmp", "--tmpfs", "/root", "--tmpfs", "/home"),
    *("--dev", "/dev", "--proc", "/proc"),
)

Protection = Literal["isolated", "limited"]


@lru_cache(maxsize=1)
def protection() -> Protection:
    """Return what holds a command on this machine: `isolated` by bubblewrap, or only `limited`."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return "limited"
    try:
        done = subprocess.run([bwrap, *_BWRAP, "true"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "limited"
    return "isolated" if done.returncode == 0 else "limited"


def commands_allowed() -> bool:
    """Return whether this process may run commands for agents at all; whoever runs it says so, no file can."""
    return os.environ.get(ALLOWED) == "1"


async def run_command(command: str, workspace: Path, seconds: float) -> str:
    """Run a shell command in a workspace and return its exit code and what it printed.

    Args:
        command: For `/bin/sh`.
        workspace: Its working directory, and the only place it can write to where it is isolated.
        seconds: When it is ended.
    """
    if "\0" in command:
        return "Error: the command holds a NUL character."
    limits = {"t": int(seconds) + 1, "v": _MEMORY_KB, "f": _FILE_BLOCKS, "c": 0}
    first = "".join(f"ulimit -{name} {most}; " for name, most in limits.items())
    arguments = ["/bin/sh", "-c", f'{first}exec /bin/sh -c "$1"', "sh", command]
    variables = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    variables |= {"HOME": str(workspace), "PWD": str(workspace)}
    if protection() == "isolated":
        given = [part for name, value in variables.items() for part in ("--setenv", name, value)]
        place = ["--bind", str(workspace), str(workspace), "--chdir", str(workspace)]
        arguments = ["bwrap", *_BWRAP, *place, *given, *arguments]
    stop = threading.Event()
    try:
        return await asyncio.to_thread(_run, arguments, variables, workspace, seconds, stop)
    except asyncio.CancelledError:
        stop.set()
        raise


def _run(
    arguments: list[str], variables: dict[str, str], workspace: Path, seconds: float, stop: threading.Event
) -> str:
    output, ending, deadline = bytearray(), "", time.monotonic() + seconds
    with subprocess.Popen(
        arguments,
        cwd=workspace,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not ending:
                if selector.select(_TICK):
                    chunk = os.read(process.stdout.fileno(), 65_536)
                    output += chunk
                    if not chunk:
                        break
                if len(output) > MOST_OUTPUT:
                    ending = f"ended after {MOST_OUTPUT:,} bytes of output"
                elif stop.is_set() or time.monotonic() > deadline:
                    ending = f"ended after {seconds:g} s"
        if not ending:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
        # The whole group, whatever ended it.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    text = bytes(output[:MOST_OUTPUT]).decode("utf-8", "replace")
    return f"{ending or f'exit code {process.returncode}'}\n{text}"
