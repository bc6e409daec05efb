"""A provider on the loopback interface that speaks the OpenAI protocol and fails on demand.

    with OpenAIServer(lambda request: Reply("Paris")) as server:
        ...  # call server.url with any client
        assert server.requests[0]["model"] == "gpt-test"

A script is a function from the request's JSON to a `Reply`, or a list of replies used one after the other, the last
one for ever.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from aiohttp import web

Fault = Literal["drop", "hang", "truncate", "stall"]
PIECE = 5  # characters of a streamed reply sent at once


@dataclass(frozen=True)
class Reply:
    """What the provider answers.

    Attributes:
        text: Content of the message.
        status: HTTP status; other than 200 the text is the error message.
        finish_reason: As the provider says it.
        tool_arguments: Sent as the arguments of a call of the first offered tool.
        refusal: Text of a refusal; the content is then empty.
        choices: False sends a completion without any choice.
        headers: Extra HTTP headers.
        body: Sent instead of a completion, as it is.
        fault: Close the connection, never answer, or in the middle of the body stop (`truncate`) or go quiet (`stall`).
        error_code: The provider's own name for the error.
        error_param: The setting the error is about.
        pause: Seconds between the pieces of a streamed reply.
    """

    text: str | None = ""
    status: int = 200
    finish_reason: str = "stop"
    tool_arguments: str | None = None
    refusal: str | None = None
    choices: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    fault: Fault | None = None
    error_code: str | None = None
    error_param: str | None = None
    pause: float = 0.0


DROPPED = Reply(fault="drop")
HANGING = Reply(fault="hang")
TRUNCATED_BODY = Reply("never seen whole", fault="truncate")
STALLED = Reply("never seen whole", fault="stall")
MALFORMED = Reply(body=b'{"choices": [{"message": ')
HTML = Reply(body=b"<html><body>Bad gateway</body></html>")
NO_CHOICES = Reply(choices=False)
REFUSED = Reply(None, refusal="I cannot help with that.")
FILTERED = Reply(None, finish_reason="content_filter")
NO_CONTENT = Reply(None)


def failing(
    status: int, message: str = "Something broke.", *, code: str | None = None, param: str | None = None
) -> Reply:
    """Return an error reply."""
    return Reply(message, status=status, error_code=code, error_param=param)


def redirecting(url: str) -> Reply:
    """Return a redirect to another address."""
    return Reply("Elsewhere.", status=307, headers={"Location": url})


def rate_limited(retry_after: float | None = None) -> Reply:
    """Return a 429, with or without the header that says how long to wait."""
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    return Reply("Rate limit reached.", status=429, headers=headers)


def cut_off(text: str) -> Reply:
    """Return a reply that ran into its token limit."""
    return Reply(text, finish_reason="length")


Script = Callable[[dict[str, Any]], Reply] | Sequence[Reply]


class OpenAIServer:
    """The server, in a thread of its own; a context manager.

    Args:
        script: What it answers.
        delay: Seconds before every answer.
        certificate: A file with a certificate and its key, to be reached by `https`.

    Attributes:
        requests: The JSON of every request, in order of arrival.
        headers: Their HTTP headers.
        connections: Their connections, by the port at the other end.
        names: The host names that `https` connections asked for.
        most_in_flight: The largest number of requests open at once.
    """

    def __init__(self, script: Script = (Reply("ok"),), *, delay: float = 0.0, certificate: Path | None = None) -> None:
        self.script = script
        self.delay = delay
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections: list[int] = []
        self.names: list[str | None] = []
        self.most_in_flight = 0
        self._certificate = certificate
        self._in_flight = 0
        self._port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),), daemon=True)

    @property
    def url(self) -> str:
        """The base address, ending in `/v1`."""
        return f"{'https' if self._certificate else 'http'}://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)
        self._loop.close()

    async def _serve(self) -> None:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        runner = web.AppRunner(app, shutdown_timeout=0.2, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self._secured())
        await site.start()
        self._port = runner.addresses[0][1]
        self._ready.set()
        await self._stopping.wait()
        await runner.cleanup()

    def _secured(self) -> ssl.SSLContext | None:
        if self._certificate is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._certificate)
        context.sni_callback = lambda _socket, name, _context: self.names.append(name)
        return context

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        sent = await request.json()
        reply = self._next(sent)
        self.requests.append(sent)
        self.headers.append(dict(request.headers))
        assert request.transport is not None
        self.connections.append(request.transport.get_extra_info("peername")[1])
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            await asyncio.sleep(self.delay)
            return await self._answer(request, sent, reply)
        finally:
            self._in_flight -= 1

    def _next(self, sent: dict[str, Any]) -> Reply:
        if callable(self.script):
            return self.script(sent)
        return self.script[min(len(self.requests), len(self.script) - 1)]

    async def _answer(self, request: web.Request, sent: dict[str, Any], reply: Reply) -> web.StreamResponse:
        if reply.fault == "hang":
            await self._stopping.wait()
        if reply.fault in ("drop", "hang"):
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if sent.get("stream") and reply.status == 200 and reply.body is None:
            return await self._stream(request, sent, reply)
        body = reply.body if reply.body is not None else json.dumps(_content(sent, reply)).encode()
        if reply.fault in ("truncate", "stall"):
            return await self._half(request, body, reply.fault)
        headers = {"Content-Type": "application/json", **reply.headers}
        return web.Response(body=body, status=reply.status, headers=headers)

    async def _stream(self, request: web.Request, sent: dict[str, Any], reply: Reply) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **reply.headers})
        await response.prepare(request)
        events = _events(sent, reply)
        for event in events[: len(events) // 2] if reply.fault else events:
            await response.write(event)
            await asyncio.sleep(reply.pause)
        if reply.fault == "stall":
            await self._stopping.wait()
        if reply.fault:
            assert request.transport is not None
            request.transport.abort()
        return response

    async def _half(self, request: web.Request, body: bytes, fault: Fault) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(body)), "Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        if fault == "stall":
            await self._stopping.wait()
        assert request.transport is not None
        request.transport.close()
        return response


def _content(sent: dict[str, Any], reply: Reply) -> dict[str, Any]:
    if reply.status != 200:
        error = {"message": reply.text, "type": "error", "code": reply.error_code, "param": reply.error_param}
        return {"error": error}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": sent.get("model", ""),
        "choices": [_choice(sent, reply)] if reply.choices else [],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def _events(sent: dict[str, Any], reply: Reply) -> list[bytes]:
    """Return the reply as server-sent events: the text in pieces, the reason it ended, the usage, and the end."""
    whole = _content(sent, reply)
    if not whole["choices"]:
        return [_event(whole), b"data: [DONE]\n\n"]
    message = whole["choices"][0]["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    text = message.get("content") or ""
    deltas += [{"content": text[place : place + PIECE]} for place in range(0, len(text), PIECE)]
    if message.get("refusal"):
        deltas.append({"refusal": message["refusal"]})
    for call in message.get("tool_calls", ()):
        told = call["function"]["arguments"]
        deltas.append({"tool_calls": [{"index": 0, **call, "function": {**call["function"], "arguments": ""}}]})
        for place in range(0, len(told), PIECE):
            piece = {"arguments": told[place : place + PIECE]}
            deltas.append({"tool_calls": [{"index": 0, "function": piece}]})
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": whole["model"]}
    events = [b": a comment\n\n"]
    events += [_event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) for delta in deltas]
    last = {"index": 0, "delta": {}, "finish_reason": reply.finish_reason}
    events.append(_event({**base, "choices": [last]}))
    if (sent.get("stream_options") or {}).get("include_usage"):
        events.append(_event({**base, "choices": [], "usage": whole["usage"]}))
    return [*events, b"data: [DONE]\n\n"]


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def _choice(sent: dict[str, Any], reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.refusal is not None:
        message |= {"content": None, "refusal": reply.refusal}
    if reply.tool_arguments is not None:
        name = sent["tools"][0]["function"]["name"]
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": reply.tool_arguments}}
        message |= {"content": None, "tool_calls": [call]}
    return {"index": 0, "message": message, "finish_reason": reply.finish_reason}
