"""From a figure to the answers behind a mark, and filters that survive a reload, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from karenina_core.demo import demo_benchmark, demo_config
from karenina_core.runs import Runner, Store, wanted
from tests.browser.conftest import Server, settled

pytestmark = pytest.mark.browser


@pytest.fixture
def run_id(server: Server) -> str:
    """Store a finished run of the demo where the server finds it."""
    config = demo_config().model_copy(update={"embedding_check_enabled": False})
    with Store.open(server.database) as store, Runner(store) as runner:
        run_id = store.create_run(wanted(demo_benchmark(), config), "Demo")
        runner.start(run_id)
        runner.wait(run_id, 120)
    return run_id


def test_a_click_on_a_square_opens_the_answers_behind_it(page: Page, server: Server, run_id: str) -> None:
    page.goto(f"{server.url}/results?run={run_id}&view=By+field")
    settled(page)
    wrong = page.locator(".scatterlayer .trace", has=page.get_by_text("✗", exact=True)).locator(".point").first
    wrong.scroll_into_view_if_needed()
    box = wrong.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_text("1 answer behind this mark")).to_be_visible()
    # One answer alone opens at once.
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_text("5 · Verdict")).to_be_visible()
    drawer.get_by_role("button", name="Open the answer, to edit and review it").click()
    expect(page).to_have_url(re.compile(r"/answer\?.*row="))
    expect(page.get_by_role("heading", level=1)).to_have_text("Answer")


def test_filters_and_quick_views_survive_a_reload(page: Page, server: Server, run_id: str) -> None:
    page.goto(f"{server.url}/results?run={run_id}")
    settled(page)
    page.get_by_text(re.compile(r"^Failures \d+$")).click()
    expect(page).to_have_url(re.compile("show=failures"))
    page.get_by_role("searchbox", name="Search in questions").fill("gene")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("search=gene"))
    settled(page)
    shown = page.get_by_text(re.compile(r"of 42 shown")).inner_text()
    page.reload()
    settled(page)
    expect(page.get_by_text(shown)).to_be_visible()
    expect(page.get_by_role("searchbox", name="Search in questions")).to_have_value("gene")


def test_a_ticked_row_opens_its_answer(page: Page, server: Server, run_id: str) -> None:
    page.goto(f"{server.url}/results?run={run_id}&show=failures")
    settled(page)
    table = page.get_by_role("region", name="All evaluations of this run")
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 16, box["y"] + 52)
    expect(page.get_by_role("dialog").get_by_text("5 · Verdict")).to_be_visible()
