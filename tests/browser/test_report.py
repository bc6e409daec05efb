"""A report goes from the page to a disk, and opens there with the network off."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Demo, Server, settled

pytestmark = pytest.mark.browser


def test_the_report_opens_from_disk_with_the_network_off(
    page: Page, browser: Browser, server: Server, demo: Demo, tmp_path: Path
) -> None:
    page.goto(f"{server.url}/report?run={demo.run_id}")
    settled(page)
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
