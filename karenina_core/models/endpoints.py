"""Checks the address of a model before anything, keys included, is sent there."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from karenina_core.errors import ConfigError

_NEXT = "Use an address such as https://host.example/v1 or http://127.0.0.1:11434/v1."


def check_endpoint(url: str) -> str:
    """Return the address of an OpenAI-compatible endpoint without a slash at its end.

    Raises:
        ConfigError: It is not a plain `http` or `https` address, or holds a user, a password, a query or a fragment.
    """
    problem = _problem(url)
    if problem:
        raise ConfigError("The endpoint address cannot be used.", why=problem, next=_NEXT)
    return url.rstrip("/")


def _problem(url: str) -> str:
    if not url.isascii() or not url.isprintable() or any(sign in url for sign in " \\<>\"'`{}|^"):
        return "It holds characters that do not belong into an address."
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "It is not an address."
    if parts.scheme not in ("http", "https"):
        return f"It must begin with http:// or https://, not {parts.scheme or 'nothing'!r}."
    if not host:
        return "It names no host."
    if "@" in parts.netloc:
        return "It holds a user name or a password."
    if "?" in url or "#" in url:
        return "It holds a query or a fragment."
    return "It leads to a link-local address, where machines keep their credentials." if _is_link_local(host) else ""


def _is_link_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_link_local
    except ValueError:
        return False
