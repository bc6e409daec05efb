"""From a try of three questions to a whole run with more in it, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from karenina_core.demo import demo_benchmark
from karenina_core.runs import Engine, Store, top_up, wanted
from karenina_core.schemas import ModelConfig, VerificationConfig
from tests.browser.conftest import Demo, Server, click_at, press, quick_config, settled, visit
from tests.faults.openai_server import OpenAIServer
from tests.faults.road import config, honest, islands

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


# What ends in the background


@pytest.fixture
def provider() -> Iterator[OpenAIServer]:
    """A provider that takes its time, until its `delay` is set to 0."""
    with OpenAIServer(honest, delay=1.5) as opened:
        yield opened


@pytest.fixture
def under_way(page: Page, server: Server, store: Store, provider: OpenAIServer) -> OpenAIServer:
    """Begin a run in the app, and return its provider."""
    store.benchmarks.save(islands(12))
    store.settings.save_preset("Slow", config(provider, max_concurrent_requests=1))
    visit(page, server, "configure")
    page.get_by_test_id("stPopover").get_by_role("button", name="Presets").click()
    page.get_by_role("button", name="Load").click()
    page.get_by_text("I have read this", exact=False).click()
    settled(page)
    page.get_by_role("button", name="Run all 12").click()
    expect(page.get_by_text("1 of 12 evaluations")).to_be_visible()
    return provider


def go_to(page: Page, name: str) -> None:
    page.get_by_test_id("stSidebarNav").get_by_text(name, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def ends(page: Page, provider: OpenAIServer) -> None:
    """Let the run end, and wait until the page has noticed."""
    card = page.get_by_test_id("stSidebar").get_by_text("Open monitor")
    expect(card).to_be_visible()
    provider.delay = 0
    expect(card).to_have_count(0)
    settled(page)


def test_the_end_of_a_run_leaves_an_open_dialog_and_what_is_typed_there(page: Page, under_way: OpenAIServer) -> None:
    go_to(page, "Configure")
    page.get_by_role("button", name="Add a model").click()
    field = page.get_by_role("dialog").get_by_label("Model", exact=True)
    field.fill("openai/half-typed")
    ends(page, under_way)
    expect(field).to_have_value("openai/half-typed")


def test_a_list_stays_open_while_a_run_goes_on_and_ends(page: Page, under_way: OpenAIServer) -> None:
    go_to(page, "Questions")
    page.get_by_role("tab", name="Template").click()
    listed = page.get_by_role("combobox", name="Add a normaliser")
    listed.scroll_into_view_if_needed()
    page.evaluate("new Promise(requestAnimationFrame)")  # a list closes with a scrolling that a person wants
    listed.click()
    options = page.get_by_role("option")
    expect(options.first).to_be_visible()
    for done in (4, 5):
        expect(page.get_by_text(f"running · {done} of 12")).to_be_visible()
    expect(options.first).to_be_visible()
    ends(page, under_way)
    expect(options.first).to_be_visible()


def test_an_answer_opened_from_a_live_run_stays_open_when_the_run_ends(page: Page, under_way: OpenAIServer) -> None:
    click_at(page, page.locator(".scatterlayer .point").first)
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_text("5 · Verdict")).to_be_visible()
    expect(page.get_by_text("4 of 12 evaluations")).to_have_count(1)
    under_way.delay = 0
    expect(page.get_by_text("12 of 12 evaluations")).to_have_count(1)
    settled(page)
    expect(drawer.get_by_text("5 · Verdict")).to_be_visible()
    drawer.get_by_role("button", name="Close").click()
    press(page, "See results")
    expect(page.get_by_role("heading", level=1)).to_have_text("Results")
