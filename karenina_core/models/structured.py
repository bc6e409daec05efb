"""Reading JSON out of what a model wrote, and asking again when it does not fit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

from karenina_core.errors import InputError, ModelError, ModelErrorCategory
from karenina_core.models.ports import ChatReply, ChatRequest, Message
from karenina_core.models.replies import MAX_DEPTH, clean_data
from karenina_core.schemas import CallRecord

T = TypeVar("T")

MAX_STARTS = 50  # opening braces tried in one reply
MAX_REPAIRED = 60_000  # characters of a text that is repaired,
MAX_REPAIR_WORK = 400_000  # and its length × its brackets: one or two seconds at worst
MAX_SHOWN = 4_000  # characters of a wrong reply, and of the complaint, sent back to the judge
_NO_VALUE = re.compile(r":\s*(?:[,}\]]|\Z)")
_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\n(.*?)```", re.DOTALL)


class InvalidOutputError(ModelError):
    """A judge's replies did not fit the schema, also when asked again.

    Attributes:
        records: The calls that were made, as evidence.
    """

    def __init__(
        self, problem: str, records: list[CallRecord], category: ModelErrorCategory = "invalid_output"
    ) -> None:
        times = "once" if len(records) == 1 else f"{len(records)} times"
        super().__init__(
            f"The judge was asked {times} and gave no usable JSON.",
            why=problem[:500],
            next="Use a stronger judge, or simplify the template's fields.",
            category=category,
        )
        self.records = records


def json_objects(text: str) -> Iterator[Any]:
    """Yield the JSON objects in a text, from left to right; a broken one is repaired when there is no whole one.

    What comes before `</think>` is left out, and fenced blocks are looked at first.
    """
    text = text.rpartition("</think>")[2]
    fenced = "\n".join(_FENCED.findall(text))
    found = False
    for part in (fenced, text) if fenced else (text,):
        for value in _whole_objects(part):
            found = True
            yield value
    if not found:
        yield from _repaired_objects(fenced or text)


def read_reply(text: str, validate: Callable[[Any], T]) -> T:
    """Return the first JSON object in `text` that `validate` accepts, as `validate` returns it.

    Raises:
        InputError: There is no JSON object, or none is accepted; the message can be sent back to the judge.
    """
    complaint = ""
    # The text itself is clean; only an escape can hide what is not, and only brackets can nest.
    plain = "\\" not in text and text.count("{") + text.count("[") <= MAX_DEPTH
    for value in json_objects(text):
        try:
            return validate(value if plain else clean_data(value))
        except ValueError as error:  # InputError and pydantic's ValidationError are both
            complaint = complaint or str(error)
    raise InputError(complaint or "The reply holds no JSON object.")


def read_whole_reply(reply: ChatReply, validate: Callable[[Any], T]) -> T:
    """Do the same with a reply, and refuse one that was cut off: half a list would pass for a whole one.

    Raises:
        InputError: As above, or the reply ended at its token limit.
    """
    if reply.finish_reason == "length":
        raise InputError("The reply was cut off at its token limit. Answer more briefly.")
    return read_reply(reply.text, validate)


def ask_for_correction(request: ChatRequest, reply: str, complaint: str) -> ChatRequest:
    """Return the request followed by the wrong reply and what is wrong with it."""
    schema = f"\nThe JSON schema:\n{json.dumps(request.schema, ensure_ascii=False)}" if request.schema else ""
    correction = (
        f"That reply cannot be used:\n{complaint[:MAX_SHOWN]}\n"
        f"Reply again with one JSON object that follows the schema, and nothing else.{schema}"
    )
    added = (Message("assistant", reply[:MAX_SHOWN] or "(nothing)"), Message("user", correction))
    return replace(request, messages=request.messages + added)


def _whole_objects(text: str) -> Iterator[Any]:
    place, starts = text.find("{"), 0
    while place >= 0 and starts < MAX_STARTS:
        starts += 1
        try:
            value, end = _decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield value
        place = text.find("{", end)


def _repaired_objects(text: str) -> Iterator[Any]:
    import json_repair

    broken = "".join(text.partition("{")[1:])
    work = len(broken) * (broken.count("{") + broken.count("["))
    if not broken or len(broken) > MAX_REPAIRED or work > MAX_REPAIR_WORK:
        return
    if _NO_VALUE.search(broken):
        return  # the repair would invent an empty text, and that be compared with the truth
    try:
        value = json_repair.loads(broken, skip_json_loads=True)
    except (ValueError, RecursionError):
        return
    # Several fragments come back as a list.
    yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict) and item)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_no_constant)
