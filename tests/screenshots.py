"""`python -m tests.screenshots`: draws the pictures of the README from the demo, in light and in dark."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

from karenina_core.demo import demo_benchmark
from karenina_core.runs import Engine, Store, wanted
from tests.browser.conftest import LONG, WATCH_TRAFFIC, Server, quick_config, settled

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def main() -> None:
    """Carry the demo out, and photograph *Results* on a server of its own."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder))
        run_id = carry_out_demo(server.database)
        server.start()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        try:
            for scheme in SCHEMES:
                page = browser.new_page(viewport={"width": 1280, "height": 1000}, color_scheme=scheme)
                page.add_init_script(WATCH_TRAFFIC)
                page.goto(f"{server.url}/results?run={run_id}")
                page.locator(".js-plotly-plot").first.wait_for(timeout=LONG)
                settled(page).screenshot(path=IMAGES / f"results-{scheme}.png")
        finally:
            browser.close()
            server.kill()


def carry_out_demo(database: str) -> str:
    benchmark = demo_benchmark()
    with Store.open(database) as store, Engine(store) as engine:
        benchmark_id = store.benchmarks.save(benchmark)
        run_id = store.runs.create(wanted(benchmark, quick_config()), "Demo", benchmark_id=benchmark_id)
        engine.start(run_id)
        engine.wait(run_id, 600)
    return run_id


if __name__ == "__main__":
    main()
