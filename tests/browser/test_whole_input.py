"""Typing and pressing faster than a busy server follows, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, settled

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of an app that takes its time."""
    server = Server(tmp_path_factory.mktemp("busy"), "tests/browser/busy_app.py")
    server.start()
    yield server.url
    server.kill()


def write(page: Page, label: str, text: str) -> None:
    page.get_by_role("textbox", name=label, exact=True).fill(text)
    page.keyboard.press("Tab")


def test_every_change_and_every_press_counts_once(page: Page, busy: str) -> None:
    page.goto(busy)
    expect(page.get_by_text("All drawn")).to_be_visible()
    write(page, "First", "one")
    write(page, "Second", "two")
    page.get_by_role("button", name="Press").click()
    write(page, "Last words", "three")
    settled(page)
    expect(page.get_by_text("Taken:")).to_have_text("Taken: first one, second two, press True")
    expect(page.get_by_role("textbox", name="Last words")).to_have_value("three")


@pytest.mark.parametrize("busy_then", [False, True])
def test_what_was_typed_goes_along_with_a_change_of_the_page(page: Page, busy: str, busy_then: bool) -> None:
    page.goto(busy)
    expect(page.get_by_text("All drawn")).to_be_visible()
    settled(page)
    if busy_then:
        write(page, "First", "one")
    page.get_by_role("textbox", name="Last words").fill("not lost")
    for _ in range(5):  # a press that a busy browser takes for none is pressed again
        page.get_by_test_id("stSidebarNav").get_by_role("link", name="Elsewhere").click(delay=50)
        settled(page)
        if "elsewhere" in page.url:
            break
    expect(page.get_by_text("Noted:")).to_have_text("Noted: not lost")
    expect(page.get_by_text("Taken:")).to_have_text("Taken: first one" if busy_then else "Taken:")
