"""Puts every failure of a direct call into one of our categories: bad answers, and what happens on the way."""

from __future__ import annotations

import os
import re
import socket
import ssl
from collections.abc import Mapping
from typing import Any

from karenina_core.errors import ModelError, ModelErrorCategory
from karenina_core.models.failures import category_of_status, failure, refined, retry_after
from karenina_core.models.replies import clean

_TAGS = re.compile(r"<[^>]{0,200}>")
_BLANKS = re.compile(r"\s+")
_STATUS = re.compile(r"[345][0-9][0-9]")


class RefusedAddressError(OSError):
    """A connection leads where nothing may be sent."""


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


def answered(status: int, headers: Mapping[str, str], body: Any, model: str) -> ModelError:
    """Return the error for an answer that is no success.

    Args:
        status: The HTTP status.
        headers: Of the answer.
        body: Decoded JSON, or text where it is none.
        model: Its label.
    """
    said = body.get("error", body) if isinstance(body, dict) else body
    fields: dict[str, Any] = said if isinstance(said, dict) else {}
    text = _text(said)
    if 300 <= status < 400:
        text = f"The address leads to another one (status {status}), which is not followed."
    code, param = _word(fields, "code"), _word(fields, "param")
    category = refined(category_of_status(status), f"{text} {code} {_word(fields, 'type')}")
    error = failure(category, model, text or f"It answered with status {status}.", retry_after(headers))
    return RejectedError(error, code, param) if category == "bad_request" else error


def within(said: Any, model: str) -> ModelError:
    """Return the error for one that comes inside of a successful answer, as OpenRouter and streams have them."""
    code = said.get("code") if isinstance(said, dict) else None
    status = int(str(code)) if _STATUS.fullmatch(str(code)) else 0
    if status:
        return answered(status, {}, {"error": said}, model)
    category: ModelErrorCategory = "bad_request" if code is None else "unexpected"
    return failure(refined(category, _text(said)), model, _text(said))


def on_the_way(error: Exception, model: str) -> ModelError:
    """Return the error for whatever sending and receiving raised."""
    import aiohttp

    text = str(error) or type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, RefusedAddressError):
        return failure("bad_request", model, str(error.os_error))
    if isinstance(error, aiohttp.ClientConnectorError):
        return failure("connection", model, f"{error.host}:{error.port}: {_reason(error.os_error)}.")
    if isinstance(error, TimeoutError):
        return failure("timeout", model, text if str(error) else "")
    if isinstance(error, aiohttp.ClientResponseError):
        return failure("server_error", model, f"Its answer is not HTTP: {error.message}")
    if isinstance(error, aiohttp.ClientError | OSError | EOFError):
        return failure("connection", model, text)
    return failure("unexpected", model, f"{type(error).__name__}: {text}")


def _reason(error: OSError) -> str:
    """Return why a connection could not be made, in the system's words."""
    if isinstance(error, socket.gaierror | ssl.SSLError) or not error.errno:
        return error.strerror or str(error) or type(error).__name__
    return os.strerror(error.errno)  # `strerror` is the event loop's word for it


def _text(said: Any) -> str:
    """Return an endpoint's own words, from any of the shapes they come in, as one line without markup."""
    if isinstance(said, dict):
        found = next((said[name] for name in ("message", "detail", "msg", "error") if said.get(name)), "")
        return _text(found)
    text = said if isinstance(said, str) else "" if said is None else str(said)
    return _BLANKS.sub(" ", _TAGS.sub(" ", clean(text[:10_000]))).strip()


def _word(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return clean(str(value)[:100]) if isinstance(value, str | int) else ""
