"""HTTP that looks where it goes: resolves the name, judges every address, and connects to what it judged."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl

import httpx

from karenina_core.models.endpoints import address_problem, host_of, standing

# What the environment adds for one provider, such as an organisation, is nobody else's business.
_SENT = frozenset(
    {
        *("accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host"),
        *("transfer-encoding", "user-agent"),
    }
)


class CheckedTransport(httpx.AsyncBaseTransport):
    """Refuses to connect where nothing may be sent, also when a name leads somewhere else the second time.

    Attributes:
        refusal: Why the last connection was refused; empty when it was not.
    """

    def __init__(self) -> None:
        # With `trust_env` off, a company's certificates have to be asked for.
        cafile = os.environ.get("SSL_CERT_FILE")
        verify = ssl.create_default_context(cafile=cafile) if cafile else True
        self._inner = httpx.AsyncHTTPTransport(verify=verify, trust_env=False)
        self.refusal = ""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the first address that answers.

        Raises:
            httpx.ConnectError: Refused, or nobody answers.
        """
        host = request.url.host
        failure = httpx.ConnectError(f"{host} has no address.", request=request)
        for address in await self._addresses(request):
            dialled = httpx.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=[(name, value) for name, value in request.headers.items() if name.lower() in _SENT],
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": host},
            )
            try:
                return await self._inner.handle_async_request(dialled)
            except httpx.ConnectError as error:
                failure = error
        raise failure

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()

    async def _addresses(self, request: httpx.Request) -> list[str]:
        host = request.url.host
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, request.url.port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpx.ConnectError(f"{host} is not known: {error}", request=request) from error
        addresses = list(dict.fromkeys(str(item[4][0]) for item in found))
        kind = standing(host_of(str(request.url)))
        self.refusal = next((why for address in addresses if (why := address_problem(kind, address))), "")
        if self.refusal:
            raise httpx.ConnectError(self.refusal, request=request)
        return addresses


def checked_client(transport: CheckedTransport) -> httpx.AsyncClient:
    """Return an HTTP client that follows no redirect and reads no proxy from the environment."""
    return httpx.AsyncClient(transport=transport, follow_redirects=False, trust_env=False)
