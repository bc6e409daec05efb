"""A private PostgreSQL server for the tests, made from the installed programs."""

from __future__ import annotations

import os
import shutil
import socket
import socketserver
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

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


class LostCommits(socketserver.ThreadingUnixStreamServer):
    """Stands between the programs and a server, and hangs up when the server has confirmed a commit.

    Args:
        server: The folder of the server's socket.
        folder: The folder of the socket to use instead.
        after: Only commits of connections that have sent these bytes.

    Attributes:
        lose: How many confirmations are still to be lost.
    """

    daemon_threads = True
    _NAME = ".s.PGSQL.5432"

    def __init__(self, server: str, folder: Path, after: bytes) -> None:
        super().__init__(str(folder / self._NAME), socketserver.BaseRequestHandler)
        self.lose = 0
        self._server = f"{server}/{self._NAME}"
        self._after = after
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Pass on what either side says."""
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(self._server)
            commits = threading.Event()
            threading.Thread(target=self._listen, args=(request, server, commits), daemon=True).start()
            with suppress(OSError):
                while data := server.recv(65536):
                    if commits.is_set() and self.lose:
                        self.lose -= 1
                        request.shutdown(socket.SHUT_RDWR)
                        return
                    request.sendall(data)

    def _listen(self, client: Any, server: socket.socket, commits: threading.Event) -> None:
        armed = False
        with suppress(OSError):
            while data := client.recv(65536):
                armed = armed or self._after in data
                if armed and b"COMMIT" in data:
                    commits.set()
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)
