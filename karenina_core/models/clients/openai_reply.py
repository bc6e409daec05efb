"""Reads what an endpoint of the OpenAI protocol sent. Whatever it is, a reply comes out or a `ModelError`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic_core import from_json

from karenina_core.errors import ModelError, ModelErrorCategory
from karenina_core.models.failures import category_of_status, failure, refined, retry_after
from karenina_core.models.ports import ChatReply, ToolCall
from karenina_core.models.prices import Listed
from karenina_core.models.replies import clean, clean_reply, without_key
from karenina_core.schemas import Usage, built

REPLY_TOOL = "reply"  # the name under which a schema is sent
_LONGEST_NAME = 200  # characters of a model's name, or of the reason a reply ended
_MOST_TOKENS = 2**40
_MOST_TOOL_CALLS = 64  # of one reply
# A pair of surrogates, which is one character; half of one; any other escape.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
_TAGS = re.compile(r"<[^>]{0,200}>")
_STATUS = re.compile(r"[345][0-9][0-9]")
_THOUGHT = re.compile(r"<(?:think|thinking|budget:thinking)>.*?</(?:think|thinking|budget:thinking)>(.*)", re.DOTALL)
_ENDINGS = {
    **{"MAX_TOKENS": "length", "max_tokens": "length", "tool_use": "tool_calls"},
    **dict.fromkeys(("COMPLETE", "STOP", "end_turn", "eos", "eos_token", "stop_sequence"), "stop"),
}


class ReplyContext(NamedTuple):
    """What is known of a call when its reply is read.

    Attributes:
        model: Label of the model, for errors.
        listed: What the price list says of it.
        key: The key that was sent; hidden in what is kept.
        charges: Whether the endpoint says itself what a call cost, in US dollars.
        tools: Whether tools were offered; otherwise the model's wish for one is no reply.
    """

    model: str
    listed: Listed | None = None
    key: str | None = None
    charges: bool = False
    tools: bool = False


class RejectedError(ModelError):
    """An endpoint did not take a request as it was.

    Attributes:
        code: The endpoint's own name for the error.
        param: The setting it is about, if it says so.
    """

    def __init__(self, error: ModelError, code: str, param: str) -> None:
        super().__init__(error.what, error.why, error.next, category=error.category)
        self.code = code
        self.param = param


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
        text = data.decode("utf-8", "replace").encode()
        return from_json(_ESCAPE.sub(lambda match: rb"\ufffd" if match[1] else match[0], text), allow_partial=partial)


def error_of(status: int, headers: Mapping[str, str], data: bytes, model: str) -> ModelError:
    """Return the error for an answer that is no success.

    Args:
        status: The HTTP status.
        headers: Of the answer.
        data: Its body: JSON of any shape, or text.
        model: Its label.
    """
    try:
        body = decode(data)
    except ValueError:
        body = data.decode("utf-8", "replace")
    return _error(status, headers, body.get("error", body) if isinstance(body, dict) else body, model)


def read_reply(
    data: Any, context: ReplyContext, seconds: float, facts: Mapping[str, Any], *, cut: bool = False
) -> ChatReply:
    """Return the reply that a completion holds.

    Args:
        data: Decoded JSON.
        context: Of the call.
        seconds: How long it took.
        facts: Further provenance.
        cut: Whether the completion was longer than what is read of one.

    Raises:
        ModelError: It holds none: an error, a refusal, nothing.
    """
    completion = _object(data)
    choice = _first(completion.get("choices"))
    error = completion.get("error") or choice.get("error")
    if error and (not isinstance(error, dict) or error.get("message") or error.get("code") is not None):
        raise _error_inside(error, context.model)
    if not choice:
        raise failure("server_error", context.model, _no_choice(completion, cut))
    message = _object(choice.get("message"))
    reason = "length" if cut else _ending(choice.get("finish_reason"))
    text, ending = clean_reply(without_key(context.key, _text(message)), reason)
    calls = tuple(_tool_calls(message, context.key)) if context.tools else ()
    if not text and not calls and ending != "length":
        extra = _object(message.get("provider_specific_fields"))  # where litellm keeps it
        refusal = _word(message.get("refusal"), None) or _word(extra.get("refusal"), None)
        why = refusal or f"It sent no text (finish reason {choice.get('finish_reason')!r})."
        # Whoever filters says so; an ending like any other means that nothing came.
        category: ModelErrorCategory = "empty" if not refusal and ending in ("stop", "tool_calls") else "refused"
        raise failure(category, context.model, clean(why))
    name = without_key(context.key, clean(_word(completion.get("model"))))
    return ChatReply(text, ending, _usage(completion, context), "provider", seconds, {"model": name, **facts}, calls)


def _error(status: int, headers: Mapping[str, str], content: Any, model: str) -> ModelError:
    fields = _object(content)
    text = _error_text(content)
    if 300 <= status < 400:
        text = f"The address leads to another one (status {status}), which is not followed."
    code, param, kind = (clean(str(fields.get(name) or "")[:100]) for name in ("code", "param", "type"))
    category = refined(category_of_status(status), f"{text} {code} {kind}")
    error = failure(category, model, text or f"It answered with status {status}.", retry_after(headers))
    return RejectedError(error, code, param) if category == "bad_request" else error


def _error_inside(content: Any, model: str) -> ModelError:
    """Return the error for one inside of a successful answer, as OpenRouter sends it."""
    code = _object(content).get("code")
    if _STATUS.fullmatch(str(code)):
        return _error(int(str(code)), {}, content, model)
    text = _error_text(content)
    category: ModelErrorCategory = "bad_request" if code is None else "unexpected"
    return failure(refined(category, text), model, text)


def _error_text(content: Any) -> str:
    """Return an endpoint's own words, from any of the shapes they come in, as one line without markup."""
    while isinstance(content, dict):
        content = next((content[name] for name in ("message", "detail", "msg", "error") if content.get(name)), "")
    text = clean(("" if content is None else str(content))[:10_000])
    return " ".join(_TAGS.sub(" ", text).split())


