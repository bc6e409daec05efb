"""Typing on the Build pages and going elsewhere, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from karenina_core.runs import Store
from tests.app.samples import small_benchmark
from tests.browser.conftest import Server, settled

pytestmark = pytest.mark.browser


def notes(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Notes", exact=True)


def go(page: Page, title: str) -> None:
    """Press a link of the sidebar, as long as a hand does."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title).click(delay=120)
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    settled(page)


def test_what_is_typed_survives_a_page_switch_straight_from_the_field(page: Page, server: Server) -> None:
    store = Store.open(server.database)
    store.save_benchmark(small_benchmark())
    store.close()
    page.goto(f"{server.url}/questions")
    settled(page)
    for word in ("one ", "two ", "three "):
        notes(page).press("End")
        notes(page).press_sequentially(word)
        go(page, "Benchmarks")
        go(page, "Questions")
    expect(notes(page)).to_have_value("one two three ")
    expect(page.get_by_role("textbox", name="Question", exact=True)).to_have_value("What is the target of venetoclax?")
    expect(page.get_by_role("textbox", name="Reference answer", exact=True)).to_have_value("BCL2")
