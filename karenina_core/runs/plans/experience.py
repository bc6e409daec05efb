"""What calls have taken so far: tokens and seconds, by model and purpose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median, quantiles
from typing import Any, NamedTuple

from karenina_core.runs.engine.ledger import read_reply
from karenina_core.runs.plans.rehearsal import Ask
from karenina_core.runs.store import Store
from karenina_core.schemas import CallRecord, VerificationResult

ENOUGH = 3  # calls before they say anything
_MOST_ROWS = 200


class Span(NamedTuple):
    """A usual value and a high one: the median and the 90th percentile."""

    usual: float
    high: float


@dataclass(frozen=True)
class Taken:
    """What the calls of one model for one purpose have taken.

    Attributes:
        calls: How many there were.
        sent: Tokens of a prompt.
        received: Tokens of a reply.
        seconds: Time of a call; None when it is not known.
        here: Whether they are calls of the run itself.
    """

    calls: int
    sent: Span
    received: Span
    seconds: Span | None
    here: bool


class _Seen(NamedTuple):
    sent: int
    received: int
    seconds: float


def experience(store: Store, models: Iterable[str], run_id: str | None = None) -> dict[Ask, Taken]:
    """Return what calls of models have taken: those of the run where there are enough, else those of the ledger.

    Args:
        store: Holds runs and ledger.
        models: Labels of the models.
        run_id: A run whose results tell more than those of others, such as a try of three questions.
    """
    of_ledger = _gathered(_ledger_calls(store, list(models)))
    of_run = _gathered(_run_calls(store, run_id)) if run_id else {}
    known = _spans(of_ledger, here=False)
    return {**known, **{ask: _timed(taken, known.get(ask)) for ask, taken in _spans(of_run, here=True).items()}}


def _timed(taken: Taken, known: Taken | None) -> Taken:
    """Take the time of calls from the ledger where a run was resumed: what it replays takes none."""
    return taken if taken.seconds or known is None else replace(taken, seconds=known.seconds)


def _gathered(calls: Iterable[tuple[Ask, _Seen]]) -> dict[Ask, list[_Seen]]:
    found: dict[Ask, list[_Seen]] = {}
    for ask, seen in calls:
        found.setdefault(ask, []).append(seen)
    return found


def _spans(found: Mapping[Ask, list[_Seen]], *, here: bool) -> dict[Ask, Taken]:
    return {ask: _taken(seen, here) for ask, seen in found.items() if len(seen) >= ENOUGH}


def _taken(seen: list[_Seen], here: bool) -> Taken:
    timed = [item.seconds for item in seen if item.seconds > 0]
    return Taken(
        calls=len(seen),
        sent=_span([item.sent for item in seen]),
        received=_span([item.received for item in seen]),
        seconds=_span(timed) if len(timed) >= ENOUGH else None,
        here=here,
    )


def _span(values: list[int] | list[float]) -> Span:
    return Span(median(values), quantiles(values, n=10, method="inclusive")[-1])


def _ledger_calls(store: Store, models: list[str]) -> Iterator[tuple[Ask, _Seen]]:
    for row in store.calls.sample(models):
        if row["input_tokens"] is not None and row["output_tokens"] is not None:
            seconds = read_reply(row["reply"]).seconds
            yield Ask(row["model"], row["purpose"]), _Seen(row["input_tokens"], row["output_tokens"], seconds)


def _run_calls(store: Store, run_id: str) -> Iterator[tuple[Ask, _Seen]]:
    counted = set[tuple[Ask, str]]()
    for result in islice(store.results.iterate(run_id), _MOST_ROWS):
        for record in _records(result):
            # Every judge's row tells of the one call that made the answer.
            if (this := (Ask(record.model, record.purpose), record.key)) in counted:
                continue
            counted.add(this)
            usage = record.provenance.get("first_call") or record.usage.model_dump()
            tokens = _tokens(usage)
            if tokens is not None:
                yield Ask(record.model, record.purpose), _Seen(*tokens, record.seconds)


def _records(result: VerificationResult) -> Iterator[CallRecord]:
    guards = [part.call for part in (result.answer, result.abstention, result.sufficiency) if part is not None]
    yield from (call for call in guards if call is not None)
    yield from result.template.calls if result.template else ()
    yield from result.rubric.calls


def _tokens(usage: Mapping[str, Any]) -> tuple[int, int] | None:
    sent, received = usage.get("input_tokens"), usage.get("output_tokens")
    return (sent, received) if isinstance(sent, int) and isinstance(received, int) else None
