"""Reads what an endpoint of the OpenAI protocol replied. Whatever JSON it is: a reply comes out, or a `ModelError`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from karenina_core.models.failures import failure
from karenina_core.models.json_modes import TOOL
from karenina_core.models.openai.errors import within
from karenina_core.models.ports import ChatReply
from karenina_core.models.prices import Listed
from karenina_core.models.replies import clean, clean_reply, without_key
from karenina_core.schemas import Usage, built

_LONGEST_NAME = 200  # characters of a model's name, or of the reason a reply ended
_MOST_TOKENS = 2**40
# A pair of surrogates, which is one character; half of one; any other escape.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
_THOUGHT = re.compile(r"<(?:think|thinking|budget:thinking)>.*?</(?:think|thinking|budget:thinking)>(.*)", re.DOTALL)
_ENDINGS = {
    **{"MAX_TOKENS": "length", "max_tokens": "length", "tool_use": "tool_calls"},
    **dict.fromkeys(("COMPLETE", "STOP", "end_turn", "eos", "eos_token", "stop_sequence"), "stop"),
}


class Asker(NamedTuple):
    """Who gets a reply.

    Attributes:
        model: Label of the model, for errors.
        listed: What the price list says of it.
        key: The key that was sent; not repeated in what is kept.
        charges: Whether the endpoint says itself what a call cost, in US dollars.
    """

    model: str
    listed: Listed | None = None
    key: str | None = None
    charges: bool = False


def decode(data: bytes, *, whole: bool = True) -> Any:
    """Return the value of JSON from elsewhere; half of a surrogate pair becomes U+FFFD.

    Args:
        data: The JSON.
        whole: False when it was cut off: then what there is of it is returned.

    Raises:
        ValueError: It is no JSON.
    """
    partial: Any = False if whole else "trailing-strings"
    try:
        return from_json(data, allow_partial=partial)
    except ValueError:
        mended = data.decode("utf-8", "replace").encode()
        return from_json(_ESCAPE.sub(_mended, mended), allow_partial=partial)


def read_reply(data: Any, asker: Asker, seconds: float, facts: Mapping[str, Any], *, cut: bool = False) -> ChatReply:
    """Return the reply that a completion holds.

    Args:
        data: Decoded JSON.
        asker: Who gets it.
        seconds: How long it took.
        facts: Further provenance.
        cut: Whether the completion was longer than what is read of one.

    Raises:
        ModelError: It holds none: an error, a refusal, nothing.
    """
    completion = _object(data)
    choice = _first(completion.get("choices"))
    said = completion.get("error") or choice.get("error")
    if _tells(said):
        raise within(said, asker.model)
    if not choice:
        raise failure("server_error", asker.model, _no_choice(completion, cut))
    message = _object(choice.get("message"))
    said_ending = "length" if cut else _ending(choice.get("finish_reason"))
    text, ending = clean_reply(without_key(asker.key, _text(message)), said_ending)
    if not text and ending != "length":
        raise failure("refused", asker.model, clean(_refusal(message, choice)))
    name = without_key(asker.key, clean(_word(completion.get("model"))))
    return ChatReply(text, ending, _usage(completion, asker), "provider", seconds, {"model": name, **facts})


def _text(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = _object(_object(call).get("function"))
        if function.get("name") == TOOL and (arguments := function.get("arguments")):
            return arguments if isinstance(arguments, str) else to_json(arguments, inf_nan_mode="null").decode()
    text = _joined(message.get("content"))
    thought = _THOUGHT.match(text)
    return thought[1] if thought else text


def _joined(content: Any) -> str:
    if isinstance(content, list):
        # Parts of other kinds, such as thoughts, are no answer.
        parts = (_object(part) for part in content)
        return "".join(_word(part.get("text"), None) for part in parts if part.get("type") in ("text", None))
    return _word(content, None)


def _refusal(message: Mapping[str, Any], choice: Mapping[str, Any]) -> str:
    said = message.get("refusal")
    return (
        said if isinstance(said, str) and said else f"It sent no text (finish reason {choice.get('finish_reason')!r})."
    )


def _no_choice(completion: Mapping[str, Any], cut: bool) -> str:
    if cut:
        return "Its reply is longer than what is read of one, and begins with something else than text."
    return "The reply holds no choices." if completion else "The reply is no completion."


def _ending(reason: Any) -> str:
    word = _word(reason)
    return _ENDINGS.get(word, clean(word)) or "stop"


def _usage(completion: Mapping[str, Any], asker: Asker) -> Usage:
    usage = _object(completion.get("usage"))
    sent, received = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    cost = _charge(usage.get("cost")) if asker.charges else None
    if cost is None and asker.listed is not None and sent is not None and received is not None:
        details = _object(usage.get("prompt_tokens_details"))
        cached = _count(details.get("cached_tokens")) or _count(usage.get("prompt_cache_hit_tokens")) or 0
        cost = asker.listed.cost(sent, received, cached)
    return built(Usage, input_tokens=sent, output_tokens=received, cost=cost, calls=1, cached_calls=0)


def _tells(error: Any) -> bool:
    """Say whether an `error` means one; some endpoints add an empty one to every reply."""
    if isinstance(error, dict):
        return bool(error.get("message")) or error.get("code") is not None
    return bool(error)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _first(values: Any) -> Mapping[str, Any]:
    return _object(values[0]) if isinstance(values, list) and values else {}


def _word(value: Any, longest: int | None = _LONGEST_NAME) -> str:
    return value[:longest] if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < _MOST_TOKENS else None


def _charge(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value < 1e6 else None


def _mended(match: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if match[1] else match[0]
