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
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

Fault = Literal["drop", "hang", "truncate"]


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
        fault: Close the connection, never answer, or stop in the middle of the body.
        error_code: The provider's own name for the error.
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


DROPPED = Reply(fault="drop")
HANGING = Reply(fault="hang")
TRUNCATED_BODY = Reply("never seen whole", fault="truncate")
MALFORMED = Reply(body=b'{"choices": [{"message": ')
HTML = Reply(body=b"<html><body>Bad gateway</body></html>")
NO_CHOICES = Reply(choices=False)
REFUSED = Reply(None, refusal="I cannot help with that.")
FILTERED = Reply(None, finish_reason="content_filter")
NO_CONTENT = Reply(None)


def failing(status: int, message: str = "Something broke.", *, code: str | None = None) -> Reply:
    """Return an error reply."""
    return Reply(message, status=status, error_code=code)


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

    Attributes:
        requests: The JSON of every request, in order of arrival.
        headers: Their HTTP headers.
        most_in_flight: The largest number of requests open at once.
    """

    def __init__(self, script: Script = (Reply("ok"),), *, delay: float = 0.0) -> None:
        self.script = script
        self.delay = delay
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.most_in_flight = 0
        self._in_flight = 0
        self._port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),), daemon=True)

    @property
    def url(self) -> str:
        """The base address, ending in `/v1`."""
        return f"http://127.0.0.1:{self._port}/v1"

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
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self._port = runner.addresses[0][1]
        self._ready.set()
        await self._stopping.wait()
        await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        sent = await request.json()
        reply = self._next(sent)
        self.requests.append(sent)
        self.headers.append(dict(request.headers))
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
        body = reply.body if reply.body is not None else json.dumps(_content(sent, reply)).encode()
        if reply.fault == "truncate":
            return await self._half(request, body)
        return web.Response(body=body, status=reply.status, headers=reply.headers, content_type="application/json")

    async def _half(self, request: web.Request, body: bytes) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(body)), "Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        assert request.transport is not None
        request.transport.close()
        return response


def _content(sent: dict[str, Any], reply: Reply) -> dict[str, Any]:
    if reply.status != 200:
        return {"error": {"message": reply.text, "type": "error", "code": reply.error_code}}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": sent.get("model", ""),
        "choices": [_choice(sent, reply)] if reply.choices else [],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def _choice(sent: dict[str, Any], reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.refusal is not None:
        message |= {"content": None, "refusal": reply.refusal}
    if reply.tool_arguments is not None:
        name = sent["tools"][0]["function"]["name"]
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": reply.tool_arguments}}
        message |= {"content": None, "tool_calls": [call]}
    return {"index": 0, "message": message, "finish_reason": reply.finish_reason}
