"""Connections to endpoints: one pool for each endpoint and event loop, that looks where it goes.

A name is looked up for every new connection and all its addresses are judged; a connection is made only to an address
that was judged, literal ones included. Redirects are not followed, no proxy and no cookie is used. The pool has no
bound of its own: as many connections as calls in flight, kept alive in between.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import aiohttp
import certifi
from aiohttp.abc import AbstractResolver, ResolveResult

from karenina_core.models.endpoints import host_of, refusal
from karenina_core.models.openai.errors import RefusedAddressError

MAX_BODY = 4 * 2**20  # bytes read of one reply: 200,000 characters, all of them escaped, and much beside them
MAX_ERROR = 2**16  # bytes read of an error
_IDLE_SECONDS = 15.0  # a connection is kept unused
_END_SECONDS = 0.5  # for the end of a stream after its last word
HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # what is small gains nothing, and nothing small can become large
    "Content-Type": "application/json",
    "User-Agent": "karenina-workbench",
}
_LOOK_UPS = 64  # of names at once
NO_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=None)  # every call has its own


class Body(NamedTuple):
    """What was read of a body.

    Attributes:
        data: Its bytes.
        whole: Whether these are all.
    """

    data: bytes
    whole: bool


class Connections:
    """The connections to one endpoint in one event loop. Get them with `connect`, give them back with `release`."""

    def __init__(self, origin: str, loop: asyncio.AbstractEventLoop) -> None:
        self.origin = origin
        self.loop = loop
        self.users = 0
        secure = origin.startswith("https:")
        connector = aiohttp.TCPConnector(
            limit=0,
            ssl=_certificates(os.environ.get("SSL_CERT_FILE") or certifi.where()) if secure else False,
            resolver=_Resolver(),
            socket_factory=_socket_to(host_of(origin)),
            use_dns_cache=False,
            keepalive_timeout=_IDLE_SECONDS,
        )
        self.session = aiohttp.ClientSession(
            connector=connector,
            headers=HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=NO_TIMEOUT,
            trust_env=False,
        )


_known: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Connections]] = WeakKeyDictionary()
_lock = threading.Lock()
# Threads of their own: a look-up without an answer takes up to a minute, and the usual ones are for the store.
_names = ThreadPoolExecutor(_LOOK_UPS, "karenina-names")


def connect(url: str) -> Connections:
    """Return the connections to an endpoint, shared by all who use it in the running event loop.

    Raises:
        OSError: The file of certificates that `SSL_CERT_FILE` names cannot be read.
    """
    parts = urlsplit(url)
    origin, loop = f"{parts.scheme}://{parts.netloc}", asyncio.get_running_loop()
    with _lock:
        here = _known.setdefault(loop, {})
        if origin not in here:
            here[origin] = Connections(origin, loop)
        here[origin].users += 1
        return here[origin]


async def release(connections: Connections) -> None:
    """Close the connections when nobody uses them any more."""
    with _lock:
        connections.users -= 1
        if connections.users:
            return
        _known.get(connections.loop, {}).pop(connections.origin, None)
    if connections.loop is asyncio.get_running_loop():
        await connections.session.close()


class Received(Protocol):
    """The beginning of an answer, whichever way the request was sent."""

    @property
    def content_length(self) -> int | None:
        """Bytes of its body, if it says so."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Its headers."""

    @property
    def content(self) -> aiohttp.StreamReader:
        """Its body as it comes."""

    def close(self) -> None:
        """Receive no more of it."""


async def read_body(response: Received, most: int) -> Body:
    """Return a body, or its first `most` bytes; the rest is never received."""
    size = response.content_length
    if size is not None and size <= most and "Content-Encoding" not in response.headers:
        content = response.content
        return Body(content.read_nowait() if content.is_eof() else await content.read(), True)
    parts, read = [], 0
    async for part in response.content.iter_any():
        parts.append(part)
        read += len(part)
        if read > most:
            response.close()
            return Body(b"".join(parts)[:most], False)
    return Body(b"".join(parts), True)


async def finish(response: Received) -> None:
    """Receive the formal end of a stream, so that its connection can be used again."""
    with suppress(aiohttp.ClientError, TimeoutError):
        async with asyncio.timeout(_END_SECONDS):
            while await response.content.readany():
                pass


class _Resolver(AbstractResolver):
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        look_up = partial(socket.getaddrinfo, host, port, family=family, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(_names, look_up)
        unique = {str(address[0]): (kind, address) for kind, _, _, _, address in found}
        _judge(host.rstrip("."), *unique)
        return [
            ResolveResult(hostname=host, host=literal, port=port, family=kind, proto=0, flags=socket.AI_NUMERICHOST)
            for literal, (kind, _) in unique.items()
        ]

    async def close(self) -> None:
        """Nothing is held."""


def _socket_to(host: str) -> Any:
    """Return what makes the sockets of connections to a host, after a last look at where each of them leads."""

    def make(address: Any) -> socket.socket:
        family, kind, protocol, _, place = address
        _judge(host, str(place[0]))
        return socket.socket(family, kind, protocol)

    return make


def _judge(host: str, *addresses: str) -> None:
    why = refusal(host, addresses)
    if why:
        raise RefusedAddressError(why)


@lru_cache(maxsize=4)
def _certificates(file: str) -> ssl.SSLContext:
    # Some 25 ms of work, hence once for all endpoints.
    try:
        return ssl.create_default_context(cafile=file)
    except OSError as error:
        raise OSError(f"The certificates in {file!r} cannot be read: {error.strerror or error}") from error
