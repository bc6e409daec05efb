"""From a figure or a list to the answers behind it, in a real browser: results, comparison, one answer, the report."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from karenina_core.runs import Store, wanted
from tests.browser.conftest import Demo, Server, choose, click_at, settled, visit
from tests.performance.large_run import make_run
from tests.runs.fakes import full_result, small_benchmark, small_config

pytestmark = pytest.mark.browser


def test_filters_and_quick_views_survive_a_reload(page: Page, server: Server, demo: Demo) -> None:
    visit(page, server, f"results?run={demo.run_id}")
    page.get_by_text(re.compile(r"^Failures \d+$")).click()
    expect(page).to_have_url(re.compile("show=failures"))
    page.get_by_role("searchbox", name="Search in questions").fill("drug target")
    page.keyboard.press("Enter")
    shown = page.get_by_text("2 of 42 evaluations shown")
    expect(shown).to_be_visible()
    expect(page).to_have_url(re.compile("search=drug"))
    page.reload()
    settled(page)
    expect(shown).to_be_visible()
    expect(page.get_by_role("searchbox", name="Search in questions")).to_have_value("drug target")


def test_a_ticked_row_opens_its_answer_and_the_list_it_stands_in(page: Page, server: Server, demo: Demo) -> None:
    visit(page, server, f"results?run={demo.run_id}&show=failures")
    table = page.get_by_role("region", name="All evaluations of this run")
    click_at(page, table, 16, 87)
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


def test_squares_of_many_models_stay_apart_on_a_narrow_screen(page: Page, server: Server, store: Store) -> None:
    run_id = make_run(store, 200, "Ten models")
    page.set_viewport_size({"width": 390, "height": 900})
    visit(page, server, f"results?run={run_id}&view=By+field")
    squares = page.locator(".scatterlayer .point")
    expect(squares.first).to_be_visible()
    boxes = [box for box in (square.bounding_box() for square in squares.all()[:20]) if box]
    places = sorted({round(box["x"]) for box in boxes})
    assert min(after - before for before, after in pairwise(places)) >= boxes[0]["width"]


def test_the_next_page_begins_at_its_top(page: Page, server: Server, demo: Demo) -> None:
    visit(page, server, f"results?run={demo.run_id}")
    page.get_by_text("What changed since another run").scroll_into_view_if_needed()
    expect(page.get_by_role("heading", name="Results", exact=True)).not_to_be_in_viewport()
    page.get_by_role("link", name="Answer", exact=True).click()
    settled(page)
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_in_viewport()


HEADER = ROW = 35


def store_run(store: Store) -> str:
    """Store three models and two judges: the second model is better, the judges differ on the first model."""
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
    return run_id


def click_row(page: Page, name: str, row: int) -> None:
    """Click the box that selects a row of a table."""
    table = page.get_by_role("region", name=name)
    expect(table.get_by_test_id(f"glide-cell-1-{row}")).to_be_attached()
    click_at(page, table, 16, HEADER + ROW * (row + 0.5))
    settled(page)


def test_clicks_lead_from_a_difference_to_the_answers_behind_it(page: Page, server: Server, store: Store) -> None:
    run_id = store_run(store)
    visit(page, server, f"compare?runs={run_id}")
    expect(page.get_by_text("lab/model-2 is better than lab/model-1")).to_be_visible()
    click_at(page, page.locator(".js-plotly-plot").first.locator(".scatterlayer .point").nth(1))
    settled(page)
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


def test_a_square_of_the_judges_leads_to_the_answers_they_differ_on(page: Page, server: Server, store: Store) -> None:
    run_id = store_run(store)
    visit(page, server, f"compare?runs={run_id}&compare=Judges")
    click_at(page, page.locator(".js-plotly-plot .scatterlayer .point").first)
    settled(page)
    expect(page.get_by_text("1 answer on which they differ")).to_be_visible()
    click_row(page, "The answers behind", 0)
    page.get_by_role("button", name="Open it as judged by lab/judge-2").click()
    expect(page.get_by_role("dialog")).to_be_visible()


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
    square = page.evaluate_handle(FIND, [plot.element_handle(), field, model]).as_element()
    assert square is not None
    square.scroll_into_view_if_needed()
    box = square.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def test_a_red_square_leads_to_a_rule_that_is_mended_and_verified_again(
    page: Page, server: Server, store: Store, demo: Demo
) -> None:
    visit(page, server, f"results?run={demo.run_id}")
    page.get_by_text("By field", exact=True).click()
    settled(page)
    click_square(page, "target", "demo/thorough")
    expect(page.get_by_text("1 answer behind this mark")).to_be_visible()
    # One answer alone opens at once.
    expect(page.get_by_role("dialog").get_by_text("5 · Verdict")).to_be_visible()
    page.get_by_role("button", name="Open the answer, to edit and review it").click()
    expect(page).to_have_url(re.compile(r"/answer\?.*row="))
    expect(page.get_by_role("heading", name="What is the approved drug target of Venetoclax?")).to_be_visible()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export as notebook").click()
    assert download.value.suggested_filename.endswith(".ipynb")
    assert '"nbformat": 4' in Path(download.value.path()).read_text(encoding="utf-8")

    page.get_by_text("Edit a rule, which takes no call").click()
    choose(page, "Normalisers, in their order", "Drop punctuation")
    expect(page.get_by_text("What if — not saved")).to_be_visible()
    settled(page)
    # What appears above, and the browser's scrolling that makes up for it, leave the list open.
    expect(page.get_by_role("option", name="Merge blanks")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Save this rule in the benchmark").click()

    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("64 % → 69 %, 2 verdicts flip")).to_be_visible()
    dialog.get_by_role("button", name="Save as a new revision").click()
    expect(page.get_by_text("Revision 2 of 2")).to_be_visible()
    settled(page)
    assert [(run.passed, run.parent_run) for run in store.runs.all()] == [(27, demo.run_id), (25, None)]


def press_key(page: Page, key: str) -> None:
    """Press a key once the page rests: a key that meets a page at work is lost."""
    settled(page)
    page.keyboard.press(key)


def test_keys_walk_and_judge(page: Page, server: Server, demo: Demo, store: Store) -> None:
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
    assert [review.cause for review in store.annotations.all(demo.run_id)] == ["rule_too_strict"]


def test_an_answer_that_a_rule_would_mend_opens_among_its_like(page: Page, server: Server, demo: Demo) -> None:
    visit(page, server, f"answer?run={demo.run_id}&look=rules")
    page.get_by_role("button", name="See one").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Open the answer, to edit and review it").click()
    expect(page.get_by_text("2 of 42 evaluations")).to_be_visible()
    expect(page.get_by_text("The rule is probably too strict. It would pass if one were to")).to_be_visible()


def test_the_report_opens_from_disk_with_the_network_off(
    page: Page, browser: Browser, server: Server, demo: Demo, tmp_path: Path
) -> None:
    visit(page, server, f"report?run={demo.run_id}")
    page.get_by_role("textbox", name="Title").fill("For Ann")
    page.keyboard.press("Enter")
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("^HTML")).click()
    saved = tmp_path / "report.html"
    download.value.save_as(saved)

    context = browser.new_context(offline=True)
    alone = context.new_page()
    asked, said = [], []
    alone.on("request", lambda request: asked.append(request.url))
    alone.on("console", lambda message: said.append(message.text))
    alone.on("pageerror", lambda error: said.append(str(error)))
    alone.goto(saved.as_uri())
    expect(alone.get_by_text(re.compile("demo/thorough: 11 of 14 right")).first).to_be_visible()
    expect(alone.get_by_text("For Ann").first).to_be_visible()
    expect(alone.locator("#figure-0 svg.main-svg").first).to_be_visible()
    alone.get_by_text("Configuration, without keys").click()
    expect(alone.get_by_text('"answering_models"')).to_be_visible()
    assert asked == [saved.as_uri()] and not said
    context.close()
