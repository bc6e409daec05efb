"""What an answer cost when its model was asked for it, however often it was used since."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from karenina_core.models.calls import as_remembered

from karenina_core.analysis.answer_prices import AnswerPrice, answer_price
from karenina_core.models import ChatReply
from karenina_core.schemas import CallRecord, Usage

Make = Callable[..., Any]


def record(call: Make, reply: ChatReply) -> CallRecord:
    made = call(source=reply.source, usage=reply.usage, provenance=reply.provenance)
    assert isinstance(made, CallRecord)
    return made


def reply(cost: float | None, source: str) -> ChatReply:
    return ChatReply("It is gold.", "stop", Usage(cost=cost, calls=1), source, 1.0, {})


@pytest.mark.parametrize(
    ("cost", "source", "now", "later"),
    [
        (0.25, "provider", AnswerPrice("model", 0.25), AnswerPrice("ledger", 0.25)),
        (None, "provider", AnswerPrice("model", None), AnswerPrice("ledger", None)),
        (0.0, "local", AnswerPrice("model", 0.0), AnswerPrice("ledger", 0.0)),
        (0.0, "manual", AnswerPrice("manual", None), AnswerPrice("manual", None)),
        (0.0, "recording", AnswerPrice("recording", None), AnswerPrice("recording", None)),
    ],
)
def test_an_answer_has_the_same_price_when_the_ledger_gives_it_again(
    cost: float | None, source: str, now: AnswerPrice, later: AnswerPrice, call: Make
) -> None:
    first = reply(cost, source)
    again = as_remembered(first)
    assert (again.usage.cost, answer_price(record(call, first))) == (0.0, now)
    assert answer_price(record(call, again)) == later


def test_an_answer_of_which_the_ledger_knows_no_first_call_has_no_known_price(call: Make) -> None:
    assert answer_price(call(source="ledger", usage=Usage(cost=0.0, calls=1))) == AnswerPrice("ledger", None)
