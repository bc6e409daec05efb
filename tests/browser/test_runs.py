"""From a try of three questions to a whole run with more in it, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from karenina_core.demo import demo_benchmark, demo_config
from karenina_core.runs import Store
from tests.browser.conftest import Server, settled

pytestmark = pytest.mark.browser


@pytest.fixture
def prepared(server: Server) -> Server:
    """The demo's benchmark, and a preset with its models."""
    config = demo_config().model_copy(update={"embedding_check_enabled": False})
    with Store.open(server.database) as store:
        store.save_benchmark(demo_benchmark())
        store.save_preset("Demo", config)
    return server


def load_preset(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/configure")
    settled(page)
    page.get_by_test_id("stPopover").get_by_role("button", name="Presets").click()
    page.get_by_role("button", name="Load").click()
    expect(page.get_by_text("14 questions × 3 models × 1 repeat = 42 answers")).to_be_visible()
    settled(page)


def test_a_try_goes_on_as_the_whole_run_and_grows(page: Page, prepared: Server) -> None:
    load_preset(page, prepared)
    page.get_by_role("button", name="Try 3 questions").click()
    expect(page.get_by_text("9 of 9 evaluations")).to_be_visible()
    address = page.url
    page.get_by_role("button", name="Continue with the other 11 questions").click()
    expect(page.get_by_text("42 of 42 evaluations")).to_be_visible()
    page.get_by_role("button", name="Add to this run").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_text("Repeats", exact=True).click()
    drawer.get_by_label("Repeats, in all").fill("2")
    page.keyboard.press("Enter")
    drawer.get_by_role("button", name="Add and run").click()
    expect(page.get_by_text("84 of 84 evaluations")).to_be_visible()
    assert page.url == address


def test_a_configuration_survives_a_killed_server(page: Page, prepared: Server) -> None:
    load_preset(page, prepared)
    prepared.kill()
    prepared.start()
    page.goto(f"{prepared.url}/configure")
    settled(page)
    expect(page.get_by_text("14 questions × 3 models × 1 repeat = 42 answers")).to_be_visible()
