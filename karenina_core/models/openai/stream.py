"""Collects a reply that is sent in pieces, as server-sent events, into the completion it would have been in one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from karenina_core.models.openai.reply import decode
from karenina_core.models.replies import MAX_REPLY

MAX_EVENT = 2**20  # bytes of one event
_END = "[DONE]"


class StreamError(Exception):
    """A stream ended before its reply did, or holds something else."""


class Collected:
    """What has arrived of a reply.

    Attributes:
        cut: Whether more came than is kept of a reply.
        ended: Whether its end has arrived.
    """

    def __init__(self) -> None:
        self.cut = False
        self.ended = False
        self._parts: dict[str, list[str]] = {"content": [], "refusal": []}
        self._calls: dict[int, dict[str, list[str]]] = {}
        self._characters = 0
        self._facts: dict[str, Any] = {}
        self._reason: Any = None
        self._some = False

    @property
    def text(self) -> str:
        """The answer as far as it goes."""
        return "".join(self._parts["content"])

    @property
    def broken(self) -> bool:
        """Whether there is a beginning of an answer, and no good end."""
        return bool(self._parts["content"]) and (not self.ended or "error" in self._facts)

    def completion(self) -> dict[str, Any]:
        """Return the completion, in the form of one that was sent whole."""
        calls = [
            {"function": {name: "".join(parts) for name, parts in call.items()}}
            for _, call in sorted(self._calls.items())
        ]
        message = {"content": self.text, "refusal": "".join(self._parts["refusal"]), "tool_calls": calls}
        choices = [{"message": message, "finish_reason": self._reason}] if self._some else []
        return {**self._facts, "choices": choices}

    def add(self, event: str) -> None:
        """Take in the data of one event.

        Raises:
            StreamError: It is no JSON object.
        """
        if event == _END:
            self.ended = True
            return
        try:
            data = decode(event.encode("utf-8", "replace"))
        except ValueError as error:
            raise StreamError(f"A piece of the reply is not JSON: {error}") from None
        if not isinstance(data, dict):
            raise StreamError("A piece of the reply is no JSON object.")
        self._facts |= {name: data[name] for name in ("model", "usage", "error") if data.get(name)}
        choices = data.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            self._take(choices[0])

    def _take(self, choice: dict[str, Any]) -> None:
        self._some = True
        if choice.get("error"):
            self._facts["error"] = choice["error"]
        if choice.get("finish_reason"):
            self._reason, self.ended = choice["finish_reason"], True
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return
        for name, parts in self._parts.items():
            self._keep(parts, delta.get(name))
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and isinstance(function := call.get("function"), dict):
                place = call.get("index")
                known = self._calls.setdefault(place if isinstance(place, int) else 0, {"name": [], "arguments": []})
                for name, parts in known.items():
                    self._keep(parts, function.get(name))

    def _keep(self, parts: list[str], piece: Any) -> None:
        if isinstance(piece, str) and piece and not self.cut:
            parts.append(piece)
            self._characters += len(piece)
            self.cut = self._characters > MAX_REPLY


async def collect(lines: AsyncIterator[bytes], into: Collected) -> None:
    """Read a stream until its reply has ended, or more has come than is kept.

    Args:
        lines: Its bytes, in pieces of any size.
        into: What has arrived is there also when this raises.

    Raises:
        StreamError: It holds something else, or ends too early.
    """
    try:
        async for event in _events(lines):
            into.add(event)
            if event == _END or into.cut:
                return
    except Exception:
        if not into.ended:
            raise
    if not into.ended:
        raise StreamError("The stream ended before the reply did.")


async def _events(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    data: list[str] = []
    async for line in _lines(pieces):
        if not line and data:
            yield "\n".join(data)
            data = []
        elif line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
    if data:
        yield "\n".join(data)


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    rest = b""
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace").rstrip("\r")
        if len(rest) > MAX_EVENT:
            raise StreamError("A piece of the reply is too long.")
    if rest:
        yield rest.decode("utf-8", "replace").rstrip("\r")
