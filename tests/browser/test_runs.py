"""From a try of three questions to a whole run with more in it, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from karenina_core.demo import demo_benchmark
from karenina_core.runs import Engine, Store, top_up, wanted
from karenina_core.schemas import ModelConfig, VerificationConfig
from tests.browser.conftest import Demo, Server, click_at, quick_config, settled, visit

pytestmark = pytest.mark.browser


@pytest.fixture
def prepared(server: Server, store: Store) -> Server:
    """The demo's benchmark, and a preset with its models."""
    store.benchmarks.save(demo_benchmark())
    store.settings.save_preset("Demo", quick_config())
    return server


def load_preset(page: Page, server: Server) -> None:
    visit(page, server, "configure")
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


def test_a_square_of_the_monitor_opens_its_answer_and_can_be_clicked_again(
    page: Page, server: Server, demo: Demo
) -> None:
    visit(page, server, f"monitor?run={demo.run_id}")
    for _ in range(2):
        square = page.locator(".scatterlayer .point").first
        click_at(page, square)
        drawer = page.get_by_role("dialog")
        expect(drawer.get_by_text("5 · Verdict")).to_be_visible()
        settled(page)
        drawer.get_by_role("button", name="Close").click()
        expect(drawer).to_have_count(0)
        settled(page)


def test_a_configuration_survives_a_killed_server(page: Page, prepared: Server) -> None:
    load_preset(page, prepared)
    prepared.kill()
    prepared.start()
    visit(page, prepared, "configure")
    expect(page.get_by_text("14 questions × 3 models × 1 repeat = 42 answers")).to_be_visible()


def test_a_model_is_changed_where_it_stands(page: Page, server: Server, store: Store) -> None:
    mine = ModelConfig(interface="openai_endpoint", model_name="mine", endpoint_base_url="http://localhost:11434/v1")
    store.benchmarks.save(demo_benchmark())
    store.settings.save_preset("Mine", VerificationConfig(answering_models=[mine], parsing_models=[mine]))
    visit(page, server, "configure")
    page.get_by_test_id("stPopover").get_by_role("button", name="Presets").click()
    page.get_by_role("button", name="Load").click()
    page.get_by_role("button", name="Change").first.click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_text("Limits").click()
    drawer.get_by_role("spinbutton", name="Requests per minute").fill("30")
    drawer.get_by_role("spinbutton", name="Temperature").fill("0.5")
    page.keyboard.press("Tab")
    settled(page)
    drawer.get_by_role("button", name="Save").click()
    card = page.get_by_text("temperature 0.5")
    expect(card).to_be_visible()
    expect(card).to_contain_text("30 requests a minute")
    page.reload()
    expect(page.get_by_text("temperature 0.5")).to_have_count(1)


def test_a_resting_page_notices_that_its_run_goes_on(page: Page, server: Server, store: Store, demo: Demo) -> None:
    visit(page, server, f"monitor?run={demo.run_id}")
    expect(page.get_by_text("42 of 42 evaluations")).to_be_visible()
    with Engine(store) as runner:
        runner.start(demo.run_id, top_up(store, demo.run_id, replicates=2))
        runner.wait(demo.run_id, 600)
    expect(page.get_by_text("84 of 84 evaluations")).to_be_visible()


def test_home_notices_by_itself_what_goes_on_elsewhere(page: Page, server: Server, store: Store) -> None:
    visit(page, server)
    expect(page.get_by_text("No runs yet.")).to_be_visible()
    run_id = store.runs.create(wanted(demo_benchmark(), quick_config()), "Begun elsewhere")
    expect(page.get_by_text("0 of 42 done")).to_be_visible()
    with Engine(store) as runner:
        runner.start(run_id)
        runner.wait(run_id, 600)
    expect(page.get_by_text("42 of 42 done")).to_be_visible()


@pytest.mark.parametrize("pause", [15, 75], ids="{} ms".format)
def test_a_double_click_begins_one_run(page: Page, prepared: Server, store: Store, pause: int) -> None:
    load_preset(page, prepared)
    page.get_by_role("button", name="Run all 42").dblclick(delay=pause)
    expect(page.get_by_text("42 of 42 evaluations")).to_be_visible()
    settled(page)
    assert [run.done for run in store.runs.all()] == [42]
