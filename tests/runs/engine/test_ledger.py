from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from karenina_core.models import ChatReply, call_key
from karenina_core.runs import Store
from karenina_core.runs.engine.ledger import StoreLedger
from karenina_core.runs.engine.writer import BatchWriter
from karenina_core.schemas import ModelConfig, Usage
from tests.runs.fakes import answer_request, on_a_loop

MODEL = ModelConfig(id="careful", model_name="lab/model-1")
REQUEST = answer_request("q1", MODEL)
KEY = call_key(MODEL, REQUEST)
REPLY = ChatReply(
    "It is 42.",
    finish_reason="stop",
    usage=Usage(input_tokens=7, output_tokens=3, cost=0.01, calls=1),
    source="provider",
    seconds=0.5,
    provenance={"model_version": "2026-11"},
)


@pytest.fixture
def ledger(any_store: Store) -> Iterator[StoreLedger]:
    writer = BatchWriter(any_store)
    opened = StoreLedger(any_store, writer)
    yield opened
    opened.close()
    writer.close()


def test_a_call_is_remembered_as_it_was(ledger: StoreLedger) -> None:
    async def put_and_get() -> ChatReply | None:
        await ledger.put(KEY, REQUEST, MODEL, REPLY)
        return await ledger.get(KEY)

    assert asyncio.run(put_and_get()) == REPLY


def test_an_unknown_call_is_not_remembered(ledger: StoreLedger) -> None:
    assert asyncio.run(ledger.get(KEY)) is None


def test_a_new_reply_replaces_the_old(ledger: StoreLedger) -> None:
    async def twice() -> ChatReply | None:
        await ledger.put(KEY, REQUEST, MODEL, REPLY)
        await ledger.put(KEY, REQUEST, MODEL, ChatReply("It is 43."))
        return await ledger.get(KEY)

    reply = asyncio.run(twice())
    assert reply is not None
    assert reply.text == "It is 43."


def test_many_look_ups_find_their_own_replies(ledger: StoreLedger) -> None:
    async def many() -> list[ChatReply | None]:
        await asyncio.gather(*(ledger.put(str(n), REQUEST, MODEL, ChatReply(f"reply {n}")) for n in range(0, 50, 2)))
        return await asyncio.gather(*(ledger.get(str(n)) for n in range(50)))

    texts = [reply.text if reply else None for reply in asyncio.run(many())]
    assert texts == [f"reply {n}" if n % 2 == 0 else None for n in range(50)]


def test_the_call_table_tells_what_was_sent(any_store: Store, ledger: StoreLedger) -> None:
    on_a_loop(lambda: ledger.put(KEY, REQUEST, MODEL, REPLY))
    row = any_store.calls.get(KEY)
    assert row is not None
    assert (row["purpose"], row["model"], row["question_id"], row["cost"]) == ("answer", "careful", "q1", 0.01)
    sent = json.loads(row["request"])
    assert sent["request"]["messages"] == [{"role": "user", "content": "Question q1?"}]
    assert sent["config"]["model_name"] == "lab/model-1"


def test_prepared_answers_are_not_stored_with_a_call(any_store: Store, ledger: StoreLedger) -> None:
    manual = ModelConfig(interface="manual", model_name="me", manual_traces={"q2": "private"})
    on_a_loop(lambda: ledger.put(KEY, REQUEST, manual, REPLY))
    row = any_store.calls.get(KEY)
    assert row is not None
    assert "private" not in row["request"]


def test_odd_characters_in_a_reply_are_stored_on_every_database(ledger: StoreLedger) -> None:
    async def put_and_get() -> ChatReply | None:
        await ledger.put(KEY, REQUEST, MODEL, ChatReply("a\0b\ud800"))
        return await ledger.get(KEY)

    reply = asyncio.run(put_and_get())
    assert reply is not None
    assert reply.text == "a\ufffdb\ufffd"


def test_a_reply_is_known_before_it_is_stored(ledger: StoreLedger) -> None:
    async def at_once() -> ChatReply | None:
        written = ledger.put(KEY, REQUEST, MODEL, REPLY)
        known = await ledger.get(KEY)
        await written
        return known

    assert asyncio.run(at_once()) == REPLY
