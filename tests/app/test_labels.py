"""Two choices never look alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.demo import demo_benchmark, demo_config
from karenina_core.runs import Store, wanted
from pages.components import frame, services
from pages.components.text import distinct
from tests.app.conftest import Open
from tests.app.looking import labelled


def test_equal_labels_are_numbered() -> None:
    assert list(distinct("abc", lambda name: "same" if name in "ab" else name).values()) == ["same", "same (2)", "c"]


@given(st.lists(st.sampled_from(["a", "a (2)", "a (3)", "b"]), max_size=12))
def test_labels_are_all_different_and_in_order(texts: list[str]) -> None:
    labels = distinct(range(len(texts)), texts.__getitem__)
    assert list(labels) == list(range(len(texts)))
    assert len(set(labels.values())) == len(texts)
    assert all(labels[place].startswith(text) for place, text in enumerate(texts))


@pytest.fixture
def twins(store: Store) -> list[str]:
    """Carry the demo out three times under one name, as a demonstration to three people does."""
    config = demo_config().model_copy(update={"embedding_check_enabled": False})
    benchmark = demo_benchmark()
    benchmark_id = store.benchmarks.save(benchmark)
    made = [store.runs.create(wanted(benchmark, config), "Demo", benchmark_id=benchmark_id) for _ in range(3)]
    for run_id in made:
        services.runner().start(run_id)
        services.runner().wait(run_id, 600)
    return made


def test_runs_of_one_name_and_minute_can_be_told_apart_wherever_one_is_chosen(
    open_page: Open, twins: list[str]
) -> None:
    report = open_page(frame.REPORT)
    assert len(set(labelled(report.multiselect, "Runs").options)) == 3
    results = open_page(frame.RESULTS, run=twins[0])
    assert len(set(labelled(results.selectbox, "Run").options)) == 3
    assert len(set(labelled(results.selectbox, "What changed since").options)) == 2
    questions = open_page(frame.QUESTIONS, only="Failing in run")
    assert len(set(labelled(questions.selectbox, "Failing in").options)) == 3
