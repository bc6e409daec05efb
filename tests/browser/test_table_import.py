"""A spreadsheet with two bad rows, in a real browser: mapped, reported, imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.benchmark.tables.files import workbook
from tests.browser.conftest import Server, choose, settled

pytestmark = pytest.mark.browser

HEADER = ("Item text", "Truth", "Tags")
ROWS = [("What is the target of venetoclax?", "BCL2", "drugs; oncology"), ("How many lungs?", 2, "anatomy"),
        ("Which enzyme does aspirin inhibit?", None, "drugs"), ("How many lungs?", 2, "anatomy"),
        ("How many chromosome pairs? ", 23, "genetics")]  # fmt: skip


def test_a_spreadsheet_is_mapped_its_bad_rows_reported_and_the_rest_imported(
    page: Page, server: Server, tmp_path: Path
) -> None:
    path = tmp_path / "lab questions.xlsx"
    path.write_bytes(workbook([HEADER, *ROWS]))
    page.goto(f"{server.url}/benchmarks")
    settled(page)
    page.locator("input[type=file]").first.set_input_files(path)
    expect(page.get_by_text("an Excel workbook")).to_be_visible()
    settled(page)
    choose(page, "Question", "Item text")
    choose(page, "Reference answer", "Truth")
    expect(page.get_by_text("3 of 5 rows can be imported")).to_be_visible()
    cells = page.get_by_role("region", name="Findings").locator("[data-testid^=glide-cell-2-]")
    expect(cells.filter(has_text="There is no reference answer.")).to_have_count(1)
    expect(cells.filter(has_text="The same question stands in row 3.")).to_have_count(1)
    expect(cells.filter(has_text="There are blanks")).to_have_count(1)
    page.get_by_role("button", name="Import the good 3 of 5").click()
    settled(page)
    expect(page.get_by_text("3 questions · 0 finished")).to_be_visible()
    page.get_by_role("button", name="Open questions").click()
    settled(page)
    expect(page.get_by_text("3 of 3 shown").first).to_be_visible()


def test_a_typed_value_saves_a_bad_row(page: Page, server: Server, tmp_path: Path) -> None:
    path = tmp_path / "lab.csv"
    path.write_text("Question,Answer\nWhat?,BCL2\nWhy?,\n", encoding="utf-8")
    page.goto(f"{server.url}/benchmarks")
    settled(page)
    page.locator("input[type=file]").first.set_input_files(path)
    expect(page.get_by_text("1 of 2 rows can be imported")).to_be_visible()
    settled(page)
    grid = page.get_by_role("region", name="Findings")
    expect(grid.get_by_test_id("glide-cell-2-0")).to_have_text("There is no reference answer.")
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    assert box is not None
    # Header and rows are 35 pixels high; the column of values begins 640 pixels from the left.
    page.mouse.dblclick(box["x"] + 700, box["y"] + 52)
    editor = page.locator("#portal textarea, #portal input")
    editor.fill("Because")
    editor.press("Enter")
    expect(page.get_by_text("2 of 2 rows can be imported")).to_be_visible()
    page.get_by_role("button", name="Import all 2").click()
    settled(page)
    expect(page.get_by_text("2 questions · 0 finished")).to_be_visible()
