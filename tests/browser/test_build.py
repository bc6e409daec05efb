"""The Build pages in a real browser: benchmarks on narrow screens, tables that come in, typing, templates, traits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from karenina_core.benchmark import Benchmark
from karenina_core.demo import demo_benchmark
from karenina_core.runs import Store
from karenina_core.templates import read_template
from tests.app.samples import small_benchmark
from tests.browser.conftest import Demo, Server, click_at, press, settled, upload, visit

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_the_list_fits_a_screen_of_any_width(page: Page, server: Server, store: Store, width: int) -> None:
    store.benchmarks.save(demo_benchmark())
    store.benchmarks.save(Benchmark.create(name="Drug targets of approved oncology compounds, curated by hand"))
    page.set_viewport_size({"width": width, "height": 844})
    visit(page, server, "benchmarks")
    # The grid draws on a canvas; what it would scroll through is an element beside it.
    grid = page.get_by_role("region", name="Benchmarks").locator(".dvn-scroller")
    seen, whole = grid.evaluate("element => [element.clientWidth, element.scrollWidth]")
    assert 0 < whole <= seen


def test_a_typed_value_saves_a_bad_row(page: Page, server: Server, tmp_path: Path) -> None:
    path = tmp_path / "lab.csv"
    path.write_text("Question,Answer\nWhat?,BCL2\nWhy?,\n", encoding="utf-8")
    visit(page, server, "benchmarks")
    upload(page, path)
    expect(page.get_by_text("1 of 2 rows can be imported")).to_be_visible()
    settled(page)
    grid = page.get_by_role("region", name="Findings")
    expect(grid.get_by_test_id("glide-cell-2-0")).to_have_text("There is no reference answer.")
    # Header and rows are 35 pixels high; the column of values begins 640 pixels from the left.
    click_at(page, grid, 700, 52, clicks=2)
    editor = page.locator("#portal textarea, #portal input")
    editor.fill("Because")
    editor.press("Enter")
    expect(page.get_by_text("2 of 2 rows can be imported")).to_be_visible()
    page.get_by_role("button", name="Import all 2").click()
    settled(page)
    expect(page.get_by_text("2 questions · 0 finished")).to_be_visible()
    press(page, "Open questions")
    expect(page.get_by_text("2 of 2 shown").first).to_be_visible()


def notes(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Notes", exact=True)


def go(page: Page, title: str) -> None:
    """Press a link of the sidebar, as a hand does."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title).click(delay=120)
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    settled(page)


def test_what_is_typed_survives_a_page_switch_straight_from_the_field(page: Page, server: Server, store: Store) -> None:
    store.benchmarks.save(small_benchmark())
    visit(page, server, "questions")
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
    click_at(page, grid(page), sum(WIDTHS[:column]) + WIDTHS[column] / 2, 35 * (row + 1) + 17, clicks=2)
    page.locator("textarea.gdg-input").fill(text)
    page.keyboard.press("Enter")
    expect(cell(page, column, row)).to_have_text(text)
    settled(page)


def test_many_questions_are_edited_at_once_and_one_is_reverted(page: Page, server: Server, store: Store) -> None:
    stored = store.benchmarks.save(small_benchmark())
    visit(page, server, "questions?edit=grid")
    type_into(page, ANSWER, 0, "Bcl-2")
    expect(page.get_by_text("1 question changed.")).to_be_visible()
    go(page, "Benchmarks")
    go(page, "Questions")
    expect(cell(page, ANSWER, 0)).to_have_text("Bcl-2")
    type_into(page, ANSWER, 1, "twenty-three")
    page.reload()
    settled(page)
    expect(page.get_by_text("2 questions changed.")).to_be_visible()
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


@pytest.mark.parametrize("by_click", [True, False])
def test_what_is_still_being_typed_is_saved_at_once(page: Page, server: Server, store: Store, by_click: bool) -> None:
    stored = store.benchmarks.save(small_benchmark())
    visit(page, server, "questions")
    save = page.locator(".st-key-save_question button:visible").first
    expect(save).to_be_disabled()
    answer = page.get_by_role("textbox", name="Reference answer")
    answer.press("End")
    answer.press_sequentially("!")
    if by_click:
        click_at(page, save, 10, 10)
    else:
        page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert next(iter(store.benchmarks.load(stored))).raw_answer == "BCL2!"


def box(page: Page, label: str) -> Locator:
    return page.get_by_role("textbox", name=label, exact=True)


def write(page: Page, label: str, text: str) -> None:
    """Type into a box and leave it, as a hand does."""
    field = box(page, label)
    field.fill(text)
    field.press("Tab")
    settled(page)


