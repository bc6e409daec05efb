"""A real server and a real Chromium. Skipped with a plain line where there is no browser; a failure in CI."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from karenina_core.demo import demo_benchmark, demo_config
from karenina_core.runs import Engine, Store, wanted
from karenina_core.schemas import VerificationConfig

ROOT = Path(__file__).parents[2]
NO_BROWSER = "No Chromium here: install Debian's package `chromium`, or run `playwright install chromium`."
# Milliseconds for what takes seconds: a busy machine is no failure.
PATIENCE = 180_000
LOADING = 600_000  # where PyTorch is loaded, which takes a quarter of a minute of processor time
expect.set_options(timeout=PATIENCE)

# What a page asks of its server is not yet part of the script state that it shows.
WATCH_TRAFFIC = """
    const traffic = window.traffic = {last: 0, sent: 0, waiting: false};
    window.WebSocket = class extends window.WebSocket {
        constructor(...rest) {
            super(...rest);
            this.addEventListener("message", () => { traffic.last = performance.now(); traffic.waiting = false; });
        }
        send(data) {
            traffic.last = traffic.sent = performance.now();
            traffic.waiting = true;
            super.send(data);
        }
    };
"""
RESTS = """() => {
    const app = document.querySelector("[data-testid=stApp]")?.dataset;
    const now = performance.now();
    return app?.testConnectionState === "CONNECTED" && app.testScriptState === "notRunning"
        && now - traffic.last > 150 && (!traffic.waiting || now - traffic.sent > 12000);
}"""


class Server:
    """The app on a port of its own, with a store of its own; can be killed and started again."""

    def __init__(self, folder: Path, script: str = "app.py") -> None:
        self._folder = folder
        self._script = script
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.url = f"http://localhost:{self._port}"
        self.database = f"sqlite:///{folder / 'karenina.db'}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> None:
        """Start with Streamlit's options, and return when the server answers."""
        command = [sys.executable, "-m", "streamlit", "run", self._script, "--server.fileWatcherType", "none", *options]
        environment = {**os.environ, "KARENINA_DATABASE_URL": self.database}
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--server.port", str(self._port)], cwd=ROOT, env=environment, stdout=log, stderr=log
            )
        until = time.monotonic() + 90
        while not self._healthy():
            assert time.monotonic() < until, (self._folder / "server.log").read_text(encoding="utf-8")
            time.sleep(0.1)

    def _healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            self._process = None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Yield a server that nobody has visited yet."""
    started = Server(tmp_path)
    started.start()
    yield started
    started.kill()


class Demo(NamedTuple):
    """A benchmark and a run of it that has ended."""

    benchmark_id: str
    run_id: str


def quick_config() -> VerificationConfig:
    """Return the demo's configuration without the check that loads a model."""
    return demo_config().model_copy(update={"embedding_check_enabled": False})


@pytest.fixture
def demo(server: Server) -> Demo:
    """Have the demo carried out, in the store of the server."""
    benchmark = demo_benchmark()
    with Store.open(server.database) as store, Engine(store) as runner:
        benchmark_id = store.benchmarks.save(benchmark)
        run_id = store.runs.create(wanted(benchmark, quick_config()), "Demo", benchmark_id=benchmark_id)
        runner.start(run_id)
        assert runner.wait(run_id, 600).status == "completed"
    return Demo(benchmark_id, run_id)


# Not for the whole session: while it lives, no other test of this process could run an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Yield a Chromium: the system's, or Playwright's own; skip, or fail in CI, when there is neither."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=path, args=arguments)
        except Error as error:
            if os.environ.get("CI") == "true":
                pytest.fail(f"{NO_BROWSER} {error}")
            pytest.skip(NO_BROWSER)
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Yield a page of a usual size, without animations."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    context.add_init_script(WATCH_TRAFFIC)
    yield context.new_page()
    context.close()


def settled(page: Page) -> Page:
    """Wait until the page has stopped working on what was asked of it, and check that it shows no traceback."""
    page.wait_for_function(RESTS, timeout=PATIENCE)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    return page


def choose(page: Page, label: str, option: str) -> None:
    """Choose an option of a selectbox or multiselect, by typing it: a list that the page has closed opens again."""
    settled(page)
    box = page.get_by_role("combobox", name=label, exact=True)
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option, exact=True).click()
    settled(page)


def press(page: Page, name: str) -> None:
    """Press a button, and wait for what it does."""
    page.get_by_role("button", name=name, exact=True).click()
    settled(page)
