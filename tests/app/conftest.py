"""Running pages without a browser: fresh services for every test, and the demo at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from karenina_core.benchmark import Benchmark
from karenina_core.runs import Store
from pages.components import services
from tests.app.samples import small_benchmark

ROOT = Path(__file__).parents[2]
Open = Callable[..., AppTest]
_LIMIT = 180.0  # seconds for one run of a page; tells one that hangs from a busy machine


@pytest.fixture(scope="session", autouse=True)
def tables_are_loaded() -> None:
    """Load what draws tables, which takes many seconds on a busy machine, outside the time limit of a page."""
    for name in ("pandas", "pyarrow"):
        import_module(name)


@pytest.fixture(autouse=True)
def fresh_services(own_environment: None) -> Iterator[None]:
    """Let every test have a store and a runner of its own."""
    yield
    services.drafter.clear()
    services.scorer.clear()
    services.runner.clear()
    services.store.clear()
    st.cache_data.clear()


@pytest.fixture
def store() -> Store:
    """Return the store the pages use."""
    return services.store()


@pytest.fixture
def small() -> Benchmark:
    """Return a benchmark that is not stored yet."""
    return small_benchmark()


@pytest.fixture
def open_page() -> Open:
    """Return a function that opens a page, with link parameters, as a fresh session."""

    def opened(page: str = "pages/home.py", **link: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=_LIMIT).run()
        for name, value in link.items():
            app.query_params[name] = value
        if page != "pages/home.py":
            app = app.switch_page(page).run()
        return healthy(app)

    return opened


def healthy(app: AppTest) -> AppTest:
    """Fail when a page shows a traceback."""
    assert not app.exception, app.exception[0].message
    return app


@pytest.fixture
def demo_run() -> str:
    """Run the demo to its end and return the run's id."""
    from karenina_core.demo import demo_benchmark, demo_config

    benchmark = demo_benchmark()
    benchmark_id = services.store().benchmarks.save(benchmark)
    config = demo_config().model_copy(update={"embedding_check_enabled": False})
    run_id = services.start_run(benchmark_id, benchmark, config, "Demo")
    services.runner().wait(run_id, 600)
    return run_id
