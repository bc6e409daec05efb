"""A new pattern trait, tried live on the stored answers of the demo, and saved."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from karenina_core.runs import Store
from tests.browser.conftest import Demo, Server, settled

pytestmark = pytest.mark.browser


def test_a_new_pattern_is_tried_on_stored_answers_and_saved(page: Page, server: Server, demo: Demo) -> None:
    page.goto(f"{server.url}/rubrics?benchmark={demo.benchmark_id}")
    settled(page)
    page.get_by_role("button", name="Add trait").click()
    settled(page)
    page.get_by_text("Regular expression", exact=True).click()
    settled(page)
    page.get_by_role("textbox", name="Name", exact=True).fill("Names BCL2")
    settled(page)
    pattern = page.get_by_role("textbox", name="Regular expression")
    pattern.fill(r"BCL-?2")
    pattern.press("Enter")
    expect(page.get_by_text("the trait holds for 2.")).to_be_visible()
    page.get_by_text("Match upper and lower case exactly").click()
    expect(page.get_by_text("the trait holds for 3.")).to_be_visible()
    typed = page.get_by_role("textbox", name="Try it on a text")
    typed.fill("It blocks bcl-2.")
    typed.press("Control+Enter")
    expect(page.get_by_text("the pattern is found once")).to_be_visible()
    settled(page)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("5 traits")).to_be_visible()
    settled(page)
    with Store.open(server.database) as store:
        rubric = store.benchmarks.load(demo.benchmark_id).get_global_rubric()
    assert rubric is not None
    saved = rubric.regex_traits[-1]
    assert (saved.name, saved.pattern, saved.case_sensitive) == ("Names BCL2", "BCL-?2", False)
