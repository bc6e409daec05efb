"""Sends JSON to one address over connections of aiohttp's pool, without its session.

The session prepares every request anew: headers, cookies, a body with a task of its own, an object for the reply. That
is two thirds of what a call costs. Here the head of all requests is written once; connecting, TLS, the pool and the
reading of HTTP stay aiohttp's.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

import aiohttp
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError, RawResponseMessage
from multidict import CIMultiDictProxy
from yarl import URL

from karenina_core.models.openai.http import HEADERS, NO_TIMEOUT

_NOT_SENT = ("content-length", "transfer-encoding")


class Answer:
    """The beginning of an answer. As a context it gives its connection back, to be used again if all was read.

    Attributes:
        status: The HTTP status.
        headers: Of the answer.
        content: Its body as it comes.
    """

    __slots__ = ("_connection", "content", "headers", "status")

    def __init__(self, message: RawResponseMessage, content: aiohttp.StreamReader, connection: Connection) -> None:
        self.status: int = message.code
        self.headers: CIMultiDictProxy[str] = message.headers
        self.content = content
        self._connection = connection

    @property
    def content_type(self) -> str:
        """What the body is, in lower case and without parameters; empty when it does not say."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    @property
    def content_length(self) -> int | None:
        """Bytes of the body, if it says so."""
        length = self.headers.get("Content-Length", "")
        return int(length) if length.isascii() and length.isdigit() else None

    def close(self) -> None:
        """Receive no more of it."""
        self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A connection whose answer was not read to its end is closed by the pool.
        self._connection.release()


class Post:
    """Posts JSON to one address.

    Args:
        session: Whose connections are used; belongs to the running event loop.
        url: The address.
    """

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        assert session.connector is not None
        self._connector = session.connector
        # Never sent itself; it tells the pool where connections lead, and what a request has for a head.
        self._request = aiohttp.ClientRequest("POST", URL(url), headers=HEADERS, loop=session._loop, session=session)
        lines = [f"{name}: {value}" for name, value in self._request.headers.items() if name.lower() not in _NOT_SENT]
        self._head = "\r\n".join([f"POST {self._request.url.raw_path_qs} HTTP/1.1", *lines, ""]).encode()

    def head(self, headers: dict[str, str]) -> bytes:
        """Return the head of requests with further headers, which must hold no line break."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return self._head + lines.encode("ascii") + b"Content-Length: "

    async def send(self, head: bytes, body: bytes) -> Answer:
        """Send a body, and return the answer as soon as it begins.

        Args:
            head: As `head` returned it.
            body: JSON.

        Raises:
            aiohttp.ClientError: The way there is broken, or the answer is not HTTP.
            OSError: The way there is broken.
        """
        connection = await self._connector.connect(self._request, traces=[], timeout=NO_TIMEOUT)
        try:
            protocol = connection.protocol
            assert protocol is not None and protocol.transport is not None
            protocol.set_response_params(read_until_eof=True)
            protocol.transport.write(b"%b%d\r\n\r\n%b" % (head, len(body), body))
            message, content = await protocol.read()
            while message.code < 200 and message.code != 101:
                message, content = await protocol.read()
        except HttpProcessingError as error:
            connection.close()
            raise aiohttp.ClientResponseError(
                self._request.request_info, (), status=error.code, message=error.message
            ) from error
        except BaseException:
            connection.close()
            raise
        return Answer(message, content, connection)