def show(page: Page, tab: str) -> None:
    page.get_by_role("tab", name=tab, exact=True).click()
    settled(page)


def test_form_and_source_follow_each_other_and_are_saved(page: Page, server: Server, store: Store) -> None:
    benchmark_id = store.benchmarks.save(small_benchmark())
    visit(page, server, "questions")
    show(page, "Template")

    press(page, "Add field")
    expect(page.get_by_text("What you typed is not in the source yet.")).to_be_visible()
    write(page, "Name", "indication")
    write(page, "What the judge looks for", "The disease that the response says it was approved for first")
    expect(page.get_by_text("What you typed is not in the source yet.")).to_have_count(0)
    write(page, "Ground truth", "CLL")
    show(page, "Source")
    source = box(page, "Template source")
    expect(source).to_have_value(_holding("indication: str = VerifiedField(", 'ground_truth="CLL"'))

    edited = source.input_value().replace("indication:", "first_use:").replace("named as the target", "BCL2")
    source.fill(f"# By hand.\n{edited}")
    source.press("Control+Enter")
    settled(page)
    show(page, "Form")
    expect(box(page, "Name")).to_have_value("first_use")

    expect(page.get_by_text("The description holds the expected value.")).to_be_visible()
    fix = page.locator("[class*=st-key-template_fix_description_leaks_truth]").get_by_role("button")
    fix.click()
    settled(page)
    expect(page.get_by_text("The description holds the expected value.")).to_have_count(0)

    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Unsaved edits")).to_have_count(0)
    question = store.benchmarks.load(benchmark_id).get_all_questions()[0]
    saved = question.answer_template or ""
    assert saved.startswith("# By hand.\n")
    assert [item.name for item in read_template(saved).spec.fields] == ["target", "first_use"]


def in_a_hurry(page: Page, server: Server, store: Store, benchmark: Benchmark, **typed: str) -> Locator:
    """Add a field to the first template, fill its boxes without waiting for the page, and return its source."""
    store.benchmarks.save(benchmark)
    visit(page, server, "questions")
    show(page, "Template")
    press(page, "Add field")
    expect(page.get_by_text("What you typed is not in the source yet.")).to_be_visible()
    for label, text in typed.items():
        box(page, label).fill(text)
        box(page, label).press("Tab")
    expect(page.get_by_text("What you typed is not in the source yet.")).to_have_count(0)
    show(page, "Source")
    return box(page, "Template source")


@pytest.mark.parametrize("first", [False, True], ids=["another field", "the first field"])
def test_a_field_is_filled_in_faster_than_the_page_follows(
    page: Page, server: Server, store: Store, first: bool
) -> None:
    typed = {"Name": "indication", "What the judge looks for": "The disease", "Ground truth": "CLL"}
    expected = ("indication: str = VerifiedField(", "The disease", 'ground_truth="CLL"')
    benchmark = small_benchmark()
    if first:
        benchmark = Benchmark.create("Empty")
        benchmark.add_question("How many chromosome pairs do humans have?", "23")
        typed = {"What the judge looks for": "The number of pairs", "Name": "pairs"}
        expected = ("pairs: int = VerifiedField(", "The number of pairs", "ground_truth=23")
    expect(in_a_hurry(page, server, store, benchmark, **typed)).to_have_value(_holding(*expected))


def _holding(*parts: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in parts), re.DOTALL)


def test_a_new_pattern_is_tried_live_and_saved(page: Page, server: Server, store: Store, demo: Demo) -> None:
    visit(page, server, f"rubrics?benchmark={demo.benchmark_id}")
    page.get_by_role("button", name="Add trait").click()
    settled(page)
    page.get_by_text("Regular expression", exact=True).click()
    settled(page)
    page.get_by_role("textbox", name="Name", exact=True).fill("Names BCL2")
    settled(page)
    pattern = page.get_by_role("textbox", name="Regular expression")
    pattern.fill(r"BCL-?2")
    pattern.press("Enter")
    expect(page.get_by_text("the trait holds for 2.")).to_be_visible()
    page.get_by_text("Match upper and lower case exactly").click()
    expect(page.get_by_text("the trait holds for 3.")).to_be_visible()
    typed = page.get_by_role("textbox", name="Try it on a text")
    typed.fill("It blocks bcl-2.")
    typed.press("Control+Enter")
    expect(page.get_by_text("the pattern is found once")).to_be_visible()
    settled(page)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("5 traits")).to_be_visible()
    settled(page)
    rubric = store.benchmarks.load(demo.benchmark_id).get_global_rubric()
    assert rubric is not None
    saved = rubric.regex_traits[-1]
    assert (saved.name, saved.pattern, saved.case_sensitive) == ("Names BCL2", "BCL-?2", False)
