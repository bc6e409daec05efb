"""Impatient clicks: what costs money begins once, however often somebody presses while the page is still at work."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import streamlit as st

from karenina_core.errors import ConfigError
from karenina_core.runs import Store
from karenina_core.runs.engine import engine as clicks
from pages.components import services
from tests.faults.openai_server import OpenAIServer
from tests.faults.road import config, honest, islands


@pytest.fixture
def provider() -> Iterator[OpenAIServer]:
    with OpenAIServer(honest) as opened:
        yield opened


@pytest.fixture
def app_store(provider: OpenAIServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Store]:
    """The store of the app, outside of its server; its runs end before the provider does."""
    monkeypatch.setenv("KARENINA_DATABASE_URL", f"sqlite:///{tmp_path / 'app.db'}")
    yield services.store()
    services.runner.clear()
    services.store.clear()
    st.session_state.clear()


def test_the_second_click_of_a_double_click_returns_the_first_run(app_store: Store, provider: OpenAIServer) -> None:
    benchmark = islands(3)
    benchmark_id = app_store.benchmarks.save(benchmark)
    clicks = [services.start_run(benchmark_id, benchmark, config(provider), "Islands") for _ in range(3)]
    assert len(set(clicks)) == len(app_store.runs.all()) == 1
    assert services.runner().wait(clicks[0], 60).passed == 3
    assert len(provider.requests) == 6


def test_a_second_click_in_a_thread_of_its_own_waits_for_the_first(app_store: Store, provider: OpenAIServer) -> None:
    benchmark = islands(3)
    benchmark_id = app_store.benchmarks.save(benchmark)
    services.note_click()
    services.runner()
    with ThreadPoolExecutor(4) as threads:
        clicked = [
            threads.submit(services.start_run, benchmark_id, benchmark, config(provider), "Islands") for _ in range(4)
        ]
    assert len({click.result() for click in clicked}) == len(app_store.runs.all()) == 1


def test_a_page_may_take_long_to_come_from_the_second_click_to_the_run(
    app_store: Store, provider: OpenAIServer
) -> None:
    benchmark = islands(1)
    benchmark_id = app_store.benchmarks.save(benchmark)
    services.note_click()
    begun = services.start_run(benchmark_id, benchmark, config(provider), "Islands")
    services.note_click()
    # A minute later by the clock, which is the same as both a minute ago.
    st.session_state["_clicked"] -= 60
    st.session_state["_latest_run"].when -= 60
    assert services.start_run(benchmark_id, benchmark, config(provider), "Islands") == begun


@pytest.mark.parametrize("change", ["name", "configuration", "questions", "benchmark", "later"])
def test_another_click_for_something_else_begins_a_run(
    app_store: Store, provider: OpenAIServer, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    benchmark, limit, name, settings = islands(3), None, "Islands", config(provider)
    benchmark_id = app_store.benchmarks.save(benchmark)
    services.start_run(benchmark_id, benchmark, settings, name)
    match change:
        case "name":
            name = "Others"
        case "configuration":
            settings = config(provider, replicate_count=2)
        case "questions":
            limit = 2
        case "benchmark":
            app_store.benchmarks.save(benchmark, benchmark_id)
        case "later":
            monkeypatch.setattr(clicks, "ONE_CLICK_SECONDS", 0.0)
    services.start_run(benchmark_id, benchmark, settings, name, limit)
    assert len(app_store.runs.all()) == 2


def test_a_run_that_could_not_start_is_begun_by_the_next_click(app_store: Store, provider: OpenAIServer) -> None:
    benchmark = islands(1)
    benchmark_id = app_store.benchmarks.save(benchmark)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KARENINA_DAILY_BUDGET", "plenty")
        with pytest.raises(ConfigError, match="KARENINA_DAILY_BUDGET"):
            services.start_run(benchmark_id, benchmark, config(provider), "Islands")
    run_id = services.start_run(benchmark_id, benchmark, config(provider), "Islands")
    assert services.runner().wait(run_id, 60).passed == 1
