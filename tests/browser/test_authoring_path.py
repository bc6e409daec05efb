"""From a spreadsheet to a verdict without a line of code, in a real browser.

The answers come with the spreadsheet; the judge is played by a provider on the loopback interface.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.authoring.linter.test_repairs import UNSOUND
from tests.benchmark.tables.files import workbook
from tests.browser.conftest import Server, choose, press, settled, visit
from tests.faults.openai_server import OpenAIServer, Reply

pytestmark = pytest.mark.browser

SENTENCE = "The drug lowers how much glucose the liver makes in a way still debated."
HEADER = ("Item text", "Truth", "Tags", "Template", "Answer: lab model")
ROWS = [
    ("What is the target of venetoclax?", "BCL2", "drugs; oncology", None, "It binds BCL2."),
    ("Which enzyme does aspirin inhibit?", None, "drugs", None, "COX-1"),
    ("Is insulin a hormone?", "Yes", "endocrinology", None, "No, it is an enzyme."),
    ("What is the target of venetoclax?", "BCL-XL", "drugs", None, None),
    ("How does metformin work?", SENTENCE, None, None, "?"),
    ("Which protein does the drug bind?", "BCL2", None, UNSOUND, "?"),
]


def judge(request: dict[str, Any]) -> Reply:
    """Fill the template from the answer that stands in the prompt."""
    prompt = json.dumps(request["messages"])
    fields = {"answer_is_yes": False} if "insulin" in prompt else {"target": "bcl2", "answer": "bcl2"}
    asked = json.dumps(request.get("response_format", request["messages"]))
    return Reply(json.dumps({name: value for name, value in fields.items() if name in asked}))


@pytest.fixture
def provider() -> Iterator[OpenAIServer]:
    with OpenAIServer(judge) as opened:
        yield opened


@pytest.fixture
def spreadsheet(tmp_path: Path) -> Path:
    path = tmp_path / "lab questions.xlsx"
    path.write_bytes(workbook([HEADER, *ROWS]))
    return path


def test_a_spreadsheet_becomes_a_verdict(page: Page, server: Server, provider: OpenAIServer, spreadsheet: Path) -> None:
    visit(page, server, "benchmarks")
    page.locator("input[type=file]").first.set_input_files(spreadsheet)
    expect(page.get_by_text("an Excel workbook")).to_be_visible()
    settled(page)
    import_good_rows(page)
    draft_by_rule(page)
    check(page)
    finish(page)
    run(page, provider)
    see_verdicts(page)


def import_good_rows(page: Page) -> None:
    choose(page, "Question", "Item text")
    choose(page, "Reference answer", "Truth")
    expect(page.get_by_text("4 of 6 rows can be imported")).to_be_visible()
    found = page.get_by_role("region", name="Findings").locator("[data-testid^=glide-cell-2-]")
    expect(found.filter(has_text="There is no reference answer.")).to_have_count(1)
    expect(found.filter(has_text="The same question has another answer in row 2.")).to_have_count(1)
    press(page, "Import 4 of 6")
    expect(page.get_by_text("4 questions · 0 finished · 1 with a template")).to_be_visible()
    expect(page.get_by_text("lab model: 4 answers")).to_be_visible()


def draft_by_rule(page: Page) -> None:
    press(page, "Draft 3 missing templates")
    press(page, "Draft 3 templates by rule")
    expect(page.get_by_text("✓ 2 checked · ! 0 to review · – 1 without a draft")).to_be_visible()
    expect(page.get_by_text("1 question without a draft: The reference answer is a sentence")).to_be_visible()


def check(page: Page) -> None:
    press(page, "All benchmarks")
    press(page, "Check and finish them")
    expect(page.get_by_text("2 warnings · 2 hints in 2 places")).to_be_visible()
    choose(page, "Kind of finding", "Normalizer without effect (2)")
    press(page, "Fix all 2")
    expect(page.get_by_text("Fixed 2 findings.")).to_be_visible()
    expect(page.get_by_text("2 warnings in 2 places")).to_be_visible()
    press(page, "All benchmarks")


def finish(page: Page) -> None:
    press(page, "Draft 1 missing template")
    press(page, "Mark 2 checked questions finished")
    expect(page.get_by_text("Marked 2 questions finished.")).to_be_visible()
    press(page, "All benchmarks")
    expect(page.get_by_text("4 questions · 2 finished · 3 with a template")).to_be_visible()


def run(page: Page, provider: OpenAIServer) -> None:
    press(page, "Run with these answers")
    expect(page.get_by_role("heading", level=1)).to_have_text("Configure")
    expect(page.get_by_text("2 of 2 questions have an answer", exact=False)).to_be_visible()
    add_judge(page, provider.url)
    page.get_by_text("I have read this", exact=False).click()
    settled(page)
    press(page, "Run all 2")
    expect(page.get_by_text("2 of 2 evaluations")).to_be_visible()


def add_judge(page: Page, url: str) -> None:
    # The model on this computer, where there is one, would judge beside it.
    judges = page.get_by_test_id("stColumn").filter(has=page.get_by_role("heading", name="Judges"))
    settled(page)
    removals = judges.get_by_role("button", name="Remove")
    for left in reversed(range(removals.count())):
        removals.first.click()
        expect(removals).to_have_count(left)
    press(page, "Add a judge")
    drawer = page.get_by_role("dialog")
    drawer.get_by_text("OpenAI-compatible address", exact=True).click()
    settled(page)
    drawer.get_by_label("Model", exact=True).fill("judge")
    drawer.get_by_label("Address").fill(url)
    page.keyboard.press("Tab")
    settled(page)
    drawer.get_by_role("button", name="Add", exact=True).click()
    expect(drawer).to_have_count(0)
    settled(page)


def see_verdicts(page: Page) -> None:
    expect(page.get_by_text("lab model: 1 of 2 right")).to_be_visible()
    press(page, "See results")
    expect(page.get_by_text("lab model: 1 of 2 right").first).to_be_visible()
