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
    """Press a link of the sidebar, as a hand does."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title).click(delay=120)
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    settled(page)


def test_what_is_typed_survives_a_page_switch_straight_from_the_field(page: Page, server: Server) -> None:
    store = Store.open(server.database)
    store.benchmarks.save(small_benchmark())
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


WIDTHS = (80, 80, 95, 300, 160, 150)
ANSWER = 4


def grid(page: Page) -> Locator:
    return page.get_by_role("region", name="Questions to edit")


def cell(page: Page, column: int, row: int) -> Locator:
    return grid(page).get_by_test_id(f"glide-cell-{column}-{row}")


def type_into(page: Page, column: int, row: int, text: str) -> None:
    """Write into a cell as a hand does: open it, type, and press Enter."""
    expect(cell(page, column, row)).to_be_attached()
    # The cells are drawn on a canvas, so they are found by their place.
    box = grid(page).bounding_box()
    assert box is not None
    page.mouse.dblclick(box["x"] + sum(WIDTHS[:column]) + WIDTHS[column] / 2, box["y"] + 35 * (row + 1) + 17)
    page.locator("textarea.gdg-input").fill(text)
    page.keyboard.press("Enter")
    expect(cell(page, column, row)).to_have_text(text)
    settled(page)


def test_many_questions_are_edited_at_once_and_one_goes_back_to_what_it_was(page: Page, server: Server) -> None:
    store = Store.open(server.database)
    stored = store.benchmarks.save(small_benchmark())
    page.goto(f"{server.url}/questions?edit=grid")
    settled(page)
    type_into(page, ANSWER, 0, "Bcl-2")
    expect(page.get_by_text("1 question changes.")).to_be_visible()
    go(page, "Benchmarks")
    go(page, "Questions")
    expect(cell(page, ANSWER, 0)).to_have_text("Bcl-2")
    type_into(page, ANSWER, 1, "twenty-three")
    page.reload()
    settled(page)
    expect(page.get_by_text("2 questions change.")).to_be_visible()
    expect(cell(page, ANSWER, 1)).to_have_text("twenty-three")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved 2 questions")).to_be_visible()
    assert [question.raw_answer for question in store.benchmarks.load(stored)] == ["Bcl-2", "twenty-three"]

    settled(page)
    page.get_by_role("radio", name="One by one").click()
    settled(page)
    page.get_by_role("tab", name="History").click()
    expect(page.get_by_text("1 earlier version")).to_be_visible()
    page.get_by_role("button", name="Go back to before this save").click()
    expect(page.get_by_text("Reverted What is the target of venetoclax?")).to_be_visible()
    settled(page)
    assert [question.raw_answer for question in store.benchmarks.load(stored)] == ["BCL2", "twenty-three"]
    store.close()


@pytest.mark.parametrize("by_click", [True, False])
def test_what_is_still_being_typed_is_saved_at_once(page: Page, server: Server, by_click: bool) -> None:
    store = Store.open(server.database)
    stored = store.benchmarks.save(small_benchmark())
    page.goto(f"{server.url}/questions")
    settled(page)
    save = page.locator(".st-key-save_question button:visible").first
    expect(save).to_be_disabled()
    answer = page.get_by_role("textbox", name="Reference answer")
    answer.press("End")
    answer.press_sequentially("!")
    if by_click:
        box = save.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 10, box["y"] + 10)
    else:
        page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert next(iter(store.benchmarks.load(stored))).raw_answer == "BCL2!"
    store.close()