def _text(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = _object(_object(call).get("function"))
        if function.get("name") == REPLY_TOOL and (arguments := function.get("arguments")):
            return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    content = message.get("content")
    if isinstance(content, list):
        # Parts of other kinds, such as thoughts, are no answer.
        parts = [_object(part) for part in content]
        text = "".join(_word(part.get("text"), None) for part in parts if part.get("type") in ("text", None))
    else:
        text = _word(content, None)
    thought = _THOUGHT.match(text)
    return thought[1] if thought else text


def _tool_calls(message: Mapping[str, Any], key: str | None) -> Iterator[ToolCall]:
    """Yield the tools that the model wants to be used; what names none is passed over."""
    calls = message.get("tool_calls")
    for number, call in enumerate(calls[:_MOST_TOOL_CALLS] if isinstance(calls, list) else (), 1):
        function = _object(_object(call).get("function"))
        name, arguments = clean(_word(function.get("name"))), function.get("arguments") or "{}"
        if name and name != REPLY_TOOL:
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            written, _ = clean_reply(without_key(key, text), None)
            yield ToolCall(clean(_word(_object(call).get("id"))) or f"call_{number}", name, written)


def _no_choice(completion: Mapping[str, Any], cut: bool) -> str:
    if cut:
        return "Its reply is longer than what is read of one, and begins with something else than text."
    return "The reply holds no choices." if completion else "The reply is no completion."


def _ending(reason: Any) -> str:
    word = _word(reason)
    return _ENDINGS.get(word, clean(word)) or "stop"


def _usage(completion: Mapping[str, Any], context: ReplyContext) -> Usage:
    usage = _object(completion.get("usage"))
    sent, received = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    cost: float | None = None
    match usage.get("cost"):
        case int() | float() as charge if context.charges and 0 <= charge < 1e6:
            cost = float(charge)
    if cost is None and context.listed is not None and sent is not None and received is not None:
        details = _object(usage.get("prompt_tokens_details"))
        cached = _count(details.get("cached_tokens")) or _count(usage.get("prompt_cache_hit_tokens")) or 0
        cost = context.listed.cost(sent, received, cached)
    return built(Usage, input_tokens=sent, output_tokens=received, cost=cost, calls=1, cached_calls=0)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _first(values: Any) -> Mapping[str, Any]:
    return _object(values[0]) if isinstance(values, list) and values else {}


def _word(value: Any, longest: int | None = _LONGEST_NAME) -> str:
    return value[:longest] if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < _MOST_TOKENS else None
