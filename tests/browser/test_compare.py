"""Comparing models and judges by clicking, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from karenina_core.runs import Store, wanted
from tests.browser.conftest import Server, settled
from tests.runs.fakes import full_result, small_benchmark, small_config

pytestmark = pytest.mark.browser

HEADER = ROW = 35


def store_run(server: Server) -> str:
    """Store three models and two judges: the second model is better, the judges differ on the first model."""
    store = Store.open(server.database)
    run_id = store.runs.create(wanted(small_benchmark(8), small_config(3, 2)), "Clicks")
    results = []
    for model, rights in ((1, 0), (2, 8), (3, 7)):
        for place in range(8):
            for judge in (1, 2):
                result = full_result(
                    f"q{place + 1}",
                    f"Model {model} says so.",
                    answering_model=f"lab/model-{model}",
                    parsing_model=f"lab/judge-{judge}",
                )
                right = place < rights or (judge == 2 and model == 1 and place == 7)
                result.verdict = "pass" if right else "fail"
                results.append(result)
    store.results.save(run_id, results)
    store.close()
    return run_id


def click_row(page: Page, name: str, row: int) -> None:
    """Click the box that selects a row of a table."""
    table = page.get_by_role("region", name=name)
    expect(table.get_by_test_id(f"glide-cell-1-{row}")).to_be_attached()
    # Its cells are drawn on a canvas, so they are found by their place, which must be in sight.
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box
    page.mouse.click(box["x"] + 16, box["y"] + HEADER + ROW * (row + 0.5))
    settled(page)


def click_mark(page: Page, mark: Locator) -> None:
    """Click a mark of a chart."""
    mark.wait_for()
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.up()
    settled(page)


def test_clicks_lead_from_a_difference_to_the_answers_behind_it(page: Page, server: Server) -> None:
    run_id = store_run(server)
    page.goto(f"{server.url}/compare?runs={run_id}")
    settled(page)
    expect(page.get_by_text("lab/model-2 is better than lab/model-1")).to_be_visible()
    click_mark(page, page.locator(".js-plotly-plot").first.locator(".scatterlayer .point").nth(1))
    expect(
        page.locator(".st-key-compare_sentence").get_by_text("lab/model-3 is better than lab/model-1")
    ).to_be_visible()
    page.get_by_role("radio", name="Questions").click()
    settled(page)
    click_row(page, "Questions compared", 0)
    expect(page.get_by_text("Bold on a coloured ground")).to_be_visible()
    link = page.url
    page.get_by_role("button", name="Open this answer").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.goto(link)
    settled(page)
    expect(page.get_by_text("Bold on a coloured ground")).to_be_visible()


def test_a_square_of_the_judges_leads_to_the_answers_on_which_they_differ(page: Page, server: Server) -> None:
    run_id = store_run(server)
    page.goto(f"{server.url}/compare?runs={run_id}&compare=Judges")
    settled(page)
    click_mark(page, page.locator(".js-plotly-plot .scatterlayer .point").first)
    expect(page.get_by_text("1 answer on which they differ")).to_be_visible()
    click_row(page, "The answers behind", 0)
    page.get_by_role("button", name="Open it as judged by lab/judge-2").click()
    expect(page.get_by_role("dialog")).to_be_visible()
