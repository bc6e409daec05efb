"""The connections of `openai_http` in the form that litellm takes: its requests go where they may, and nowhere else."""

from __future__ import annotations

import asyncio

import aiohttp
import httpx
from yarl import URL

from karenina_core.models.openai.http import Connections, connect, read_body, release

MAX_BODY = 2**26  # bytes of one reply; litellm takes whole ones only, and cuts none
# What the environment adds for one provider, such as an organisation, is nobody else's business.
_SENT = frozenset({"accept", "authorization", "content-type", "user-agent"})
_ABOUT_THE_BODY = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class CheckedTransport(httpx.AsyncBaseTransport):
    """Sends requests over the connections to one endpoint; follows no redirect, reads no proxy from the environment.

    Args:
        url: The endpoint.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._connections: Connections | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and receive the whole response.

        Raises:
            httpx.TransportError: It could not be sent, or the response not be received.
        """
        try:
            async with self._session().request(
                request.method,
                URL(str(request.url), encoded=True),
                data=await request.aread(),
                headers={name: value for name, value in request.headers.items() if name.lower() in _SENT},
                allow_redirects=False,
            ) as response:
                body = await read_body(response, MAX_BODY)
        except TimeoutError as error:
            raise httpx.ReadTimeout(str(error), request=request) from error
        except (aiohttp.ClientError, OSError) as error:
            raise httpx.ConnectError(str(error), request=request) from error
        headers = [(name, value) for name, value in response.headers.items() if name.lower() not in _ABOUT_THE_BODY]
        return httpx.Response(response.status, headers=headers, content=body.data, request=request)

    async def aclose(self) -> None:
        """Give back the connections."""
        if self._connections is not None:
            connections, self._connections = self._connections, None
            await release(connections)

    def _session(self) -> aiohttp.ClientSession:
        if self._connections is None or self._connections.loop is not asyncio.get_running_loop():
            self._connections = connect(self._url)
        return self._connections.session


def checked_client(transport: CheckedTransport) -> httpx.AsyncClient:
    """Return an HTTP client that follows no redirect and reads no proxy from the environment."""
    return httpx.AsyncClient(transport=transport, follow_redirects=False, trust_env=False)
