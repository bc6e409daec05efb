"""Writing a template by form and by source in a real browser: each follows the other, and a fix is one click."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from karenina_core.benchmark import Benchmark
from karenina_core.runs import Store
from karenina_core.templates import read_template
from tests.app.samples import small_benchmark
from tests.browser.conftest import Server, press, settled

pytestmark = pytest.mark.browser


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


def test_form_and_source_follow_each_other_and_are_saved(page: Page, server: Server) -> None:
    store = Store.open(server.database)
    benchmark_id = store.benchmarks.save(small_benchmark())
    page.goto(f"{server.url}/questions")
    settled(page)
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
    store.close()
    assert saved.startswith("# By hand.\n")
    assert [item.name for item in read_template(saved).spec.fields] == ["target", "first_use"]


def in_a_hurry(page: Page, server: Server, benchmark: Benchmark, **typed: str) -> Locator:
    """Add a field to the first template, fill its boxes without waiting for the page, and return its source."""
    with Store.open(server.database) as store:
        store.benchmarks.save(benchmark)
    page.goto(f"{server.url}/questions")
    settled(page)
    show(page, "Template")
    press(page, "Add field")
    expect(page.get_by_text("What you typed is not in the source yet.")).to_be_visible()
    for label, text in typed.items():
        box(page, label).fill(text)
        box(page, label).press("Tab")
    expect(page.get_by_text("What you typed is not in the source yet.")).to_have_count(0)
    show(page, "Source")
    return box(page, "Template source")


def test_a_field_is_filled_in_faster_than_the_page_follows(page: Page, server: Server) -> None:
    typed = {"Name": "indication", "What the judge looks for": "The disease", "Ground truth": "CLL"}
    source = in_a_hurry(page, server, small_benchmark(), **typed)
    expect(source).to_have_value(_holding("indication: str = VerifiedField(", "The disease", 'ground_truth="CLL"'))


def test_a_first_field_is_filled_in_faster_than_the_page_follows(page: Page, server: Server) -> None:
    benchmark = Benchmark.create("Empty")
    benchmark.add_question("How many chromosome pairs do humans have?", "23")
    typed = {"What the judge looks for": "The number of pairs", "Name": "pairs"}
    source = in_a_hurry(page, server, benchmark, **typed)
    expect(source).to_have_value(_holding("pairs: int = VerifiedField(", "The number of pairs", "ground_truth=23"))


def _holding(*parts: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in parts), re.DOTALL)
