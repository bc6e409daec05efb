"""Keeps secrets out of logs, error texts and exports.

A secret is known by its value (environment variables with secret-looking names, keys entered in a session) or by its
shape (provider keys, authorisation headers, `?key=` in addresses, `user:password@`).
"""

from __future__ import annotations

import logging
import os
import re
from functools import partial
from urllib.parse import quote

HIDDEN = "[hidden]"
SHORTEST = 6  # shorter values, such as "none", would hide ordinary words

_SECRET_NAME = re.compile(r"(?:KEYS?|TOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|$)", re.IGNORECASE)
_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"""(?<![A-Za-z0-9])(?:
                sk-[A-Za-z0-9_-]{16,} | (?:gh[opsur]|github_pat|hf|gsk|r8|glpat|xox[abprs]|pk|rk)[_-][A-Za-z0-9_-]{16,}
                | AIza[A-Za-z0-9_-]{30,} | (?:AKIA|ASIA)[A-Z0-9]{16} | (?:xai|pplx|nvapi)-[A-Za-z0-9_-]{16,}
                | eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+
            )""",
            re.VERBOSE,
        ),
        HIDDEN,
    ),
    (
        re.compile(
            r"((?:proxy-)?authorization|x-api-key|api-key|x-goog-api-key)"
            r"(['\"]?\s*[:=]\s*['\"]?)(?:(?:bearer|basic|token)\s+)?[^\s'\",;}\]]+",
            re.IGNORECASE,
        ),
        rf"\1\2{HIDDEN}",
    ),
    (re.compile(r"\b(bearer)\s+[A-Za-z0-9._~+/-]{8,}=*", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (re.compile(r"(?i)([?&](?:[a-z_-]*key|[a-z_-]*token|secret|password|sig|signature)=)[^&\s'\"#]+"), rf"\1{HIDDEN}"),
    (re.compile(r"(\b[a-z][a-z0-9+.-]{1,30}://)[^\s/@'\"]+@", re.IGNORECASE), rf"\1{HIDDEN}@"),
)
_ENCODINGS = [partial(quote, safe=safe, errors="surrogatepass") for safe in ("", "/", "", "/")]
_session_secrets: set[str] = set()


def hide(value: str) -> None:
    """Treat `value`, such as a key entered in a session, as a secret from now on."""
    if len(value) >= SHORTEST:
        _session_secrets.add(value)


def redact(text: str) -> str:
    """Return `text` with every known secret replaced by `[hidden]`."""
    for value in _secrets():
        text = text.replace(value, HIDDEN)
    for shape, replacement in _SHAPES:
        text = shape.sub(replacement, text)
    return text


def _secrets() -> list[str]:
    values = {value for name, value in os.environ.items() if len(value) >= SHORTEST and _SECRET_NAME.search(name)}
    values |= _session_secrets
    for encode in _ENCODINGS:  # each of what there is, so that addresses within addresses are covered
        values |= set(map(encode, values))
    values |= {re.sub("%[0-9A-F]{2}", lambda octet: octet[0].lower(), value) for value in values}
    # The longest first: one secret may be the beginning of another.
    return sorted(values, key=len, reverse=True)


class RedactingFilter(logging.Filter):
    """Redacts the message and the traceback of every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            # Without the exception itself no handler can format it anew.
            record.exc_text, record.exc_info = redact(record.exc_text), None
        if record.stack_info:
            record.stack_info = redact(record.stack_info)
        return True


def install_log_redaction(*loggers: str) -> None:
    """Redact what the handlers of the root logger, and of the named loggers, write.

    Calling it again covers handlers that were added since.
    """
    handlers = [handler for name in ("", *loggers) for handler in logging.getLogger(name).handlers]
    for handler in filter(None, (*handlers, logging.lastResort)):
        if not any(isinstance(known, RedactingFilter) for known in handler.filters):
            handler.addFilter(RedactingFilter())
