"""A fast provider on loopback for benchmarks: speaks the OpenAI chat protocol, repeats the payload of the question.

    python -m tests.performance.provider --latency-ms 200

It prints its port. A plain call is answered by a sentence that holds the question's payload, a call with a schema by
the payload itself. `GET /stats` tells what it saw, `POST /reset` begins anew. The tests of faults have a server of
their own, `tests/faults/openai_server.py`; this one does little, so that it does not slow down who is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import resource
from typing import Any

PAYLOAD = re.compile(r"<<(\{.*?\})>>", re.DOTALL)
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Stats:
    """What the provider saw since the last reset."""

    def __init__(self) -> None:
        self.requests = self.connections = self.in_flight = self.most_in_flight = 0
        self.cpu = _cpu()

    def as_json(self) -> dict[str, Any]:
        """Return the counts."""
        return {
            "requests": self.requests,
            "connections": self.connections,
            "most_in_flight": self.most_in_flight,
            "cpu_seconds": round(_cpu() - self.cpu, 4),
        }


class Connection(asyncio.Protocol):
    """One kept connection; requests on it follow each other.

    Args:
        stats: Shared by all connections.
        latency: Seconds before an answer.
    """

    def __init__(self, stats: list[Stats], latency: float) -> None:
        self._stats = stats
        self._latency = latency
        self._buffer = b""
        self._counted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while True:
            head_end = self._buffer.find(b"\r\n\r\n")
            if head_end < 0:
                return
            head = self._buffer[:head_end]
            found = _LENGTH.search(head)
            end = head_end + 4 + (int(found[1]) if found else 0)
            if len(self._buffer) < end:
                return
            body, self._buffer = self._buffer[head_end + 4 : end], self._buffer[end:]
            self._asked(head, body)

    def _asked(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET /stats"):
            self._send(self._stats[0].as_json())
        elif head.startswith(b"POST /reset"):
            self._stats[0] = Stats()
            self._send({})
        else:
            self._chat(json.loads(body))

    def _chat(self, request: dict[str, Any]) -> None:
        stats = self._stats[0]
        stats.requests += 1
        stats.in_flight += 1
        stats.most_in_flight = max(stats.most_in_flight, stats.in_flight)
        if not self._counted:
            self._counted = True
            stats.connections += 1
        reply = _reply(request)
        if self._latency:
            asyncio.get_running_loop().call_later(self._latency, self._answer, stats, reply)
        else:
            self._answer(stats, reply)

    def _answer(self, stats: Stats, reply: dict[str, Any]) -> None:
        stats.in_flight -= 1
        self._send(reply)

    def _send(self, reply: dict[str, Any]) -> None:
        if not self._transport.is_closing():
            data = json.dumps(reply, separators=(",", ":")).encode()
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(data)
            self._transport.write(head + data)


def _reply(request: dict[str, Any]) -> dict[str, Any]:
    # The judge is sent the answer as a JSON string, with its quotation marks escaped.
    asked = str(request["messages"][-1]["content"]).replace('\\"', '"')
    found = PAYLOAD.findall(asked)
    payload = found[-1] if found else "{}"
    content = payload if request.get("response_format") else f"According to the trial report, <<{payload}>> is known."
    return {
        "id": "reply",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def serve(latency: float) -> None:
    """Serve until the process is ended; prints the port first."""
    stats = [Stats()]
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(stats, latency), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    asyncio.run(serve(parser.parse_args().latency_ms / 1000))
