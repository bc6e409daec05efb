"""The card in the sidebar: every run under way, and its buttons."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from karenina_core.runs import wanted
from pages.components import frame, services
from tests.app.conftest import Open, healthy
from tests.faults.openai_server import OpenAIServer
from tests.faults.road import config, honest, islands


@pytest.fixture
def two_runs() -> Iterator[tuple[str, str]]:
    """Two runs of one provider, which take longer than a test."""
    with OpenAIServer(honest, delay=2) as server:
        plan = wanted(islands(400), config(server))
        first, second = (services.store().runs.create(plan, name) for name in ("First", "Second"))
        for run_id in (first, second):
            services.runner().start(run_id)
        yield first, second
        for run_id in (first, second):
            services.runner().cancel(run_id)


def test_every_run_under_way_leads_to_its_own_monitor(open_page: Open, two_runs: tuple[str, str]) -> None:
    for run_id in two_runs:
        app = healthy(open_page(frame.HOME).sidebar.button(key=f"job_card_open_{run_id}").click().run())
        assert app.query_params["run"] in (run_id, [run_id])


def test_a_run_is_paused_from_any_page(open_page: Open, two_runs: tuple[str, str]) -> None:
    first, second = two_runs
    app = open_page(frame.SETTINGS)
    app = healthy(app.sidebar.button(key=f"job_card_pause_{first}").click().run())
    assert services.runner().progress(first).status == "paused"
    assert services.runner().progress(second).status == "running"
    assert f"job_card_pause_{first}" not in [button.key for button in app.sidebar.button]
