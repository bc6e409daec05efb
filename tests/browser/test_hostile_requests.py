"""Requests no browser makes, and pages of other sites: sent to the real server, byte by byte."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import Server

UPGRADE = "Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
CLIMBING = [
    "/../app.py", "/..%2f..%2f..%2fetc%2fpasswd", "/static/../../../../etc/passwd", "/static/..%2f..%2fpyproject.toml",
    "/app/static/../app.py", "/app/static/pyproject.toml", "/media/../app.py", "/component/../../etc/passwd",
    "/component/streamlit.x/..%2f..%2fetc/passwd", "/_stcore/bidi-components/x/../../../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/.streamlit/config.toml", "/pages/home.py", "/.git/config",
    "/settings/../../app.py", "/\\..\\..\\etc\\passwd", "/static/%00", "/karenina_core/redact.py",
]  # fmt: skip
OF_FILES = (b"root:x:", b"import streamlit", b"[server]", b"[project]", b"[core]", b'"""')


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield one server for all requests."""
    server = Server(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    server.kill()


def sent(server: Server, first: str, headers: str = "", body: str = "", host: str | None = None) -> bytes:
    """Return what the server answers to a request, up to a limit."""
    place = urlsplit(server.url)
    text = f"{first} HTTP/1.1\r\nHost: {host or place.netloc}\r\n{headers}Content-Length: {len(body)}\r\n\r\n{body}"
    with socket.create_connection(("127.0.0.1", place.port or 0), 10) as connection:
        connection.sendall(text.encode("latin-1"))
        connection.settimeout(10)
        answer = b""
        while len(answer) < 20_000 and (part := connection.recv(65_536)):
            answer += part
            if b" 101 " in answer[:20]:
                break
    return answer


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize("path", CLIMBING)
def test_no_address_leads_to_a_file(path: str, running: Server) -> None:
    answer = sent(running, f"GET {path}", "Connection: close\r\n")
    assert status(answer) in (200, 301, 400, 403, 404)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert status(answer) != 200 or b"text/html" in head.lower()
    assert not [mark for mark in OF_FILES if mark in body]


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
@pytest.mark.parametrize(
    "headers",
    ["", "Origin: http://evil.example\r\n", "X-Xsrftoken: x\r\nCookie: _streamlit_xsrf=x\r\n"],
    ids=["nothing", "foreign origin", "a token of one's own"],
)
def test_nothing_is_uploaded_or_deleted_without_a_session(method: str, headers: str, running: Server) -> None:
    path = "/_stcore/upload_file/6f1e9c1a-0000-4000-8000-000000000000/x"
    assert status(sent(running, f"{method} {path}", f"Connection: close\r\n{headers}", "data")) in (400, 403, 404, 405)


@pytest.mark.parametrize(
    ("origin", "host", "expected"),
    [
        ("http://evil.example", None, 403),
        ("null", None, 403),
        ("http://localhost.evil.example", None, 403),
        ("http://evil.example", "evil.example", 403),
        ("same", None, 101),
    ],
)
def test_a_page_of_another_site_gets_no_session(origin: str, host: str | None, expected: int, running: Server) -> None:
    headers = f"Connection: Upgrade\r\nOrigin: {running.url if origin == 'same' else origin}\r\n{UPGRADE}"
    assert status(sent(running, "GET /_stcore/stream", headers, host=host)) == expected
