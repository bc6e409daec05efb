"""From a figure to the answers behind a mark, and filters that survive a reload, in a real browser."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from karenina_core.runs import Store
from tests.browser.conftest import Demo, Server, settled
from tests.performance.large_run import make_run

pytestmark = pytest.mark.browser


def test_a_click_on_a_square_opens_the_answers_behind_it(page: Page, server: Server, demo: Demo) -> None:
    page.goto(f"{server.url}/results?run={demo.run_id}&view=By+field")
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


def test_filters_and_quick_views_survive_a_reload(page: Page, server: Server, demo: Demo) -> None:
    page.goto(f"{server.url}/results?run={demo.run_id}")
    settled(page)
    page.get_by_text(re.compile(r"^Failures \d+$")).click()
    expect(page).to_have_url(re.compile("show=failures"))
    page.get_by_role("searchbox", name="Search in questions").fill("gene")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("search=gene"))
    settled(page)
    shown = page.get_by_text(re.compile(r"of 42 evaluations shown")).inner_text()
    page.reload()
    settled(page)
    expect(page.get_by_text(shown)).to_be_visible()
    expect(page.get_by_role("searchbox", name="Search in questions")).to_have_value("gene")


def test_a_ticked_row_opens_its_answer_and_the_list_it_stands_in(page: Page, server: Server, demo: Demo) -> None:
    page.goto(f"{server.url}/results?run={demo.run_id}&show=failures")
    settled(page)
    table = page.get_by_role("region", name="All evaluations of this run")
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 16, box["y"] + 87)
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_text("5 · Verdict")).to_be_visible()
    drawer.get_by_role("button", name="Open the answer, to edit and review it").click()
    # From there one walks through the failures, in the order of the list: this is the second of them.
    expect(page.get_by_text(re.compile(r"^Evaluation 2 of \d+$"))).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_text(re.compile(r"^Evaluation 1 of \d+$"))).to_be_visible()
    settled(page)
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()


def test_squares_of_many_models_keep_their_distance_on_a_narrow_screen(page: Page, server: Server) -> None:
    with Store.open(server.database) as store:
        run_id = make_run(store, 200, "Ten models")
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{server.url}/results?run={run_id}&view=By+field")
    settled(page)
    squares = page.locator(".scatterlayer .point")
    expect(squares.first).to_be_visible()
    boxes = [box for box in (square.bounding_box() for square in squares.all()[:20]) if box]
    places = sorted({round(box["x"]) for box in boxes})
    assert min(after - before for before, after in pairwise(places)) >= boxes[0]["width"]


def test_the_next_page_begins_at_its_top(page: Page, server: Server, demo: Demo) -> None:
    page.goto(f"{server.url}/results?run={demo.run_id}")
    settled(page)
    page.get_by_text("What changed since another run").scroll_into_view_if_needed()
    expect(page.get_by_role("heading", name="Results", exact=True)).not_to_be_in_viewport()
    page.get_by_role("link", name="Answer", exact=True).click()
    settled(page)
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_in_viewport()
