"""Where answers came from, and what they cost the time a model was asked for them.

What a run spent is one thing: an answer from the ledger costs it nothing. What a model charges for an answer is
another: it is the same however often the answer is used again, and the one to compare models by.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from karenina_core.schemas import CallRecord

if TYPE_CHECKING:
    from karenina_core.runs import Store

Origin = Literal["model", "ledger", "recording", "manual"]
_AT_ONCE = 1_000


class AnswerPrice(NamedTuple):
    """What is known of the price of an answer.

    Attributes:
        origin: `model` for one that was asked in this run, `ledger` for one asked before; `recording` and `manual`
            for answers that no model was asked for.
        cost: US dollars of the call when it was made; None when no model was asked or no price is known.
    """

    origin: Origin
    cost: float | None


class _Part(BaseModel):
    """As much of a stored result as tells of its answer; reading the whole takes ten times longer."""

    model_config = ConfigDict(extra="ignore")


class _Usage(_Part):
    cost: float | None = None


class _Call(_Part):
    source: str
    usage: _Usage = _Usage()
    provenance: dict[str, Any] = {}


class _Answer(_Part):
    call: _Call | None = None


class _Evidence(_Part):
    answer: _Answer | None = None


def answer_price(call: CallRecord | _Call) -> AnswerPrice:
    """Return where an answer came from and what it cost."""
    remembered = call.source == "ledger"
    first: dict[str, Any] = call.provenance.get("first_call") or {}
    match first.get("source") if remembered else call.source:
        case "recording":
            return AnswerPrice("recording", None)
        case "manual":
            return AnswerPrice("manual", None)
    return AnswerPrice("ledger", first.get("cost")) if remembered else AnswerPrice("model", call.usage.cost)


def stored_prices(store: Store, run_id: str) -> Iterator[tuple[int, AnswerPrice]]:
    """Yield the position and price of the answers of a stored run that no model was asked for in this run.

    Of all others the columns of the run tell the price; these alone are read from their evidence.
    """
    from sqlalchemy import select

    from karenina_core.runs import payload, result

    not_asked = result.c.answer_cost.is_not(None) & result.c.answer_seconds.is_(None)
    query = select(result.c.position, payload.c.json).join(payload).where(result.c.run_id == run_id, not_asked)
    with store.reading() as connection:
        for position, text in connection.execution_options(yield_per=_AT_ONCE).execute(query):
            answer = _Evidence.model_validate_json(text).answer
            if answer is not None and answer.call is not None:
                yield position, answer_price(answer.call)
