"""From a red square to a mended rule: the shortest way from a failure to a verdict that is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from karenina_core.runs import Store
from tests.browser.conftest import Demo, Server, choose, settled

pytestmark = pytest.mark.browser

FIND = """([plot, field, model]) => [...plot.querySelectorAll('.scatterlayer .trace')].flatMap(
    drawn => [...drawn.querySelectorAll('.point')].filter(point => {
        const place = (drawn.__data__[0].trace.customdata || [])[point.__data__.i];
        return place && place[0] === model && place[4] === field;
    })
)[0]"""


def click_square(page: Page, field: str, model: str) -> None:
    """Click the square of a field and a model, in the figure that is shown."""
    plot = page.locator(".js-plotly-plot").first
    expect(plot).to_be_visible()
    found = page.evaluate_handle(FIND, [plot.element_handle(), field, model]).as_element()
    assert found is not None
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def test_a_red_square_leads_to_a_rule_that_is_mended_and_verified_again(page: Page, server: Server, demo: Demo) -> None:
    page.goto(f"{server.url}/results?run={demo.run_id}")
    settled(page)
    page.get_by_text("By field", exact=True).click()
    settled(page)
    click_square(page, "target", "demo/thorough")
    page.get_by_role("button", name="Open the answer, to edit and review it").click()
    expect(page.get_by_role("heading", name="What is the approved drug target of Venetoclax?")).to_be_visible()
    settled(page)

    page.get_by_text("Edit a rule, which takes no call").click()
    choose(page, "Normalisers, in their order", "Drop punctuation")
    expect(page.get_by_text("What if — not saved")).to_be_visible()
    settled(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Save this rule in the benchmark").click()

    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("64 % → 69 %, 2 verdicts flip")).to_be_visible()
    dialog.get_by_role("button", name="Save as a new revision").click()
    expect(page.get_by_text("Revision 2 of 2")).to_be_visible()
    settled(page)
    with Store.open(server.database) as store:
        assert [(run.passed, run.parent_run) for run in store.runs.all()] == [(27, demo.run_id), (25, None)]


def press_key(page: Page, key: str) -> None:
    """Press a key once the page rests: a key that meets a page at work is lost."""
    settled(page)
    page.keyboard.press(key)


def test_keys_walk_and_judge(page: Page, server: Server, demo: Demo) -> None:
    page.goto(f"{server.url}/answer?run={demo.run_id}")
    # The whole page is there, and with it the keys of its buttons.
    expect(page.get_by_text("What the machine did")).to_be_visible()
    expect(page.get_by_role("button", name="Next")).to_be_visible()
    press_key(page, "j")
    expect(page.get_by_text("Evaluation 2 of 42")).to_be_visible()
    press_key(page, "k")
    expect(page.get_by_text("Evaluation 1 of 42")).to_be_visible()
    press_key(page, "3")
    expect(page.get_by_text("disagrees with the verdict: the rule is too strict")).to_be_visible()
    with Store.open(server.database) as store:
        assert [review.cause for review in store.annotations.all(demo.run_id)] == ["rule_too_strict"]


def test_an_answer_that_a_rule_would_mend_opens_among_its_like(page: Page, server: Server, demo: Demo) -> None:
    page.goto(f"{server.url}/answer?run={demo.run_id}&look=rules")
    settled(page)
    page.get_by_role("button", name="See one").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Open the answer, to edit and review it").click()
    expect(page.get_by_text("2 of 42 evaluations")).to_be_visible()
    expect(page.get_by_text("The rule is probably too strict. It would pass if one were to")).to_be_visible()


def test_the_notebook_of_an_answer_is_downloaded(page: Page, server: Server, demo: Demo, tmp_path: Path) -> None:
    page.goto(f"{server.url}/answer?run={demo.run_id}")
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export as notebook").click()
    assert download.value.suggested_filename.endswith(".ipynb")
    assert '"nbformat": 4' in Path(download.value.path()).read_text(encoding="utf-8")
