"""Home shows how the runs of late stand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from karenina_core.runs import Store, wanted
from pages.components import frame, services
from tests.app.conftest import Open
from tests.app.looking import labelled, texts
from tests.faults.openai_server import OpenAIServer
from tests.faults.road import config, honest, islands


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(honest, delay=0.05) as opened:
        yield opened


def stored_run(server: OpenAIServer, questions: int, name: str = "Islands") -> str:
    return services.store().runs.create(wanted(islands(questions), config(server)), name)


def test_without_runs_home_names_the_next_click(open_page: Open) -> None:
    app = open_page()
    assert "No runs yet." in texts(app)
    labelled(app.button, "Bring your own questions").click().run()
    assert app.title[0].value == "Benchmarks"


def test_a_newcomer_reads_how_it_works_first_and_others_find_their_work_first(open_page: Open, demo_run: str) -> None:
    services.store().runs.delete(demo_run)
    assert [part.value for part in open_page().subheader] == ["Recent runs", "Recent benchmarks", "How it works"]
    [benchmark] = services.store().benchmarks.all()
    services.store().benchmarks.delete(benchmark.id)
    assert [part.value for part in open_page().subheader] == ["How it works", "Recent runs"]


@pytest.mark.parametrize(("label", "title"), [("Questions", "Questions"), ("Configure a run", "Configure")])
def test_a_recent_benchmark_is_one_click_away(label: str, title: str, open_page: Open, store: Store) -> None:
    store.benchmarks.save(islands(1))
    wanted_id = store.benchmarks.save(islands(3))
    app = open_page()
    assert "3 questions · 3 finished · changed " in texts(app)
    labelled(app.button, label).click().run()  # of the first, which was changed last
    assert app.title[0].value == title
    assert app.query_params["benchmark"] == wanted_id


def test_a_benchmark_without_a_finished_question_is_not_offered_for_a_run(open_page: Open, store: Store) -> None:
    benchmark = islands(1)
    benchmark.mark_unfinished_batch(["q1"])
    store.benchmarks.save(benchmark)
    assert "Configure a run" not in [button.label for button in open_page().button]


def test_a_run_begun_elsewhere_appears_and_is_followed_to_its_end(open_page: Open, server: OpenAIServer) -> None:
    app = open_page()
    server.delay = 2
    run_id = stored_run(server, 100, "Slow")
    services.runner().start(run_id)
    assert "running · " in texts(app.run())
    services.runner().cancel(run_id)
    assert "cancelled · " in texts(app.run())


def test_home_and_monitor_tell_the_same_numbers(open_page: Open, demo_run: str) -> None:
    assert "42 of 42 done · ✓ 25 pass · ✗ 14 fail · – 3 not evaluated" in texts(open_page())
    metrics = {metric.label: metric.value for metric in open_page(frame.MONITOR, run=demo_run).metric}
    assert (metrics["Pass"], metrics["Fail"], metrics["Not evaluated"]) == ("25", "14", "3")


def test_a_run_named_like_its_benchmark_is_named_once(open_page: Open, server: OpenAIServer) -> None:
    name = islands(1).name
    stored_run(server, 1, name)
    assert f"**{name}**\n" in texts(open_page())
