"""The Results page over a large run: how long reading it takes, and then every interaction.

Times are CPU milliseconds of the whole page, from the click to the last message for the browser, in a process of its
own. Beside each stands how often a plain read of the same rows from the database would fit into it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
GOAL = 300
VIEWS = ("By field", "By question", "By keyword", "Traits", "Metric traits", "Cost and time", "Question quality")


def main(results: int) -> None:
    """Make a run of so many results, and open its page in a process that has nothing else to do."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'large.db'}"
        environment = {**os.environ, "KARENINA_DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "tests.performance.results", str(results)]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)


def measure(results: int) -> None:
    """Print the table."""
    import logging

    from streamlit.testing.v1 import AppTest

    from karenina_core.runs import Store
    from tests.performance.large_run import make_run

    logging.disable(logging.WARNING)
    with Store.open() as store:
        run_id = make_run(store, results)
        floor = _cpu(lambda: len(store.results.outcomes(run_id)))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600).run()
    app.query_params["run"] = run_id
    print(f"{results:,} results: a plain read of their outcomes takes {floor:.0f} ms")
    print("                                     CPU ms    plain reads    goal ms")

    def report(name: str, work: Callable[[], Any], goal: int | None = GOAL) -> None:
        spent = _cpu(work)
        assert not app.exception, app.exception[0].message
        assert not app.error, app.error[0].value
        print(f"{name:33s} {spent:9.0f} {spent / floor:14.2f} {goal or '–':>10}")

    report("first opening", lambda: app.switch_page("pages/results.py").run(), None)
    report("other tables and views, meanwhile", _read_meanwhile, None)
    report("the page again", app.run)
    for view in VIEWS:
        report(f"view: {view.lower()}", lambda view=view: _with(app, "view", view))  # type: ignore[misc]
    report("view: pass rate", lambda: _with(app, "view", "Pass rate"))
    report("search", lambda: app.text_input(key="search").set_value("number 12").run())
    report("search taken back", lambda: app.text_input(key="search").set_value("").run())
    report("one model", lambda: app.multiselect(key="model").set_value(["lab/model-1"]).run())
    report("one keyword of it", lambda: app.multiselect(key="keyword").set_value(["drugs"]).run())
    app.multiselect(key="keyword").set_value([]).run()
    for view in VIEWS:
        report(f"one model, {view.lower()}", lambda view=view: _with(app, "view", view))  # type: ignore[misc]
    report("another order", lambda: app.selectbox(key="order").set_value("slowest first").run())


def _read_meanwhile() -> None:
    from pages.components.results.data import WARMING

    for thread in threading.enumerate():
        if thread.name == WARMING:
            thread.join()


def _with(app: Any, key: str, value: str) -> Any:
    app.session_state[key] = value
    return app.run()


def _cpu(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


if __name__ == "__main__":
    measure(int(sys.argv[1]))
