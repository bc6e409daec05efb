"""HTTP connections to a model's endpoint that look where they lead.

Every address is checked at its socket, literal ones too. No redirect is followed, no proxy and no cookie is used, and
only so much is read of a reply.
"""

from __future__ import annotations

import asyncio
import io
import os
import socket
import ssl
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, NamedTuple

import aiohttp
import certifi
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from karenina_core.errors import ModelError
from karenina_core.models.endpoints import address_problem, host_of, standing
from karenina_core.models.failures import failure

MAX_BODY = 4 * 2**20  # bytes read of one reply: 200,000 characters, all of them escaped, and much beside them
_MAX_ERROR = 2**16  # bytes read of an error
_IDLE_SECONDS = 15.0  # a connection is kept unused
_LARGE = 2**20  # bytes of a request that are sent in pieces, so that the loop goes on meanwhile
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # what is small gains nothing, and nothing small can become large
    "Content-Type": "application/json",
    "User-Agent": "karenina-workbench",
}


class RefusedAddressError(OSError):
    """A connection leads where nothing may be sent."""


class Response(NamedTuple):
    """What an endpoint answered.

    Attributes:
        status: The HTTP status.
        headers: Of the answer.
        data: The body, as far as it was read.
        whole: Whether that is all of it.
    """

    status: int
    headers: Mapping[str, str]
    data: bytes
    whole: bool


# Threads of their own: a look-up without an answer takes up to a minute, and the usual ones are for the store.
_look_ups = ThreadPoolExecutor(64, "karenina-names")


class _Resolver(AbstractResolver):
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        def look_up() -> Any:
            return socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)

        found = await asyncio.get_running_loop().run_in_executor(_look_ups, look_up)
        return [
            ResolveResult(hostname=host, host=address[0], port=port, family=kind, proto=proto, flags=0)
            for kind, _, proto, _, address in found
        ]

    async def close(self) -> None:
        """Nothing is held."""


class Endpoint:
    """An address that JSON is posted to; made in the event loop that uses it, and kept for its connections.

    Raises:
        OSError: The file of certificates that `SSL_CERT_FILE` names cannot be read.
    """

    def __init__(self, url: str) -> None:
        host = host_of(url)
        certificates = os.environ.get("SSL_CERT_FILE") or certifi.where()
        connector = aiohttp.TCPConnector(
            limit=0,  # whoever calls limits the calls in flight
            ssl=_certificates(certificates) if url.startswith("https:") else False,
            resolver=_Resolver(),
            socket_factory=lambda address: _checked_socket(host, address),
            ttl_dns_cache=0,  # looked up for every connection, by one thread at a time
            keepalive_timeout=_IDLE_SECONDS,
        )
        self._url = URL(url)
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers=_HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),  # every call has its own
        )

    async def post(self, headers: Mapping[str, str], body: bytes) -> Response:
        """Send a body, and read the answer.

        Raises:
            aiohttp.ClientError: The way there is broken, or the answer is not HTTP.
            OSError: The way there is broken.
        """
        data = body if len(body) < _LARGE else io.BytesIO(body)
        async with self._session.post(self._url, data=data, headers=headers, allow_redirects=False) as response:
            most = MAX_BODY if response.status < 300 else _MAX_ERROR
            size = response.content_length
            if size is not None and size <= most and "Content-Encoding" not in response.headers:
                return Response(response.status, response.headers, await response.read(), True)
            received = bytearray()
            async for part in response.content.iter_any():
                received += part
                if len(received) > most:
                    response.close()
                    break
            return Response(response.status, response.headers, bytes(received[:most]), len(received) <= most)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.close()


def connection_failure(error: Exception, model: str) -> ModelError:
    """Return the error for whatever sending and receiving raised."""
    text = str(error) or type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorError):
        if isinstance(error.os_error, RefusedAddressError):
            return failure("bad_request", model, str(error.os_error))
        return failure("connection", model, f"{error.host}:{error.port}: {_reason(error.os_error)}.")
    if isinstance(error, TimeoutError):
        return failure("timeout", model, str(error))
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


def _checked_socket(host: str, address: Any) -> socket.socket:
    family, kind, protocol, _, place = address
    problem = address_problem(standing(host), str(place[0]))
    if problem:
        raise RefusedAddressError(problem)
    return socket.socket(family, kind, protocol)


@lru_cache(maxsize=4)
def _certificates(file: str) -> ssl.SSLContext:
    # Some 25 ms of work, hence once for all endpoints.
    try:
        return ssl.create_default_context(cafile=file)
    except OSError as error:
        raise OSError(f"The certificates in {file!r} cannot be read: {error.strerror or error}") from error
