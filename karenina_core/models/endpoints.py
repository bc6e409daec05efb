"""Checks the address of a model before anything, keys included, is sent there.

What an address may be depends on who uses this process, see `sharing`:

| host | own computer | shared server |
|---|---|---|
| a known provider's | `https` only | `https` only |
| in `KARENINA_ALLOWED_HOSTS` | yes | yes |
| this computer | yes | no |
| in a private network | no | no |
| any other | yes | no |

The name alone is not enough: `address_problem` judges what it resolves to, at the moment of the connection.
"""

from __future__ import annotations

import ipaddress
import os
import re
from typing import Literal
from urllib.parse import urlsplit

from karenina_core.errors import ConfigError
from karenina_core.models.providers import is_provider_host, matches
from karenina_core.models.sharing import is_shared

ALLOWED_HOSTS = "KARENINA_ALLOWED_HOSTS"
Standing = Literal["provider", "listed", "loopback", "other"]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_EXAMPLE = "Use an address such as https://host.example/v1 or http://127.0.0.1:11434/v1."
_LIST_IT = f"An administrator can allow the host by naming it in the environment variable {ALLOWED_HOSTS}."
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)", re.IGNORECASE)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def check_endpoint(url: str) -> str:
    """Return the address of an OpenAI-compatible endpoint without a slash at its end.

    Raises:
        ConfigError: It is not a plain `http` or `https` address, holds a user, a password, a query or a fragment, or
            leads to a place where this process may not send anything.
    """
    for problem_of, advice in ((_form_problem, _EXAMPLE), (_place_problem, _LIST_IT)):
        if problem := problem_of(url):
            raise ConfigError("The endpoint address cannot be used.", problem, advice)
    return url.rstrip("/")


def host_of(url: str) -> str:
    """Return the host of a checked address, in lower case and without a dot at its end."""
    return (urlsplit(url).hostname or "").rstrip(".")


def standing(host: str) -> Standing:
    """Return what kind of place a host is."""
    if matches(host, _listed()):
        return "listed"
    if is_provider_host(host):
        return "provider"
    address = _literal(host)
    return "loopback" if host == "localhost" or (address is not None and address.is_loopback) else "other"


def address_problem(kind: Standing, address: str) -> str:
    """Say why nothing may be sent to an address a host resolved to; empty when it may.

    Args:
        kind: Of the host.
        address: An IP address.
    """
    found = _embedded(ipaddress.ip_address(address.partition("%")[0]))
    if found.is_link_local or found.is_multicast or found.is_unspecified:
        return f"{address} is a link-local or special address, where machines keep their credentials."
    if kind == "listed" or (found.is_loopback if kind == "loopback" else found.is_global):
        return ""
    return f"{address} belongs to this computer or a private network."


def _form_problem(url: str) -> str:
    if not url.isascii() or not url.isprintable() or any(sign in url for sign in " \\<>\"'`{}|^"):
        return "It holds characters that do not belong into an address."
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "It is not an address."
    if parts.scheme not in ("http", "https"):
        return f"It must begin with http:// or https://, not {parts.scheme or 'nothing'!r}."
    if not host or not host.rstrip("."):
        return "It names no host."
    if "@" in parts.netloc:
        return "It holds a user name or a password."
    if "?" in url or "#" in url:
        return "It holds a query or a fragment."
    last = host.rstrip(".").rpartition(".")[2]
    if _NUMBER.fullmatch(last) and _literal(host) is None:
        return "It is a number in disguise, not a host."
    return ""


def _place_problem(url: str) -> str:
    host = host_of(url)
    kind = standing(host)
    if kind == "provider" and urlsplit(url).scheme != "https":
        return f"{host} is reached by https only; otherwise the key could be read on the way."
    if kind in ("provider", "listed"):
        return ""
    if kind == "loopback":
        return "This server is shared, and the address leads back into it." if is_shared() else ""
    address = _literal(host)
    if address is not None and (problem := address_problem("other", str(address))):
        return problem
    return f"This server is shared, and {host} is not a provider it knows." if is_shared() else ""


def _listed() -> tuple[str, ...]:
    names = (name.strip().lower() for name in os.environ.get(ALLOWED_HOSTS, "").split(","))
    return tuple(name.removeprefix("*") for name in names if name.strip("*."))


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def _embedded(address: Address) -> Address:
    """Return the IPv4 address inside an IPv6 address, where there is one."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else address)
