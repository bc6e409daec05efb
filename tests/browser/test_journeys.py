"""What a person does, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from karenina_core.demo import demo_benchmark
from pages.components.frame import PAGES
from tests.browser.conftest import LOADING, Demo, Server, settled, upload, visit

pytestmark = pytest.mark.browser


def test_the_demo_goes_from_home_to_an_answer(page: Page, server: Server) -> None:
    outside: list[str] = []
    page.on("request", lambda request: None if _inside(request.url, server) else outside.append(request.url))
    visit(page, server)
    page.get_by_role("button", name="Try the demo").click()
    expect(page.get_by_text("42 of 42 evaluations")).to_be_visible(timeout=LOADING)
    page.get_by_role("button", name="See results").click()
    expect(page.get_by_text(re.compile(r"demo/thorough: 11 of 14 right"))).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    page.get_by_text("By question", exact=True).click()
    expect(page.get_by_text("Which questions do the models get right?")).to_be_visible()
    settled(page)
    visit(page, server, "answer")
    expect(page.get_by_text("5 · Verdict")).to_be_visible()
    for place in PAGES:
        visit(page, server, Path(place).stem.replace("home", ""))
    icon = page.locator("link[rel='shortcut icon']").evaluate("link => link.href")  # no browser without a window asks
    assert _inside(icon, server) and page.request.get(icon).headers["content-type"] == "image/png"
    assert not outside


def _inside(url: str, server: Server) -> bool:
    return url.startswith((server.url, server.url.replace("http", "ws"), "data:", "blob:"))


@pytest.mark.parametrize("place", ["monitor?run=none", "questions"])
def test_a_deep_link_works_first_on_a_fresh_server(place: str, page: Page, server: Server) -> None:
    server.restart()
    visit(page, server, place)
    expect(page.get_by_test_id("stSidebarNav").get_by_text("Benchmarks")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_have_text(place.split("?")[0].capitalize())


def test_a_finished_run_survives_reload_and_a_killed_server(page: Page, server: Server, demo: Demo) -> None:
    visit(page, server, f"monitor?run={demo.run_id}")
    expect(page.get_by_text("42 of 42 evaluations")).to_be_visible()
    page.reload()
    expect(page.get_by_text("42 of 42 evaluations")).to_be_visible()
    server.restart()
    page.goto(f"{server.url}/monitor")
    expect(page.get_by_text("42 of 42 evaluations")).to_be_visible()


def test_an_uploaded_benchmark_is_reported_and_added(page: Page, server: Server, tmp_path: Path) -> None:
    path = tmp_path / "benchmark.jsonld"
    demo_benchmark().save(path)
    visit(page, server, "benchmarks")
    upload(page, path)
    page.get_by_role("button", name="Add to workspace").click()
    settled(page)
    # The table's own cells are drawn on a canvas; their texts for screen readers count as hidden.
    expect(page.get_by_text("Biomedical demo").filter(visible=True).first).to_be_visible()
    expect(page.get_by_role("button", name="Open questions")).to_be_visible()
