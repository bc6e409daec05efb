"""A private PostgreSQL server for the tests, made from the installed programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOUND = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


@contextmanager
def server() -> Iterator[str]:
    """Start a server that listens on a socket file only; yields the folder of the socket."""
    programs = FOUND[-1].parent
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if os.getuid() == 0:
        # The server refuses to run as root.
        shutil.chown(folder, "postgres", "postgres")
    options = f"-F -c listen_addresses='' -c unix_socket_directories='{folder}'"
    try:
        _run(programs / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        _run(programs / "pg_ctl", "-D", folder / "data", "-l", folder / "log", "-w", "-o", options, "start")
        try:
            yield str(folder)
        finally:
            _run(programs / "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(*command: object) -> None:
    prefix = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    subprocess.run([*prefix, *map(str, command)], check=True, stdout=subprocess.DEVNULL, cwd="/")
