"""Every hostile file through a real browser: the page stays up and explains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, settled

pytestmark = pytest.mark.browser

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


def test_hostile_files_are_explained_and_the_page_stays_up(page: Page, server: Server, tmp_path: Path) -> None:
    outside: list[str] = []
    page.on("request", lambda request: outside.append(request.url) if "127.0.0.1:9" in request.url else None)
    for name, content in REFUSED.items():
        upload(page, server, tmp_path / f"{name}.jsonld", content)
        expect(page.get_by_role("alert").first, name).to_be_visible()
        settled(page)
    for name, content in OPENED.items():
        upload(page, server, tmp_path / f"{name}.jsonld", content)
        expect(page.get_by_role("button", name="Add to workspace"), name).to_be_visible()
        settled(page)
    page.get_by_role("button", name="Add to workspace").click()
    settled(page)
    for place in ("questions", "rubrics", "configure"):
        page.goto(f"{server.url}/{place}")
        settled(page)
    assert not outside


def test_addresses_in_files_of_strangers_are_text_and_no_links(page: Page, server: Server, tmp_path: Path) -> None:
    upload(page, server, tmp_path / "addresses.jsonld", benchmark(text=ADDRESSES, name=ADDRESSES))
    expect(page.get_by_text(ADDRESSES).filter(visible=True).first).to_be_visible()
    page.get_by_role("button", name="Add to workspace").click()
    settled(page)
    for place in ("benchmarks", "questions"):
        page.goto(f"{server.url}/{place}")
        settled(page)
        # A grid also keeps its cells as text that nobody sees.
        expect(page.get_by_text(ADDRESSES).filter(visible=True).first, place).to_be_visible()
        expect(page.locator("a[href*='evil.example']"), place).to_have_count(0)


def upload(page: Page, server: Server, path: Path, content: bytes) -> None:
    """Choose a file on a fresh view of the page."""
    path.write_bytes(content)
    page.goto(f"{server.url}/benchmarks")
    settled(page)
    page.locator("input[type=file]").first.set_input_files(path)
