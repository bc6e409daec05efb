"""`python -m tests.screenshots`: draws the pictures of the README from the demo, in light and in dark."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.conftest import Server, carried_out_demo, chromium, settled

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = {"width": 1280, "height": 860}


def main() -> None:
    """Carry the demo out on a server of its own and photograph *Results*."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder))
        server.start()
        try:
            demo = carried_out_demo(server)
            with chromium(playwright) as browser:
                for scheme in ("light", "dark"):
                    page = browser.new_page(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
                    page.goto(f"{server.url}/results?run={demo.run_id}")
                    settled(page).screenshot(path=IMAGES / f"results-{scheme}.png")
        finally:
            server.kill()


if __name__ == "__main__":
    main()
