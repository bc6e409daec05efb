"""Requests that no browser makes, pages of other sites, and hostile files: the real server refuses and explains."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, settled, upload, visit

UPGRADE = "Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
CLIMBING = [
    "/../app.py", "/..%2f..%2f..%2fetc%2fpasswd", "/static/../../../../etc/passwd", "/static/..%2f..%2fpyproject.toml",
    "/app/static/../app.py", "/app/static/pyproject.toml", "/media/../app.py", "/component/../../etc/passwd",
    "/component/streamlit.x/..%2f..%2fetc/passwd", "/_stcore/bidi-components/x/../../../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/.streamlit/config.toml", "/pages/home.py", "/.git/config",
    "/settings/../../app.py", "/\\..\\..\\etc\\passwd", "/static/%00", "/karenina_core/redact.py",
]  # fmt: skip
OF_FILES = (b"root:x:", b"import streamlit", b"[server]", b"[project]", b"[core]", b'"""')


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
def test_no_address_leads_to_a_file(path: str, one_server: Server) -> None:
    answer = sent(one_server, f"GET {path}", "Connection: close\r\n")
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
def test_nothing_is_uploaded_or_deleted_without_a_session(method: str, headers: str, one_server: Server) -> None:
    path = "/_stcore/upload_file/6f1e9c1a-0000-4000-8000-000000000000/x"
    assert status(sent(one_server, f"{method} {path}", f"Connection: close\r\n{headers}", "data")) in (
        400,
        403,
        404,
        405,
    )


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
def test_a_page_of_another_site_gets_no_session(
    origin: str, host: str | None, expected: int, one_server: Server
) -> None:
    headers = f"Connection: Upgrade\r\nOrigin: {one_server.url if origin == 'same' else origin}\r\n{UPGRADE}"
    assert status(sent(one_server, "GET /_stcore/stream", headers, host=host)) == expected


MARKUP = "<script>alert(1)</script> ![x](http://127.0.0.1:9/pixel.png) \u202eevil"
ADDRESSES = "https://a.evil.example/x?y=1 www.b.evil.example and c.d+e@evil.example"
OWN_CODE = "class Answer(BaseAnswer):\n    a: str = Field(default=__import__('os').system('true'))\n"
ENDLESS = """
class Answer(BaseAnswer):
    a: str = Field(description="d")

    def verify(self):
        while True:
            pass
"""


def benchmark(template: str = "", text: str = "Question?", **root: Any) -> bytes:
    """Return a small benchmark file with one question."""
    item = {
        "@type": "Question",
        "text": text,
        "acceptedAnswer": {"@type": "Answer", "text": "Answer"},
        "hasPart": {"@type": "SoftwareSourceCode", "name": "t", "programmingLanguage": "Python", "text": template},
        "additionalProperty": [{"@type": "PropertyValue", "name": "finished", "value": True}],
    }
    feed = {
        "@context": {},
        "@type": "DataFeed",
        "name": "Guest",
        "dateCreated": "2026-01-01",
        "dateModified": "2026-01-01",
        "dataFeedElement": [{"@type": "DataFeedItem", "@id": "q", "item": item}],
    }
    return json.dumps({**feed, **root}).encode()


REFUSED = {
    "empty": b"",
    "cut": b'{"name": ',
    "brackets": b"[" * 2_000_000,
    "nan": b'{"name": NaN}',
    "surrogate": b'{"name": "\\ud800"}',
    "latin": '{"name": "é"}'.encode("latin-1"),
    "utf16": '{"name": "x"}'.encode("utf-16"),
    "zip": b"PK\x03\x04" + b"\0" * 64,
    "long": json.dumps({"name": "x" * 300_000}).encode(),
    "digits": b'{"name": ' + b"9" * 1_000_000 + b"}",
    "list": b"[1, 2, 3]",
    "image": b"\x89PNG\r\n\x1a\n",
}
OPENED = {
    "code": benchmark(OWN_CODE),
    "loop": benchmark(ENDLESS),
    "minus": benchmark("-" * 60_000),
    "markup": benchmark(text=MARKUP, name=MARKUP),
    "pickle": benchmark(
        rating=[
            {
                "@type": "Rating",
                "name": "C",
                "bestRating": 1,
                "worstRating": 0,
                "additionalType": "karenina:GlobalCallableTrait",
                "additionalProperty": [{"@type": "PropertyValue", "name": "callable_code", "value": "gASVBAAA"}],
            }
        ]
    ),
}


@pytest.mark.browser
def test_hostile_files_are_explained_and_the_page_stays_up(page: Page, server: Server, tmp_path: Path) -> None:
    outside: list[str] = []
    page.on("request", lambda request: outside.append(request.url) if "127.0.0.1:9" in request.url else None)
    for name, content in REFUSED.items():
        open_file(page, server, tmp_path / f"{name}.jsonld", content)
        expect(page.get_by_role("alert").first, name).to_be_visible()
        settled(page)
    for name, content in OPENED.items():
        open_file(page, server, tmp_path / f"{name}.jsonld", content)
        expect(page.get_by_role("button", name="Add to workspace"), name).to_be_visible()
        settled(page)
    page.get_by_role("button", name="Add to workspace").click()
    settled(page)
    for place in ("questions", "rubrics", "configure"):
        page.goto(f"{server.url}/{place}")
        settled(page)
    assert not outside


@pytest.mark.browser
def test_addresses_in_files_of_strangers_are_text_and_no_links(page: Page, server: Server, tmp_path: Path) -> None:
    open_file(page, server, tmp_path / "addresses.jsonld", benchmark(text=ADDRESSES, name=ADDRESSES))
    expect(page.get_by_text(ADDRESSES).filter(visible=True).first).to_be_visible()
    page.get_by_role("button", name="Add to workspace").click()
    settled(page)
    for place in ("benchmarks", "questions"):
        page.goto(f"{server.url}/{place}")
        settled(page)
        # A grid also keeps its cells as text that nobody sees.
        expect(page.get_by_text(ADDRESSES).filter(visible=True).first, place).to_be_visible()
        expect(page.locator("a[href*='evil.example']"), place).to_have_count(0)


def open_file(page: Page, server: Server, path: Path, content: bytes) -> None:
    """Choose a file on a fresh view of the page."""
    path.write_bytes(content)
    visit(page, server, "benchmarks")
    upload(page, path)
