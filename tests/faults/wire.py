"""A provider below HTTP: what it sends is bytes and pauses, and it may go silent or hang up at any of them.

with Wire([b"HTTP/1.1 200 OK", SILENCE]) as wire:
    ...  # call wire.url
"""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Sequence
from typing import Any

SILENCE = "silence"
"""Keep the connection open, and send nothing more."""

Step = bytes | float | str


class Wire:
    """The server, in threads of its own; a context manager. Every connection is answered by the same steps.

    Attributes:
        connections: How many were accepted.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self.connections = 0
        self._stopping = threading.Event()
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """The base address, ending in `/v1`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Wire:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def _handler(self) -> type[socketserver.StreamRequestHandler]:
        wire = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                wire.connections += 1
                if wire.steps[0] != SILENCE:
                    _read_request(self.rfile)
                for step in wire.steps:
                    if isinstance(step, bytes):
                        try:
                            self.wfile.write(step)
                        except OSError:
                            return
                    elif wire._stopping.wait(None if step == SILENCE else float(step)):
                        return

        return Handler


def _read_request(stream: Any) -> None:
    length = 0
    while (line := stream.readline().strip().lower()) != b"":
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    stream.read(length)


def completion(text: str) -> tuple[bytes, bytes]:
    """Return head and body of a reply that says something."""
    message = {"role": "assistant", "content": text}
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "wire",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }
    ).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n", body


def dripping(text: str, pieces: int, pause: float) -> list[Step]:
    """Return steps that send a reply in pieces, with a pause in seconds after each."""
    head, body = completion(text)
    size = -(-len(body) // pieces)
    steps: list[Step] = [head]
    for start in range(0, len(body), size):
        steps += [body[start : start + size], pause]
    return steps
