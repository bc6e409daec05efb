"""The list of benchmarks on narrow screens, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from karenina_core.benchmark import Benchmark
from karenina_core.demo import demo_benchmark
from karenina_core.runs import Store
from tests.browser.conftest import Server, settled

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_the_list_fits_the_screen_without_scrolling_sideways(page: Page, server: Server, width: int) -> None:
    with Store.open(server.database) as store:
        store.benchmarks.save(demo_benchmark())
        store.benchmarks.save(Benchmark.create(name="Drug targets of approved oncology compounds, curated by hand"))
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{server.url}/benchmarks")
    settled(page)
    # The grid draws on a canvas; what it would scroll through is an element beside it.
    grid = page.get_by_role("region", name="Benchmarks").locator(".dvn-scroller")
    seen, whole = grid.evaluate("element => [element.clientWidth, element.scrollWidth]")
    assert 0 < whole <= seen
