"""A real server and a real Chromium. Skipped with a plain line where there is no browser; a failure in CI."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, TimeoutError, expect, sync_playwright

from karenina_core.demo import demo_benchmark, demo_config
from karenina_core.runs import Engine, Store, wanted
from karenina_core.schemas import VerificationConfig

ROOT = Path(__file__).parents[2]
NO_BROWSER = "No Chromium here: install Debian's package `chromium`, or run `playwright install chromium`."
# Milliseconds for what takes seconds: a busy machine is no failure.
LONG = 180_000
LOADING = 600_000  # where PyTorch is loaded, which takes a quarter of a minute of processor time
expect.set_options(timeout=LONG)

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
        command = [sys.executable, "-m", "streamlit", "run", self._script, *options]
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

    def restart(self) -> None:
        """Begin again as a server that nobody has visited yet."""
        self.kill()
        self.start()

    def empty(self) -> None:
        """Delete everything that is stored, and start the server where it was killed."""
        with sqlite3.connect(self.database.removeprefix("sqlite:///"), timeout=60) as database:
            tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for name in tables:
                if name != "meta" and not name.startswith("sqlite_"):
                    database.execute(f'DELETE FROM "{name}"')
        if self._process is None:
            self.start()


@pytest.fixture(scope="session")
def one_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield the one server of all tests here."""
    server = Server(tmp_path_factory.mktemp("server"))
    Store.open(server.database).close()
    server.start()
    yield server
    server.kill()


@pytest.fixture
def server(one_server: Server) -> Server:
    """Return the server with an empty store; a page of it is a session of its own."""
    one_server.empty()
    return one_server


@pytest.fixture
def store(server: Server) -> Iterator[Store]:
    """Yield the store of the server, opened a second time."""
    with Store.open(server.database) as opened:
        yield opened


class Demo(NamedTuple):
    """A benchmark and a run of it that has ended."""

    benchmark_id: str
    run_id: str


def quick_config() -> VerificationConfig:
    """Return the demo's configuration without the check that loads a model."""
    return demo_config().model_copy(update={"embedding_check_enabled": False})


@pytest.fixture
def demo(store: Store) -> Demo:
    """Carry out the demo in the store of the server."""
    benchmark = demo_benchmark()
    with Engine(store) as engine:
        benchmark_id = store.benchmarks.save(benchmark)
        run_id = store.runs.create(wanted(benchmark, quick_config()), "Demo", benchmark_id=benchmark_id)
        engine.start(run_id)
        assert engine.wait(run_id, 600).status == "completed"
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
    context.set_default_timeout(LONG)
    context.add_init_script(WATCH_TRAFFIC)
    yield context.new_page()
    context.close()


def settled(page: Page) -> Page:
    """Wait until the page has stopped working on what was asked of it, and check that it shows no traceback."""
    page.wait_for_function(RESTS, timeout=LONG)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    return page


def visit(page: Page, server: Server, path: str = "") -> None:
    """Open a page of the app and wait until it rests."""
    page.goto(f"{server.url}/{path}")
    settled(page)


def choose(page: Page, label: str, option: str) -> None:
    """Choose an option of a selectbox or multiselect by typing it; a list that the page closes is opened again."""
    box = page.get_by_role("combobox", name=label, exact=True)
    entry = page.get_by_role("option", name=option, exact=True)
    for _ in range(20):
        settled(page)
        box.click()
        box.fill(option)
        try:
            entry.click(timeout=10_000)
        except TimeoutError:
            page.keyboard.press("Escape")
        else:
            settled(page)
            return
    pytest.fail(f"{label} offers no {option!r}")


def press(page: Page, name: str) -> None:
    """Press a button, and wait for what it does."""
    page.get_by_role("button", name=name, exact=True).click()
    settled(page)


def upload(page: Page, path: Path) -> None:
    """Choose a file on the page of benchmarks."""
    page.locator("input[type=file]").first.set_input_files(path)


def click_at(
    page: Page, target: Locator, right: float | None = None, down: float | None = None, clicks: int = 1
) -> None:
    """Click a place that is drawn on a canvas or in a figure, with the mouse.

    Args:
        page: The page.
        target: What holds the place.
        right: Pixels from its left edge; its middle when not given.
        down: Pixels from its upper edge; its middle when not given.
        clicks: 2 for a double click.
    """
    expect(target).to_be_visible()
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box is not None
    across = box["width"] / 2 if right is None else right
    page.mouse.click(box["x"] + across, box["y"] + (box["height"] / 2 if down is None else down), click_count=clicks)
