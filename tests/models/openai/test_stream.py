from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.models.openai.stream import MAX_EVENT, Collected, StreamError, collect

DONE = b"data: [DONE]\n\n"


def event(*, end: str = "\n", **choice: Any) -> bytes:
    return f"data: {json.dumps({'choices': [choice]})}{end}{end}".encode()


def said(text: str, **settings: Any) -> bytes:
    return event(delta={"content": text}, finish_reason=None, **settings)


def read(*pieces: bytes) -> Collected:
    async def arriving() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    collected = Collected()
    asyncio.run(collect(arriving(), collected))
    return collected


@given(st.lists(st.text(), max_size=5), st.sampled_from(["\n", "\r\n"]), st.integers(1, 40))
def test_a_stream_is_read_in_pieces_of_any_size(texts: list[str], end: str, size: int) -> None:
    stream = b": hello" + end.encode() * 2 + b"".join(said(text, end=end) for text in texts) + DONE
    pieces = [stream[place : place + size] for place in range(0, len(stream), size)]
    expected = json.loads(json.dumps("".join(texts)).encode("utf-8", "replace"))
    assert len(read(*pieces).text) == len(expected)


@given(st.binary(max_size=200))
def test_anything_is_a_stream_or_an_error_of_one(data: bytes) -> None:
    try:
        collected = read(data, b"\n\n", DONE)
    except StreamError:
        return
    assert isinstance(collected.completion(), dict)


def test_the_end_may_be_told_by_a_reason_alone() -> None:
    collected = read(said("Eight"), event(delta={}, finish_reason="stop"))
    assert collected.completion()["choices"][0]["finish_reason"] == "stop"
    assert not collected.broken


def test_a_stream_without_its_end_is_broken() -> None:
    collected = Collected()
    collected.add(json.dumps({"choices": [{"delta": {"content": "Eig"}}]}))
    assert collected.broken and collected.text == "Eig"
    with pytest.raises(StreamError, match="ended before"):
        read(said("Eig"))


def test_an_error_in_a_stream_breaks_it() -> None:
    collected = read(said("Eig"), b'data: {"error": {"message": "Overloaded", "code": 529}}\n\n', DONE)
    assert collected.broken
    assert collected.completion()["error"]["code"] == 529


def test_usage_comes_after_the_end() -> None:
    usage = b'data: {"choices": [], "usage": {"prompt_tokens": 3}}\n\n'
    assert read(event(delta={}, finish_reason="stop"), usage, DONE).completion()["usage"] == {"prompt_tokens": 3}


def test_several_tool_calls_are_kept_apart() -> None:
    def piece(place: int, **function: str) -> bytes:
        return event(delta={"tool_calls": [{"index": place, "function": function}]})

    collected = read(
        piece(1, name="other", arguments="{}"), piece(0, name="reply", arguments="{"), piece(0, arguments="}"), DONE
    )
    calls = collected.completion()["choices"][0]["message"]["tool_calls"]
    assert [call["function"] for call in calls] == [
        {"name": "reply", "arguments": "{}"},
        {"name": "other", "arguments": "{}"},
    ]


def test_a_line_without_end_is_given_up() -> None:
    with pytest.raises(StreamError, match="too long"):
        read(b"data: " + b"x" * MAX_EVENT)
