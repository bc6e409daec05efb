"""Read from a real store: what comparisons see is what the results say."""

import pytest

from karenina_core.analysis import fields_frame, outcomes, results_frame
from karenina_core.analysis.comparison.data import field_outcomes, question_texts
from karenina_core.runs import Store, wanted
from tests.runs.fakes import full_result, plain_result, small_benchmark, small_config


@pytest.fixture
def store(tmp_path):
    opened = Store.open(f"sqlite:///{tmp_path / 'runs.db'}")
    yield opened
    opened.close()


def stored(store, results, name="Run", models=1):
    run_id = store.runs.create(wanted(small_benchmark(3), small_config(models)), name)
    store.results.save(run_id, results)
    return run_id


def test_outcomes_are_the_identity_and_the_verdict_of_every_result(store):
    results = [plain_result("q1"), plain_result("q2", verdict="fail")]
    run_id = stored(store, results)
    table = outcomes(store, [run_id, run_id])
    assert set(table["run_id"]) == {run_id}
    expected = results_frame(results)[["result_id", "question_id", "replicate", "status", "verdict"]]
    assert table[expected.columns].to_dict("records") == expected.to_dict("records")


def test_several_runs_are_one_table(store):
    runs = [stored(store, [plain_result("q1")], name) for name in ("First", "Second")]
    assert outcomes(store, runs)["run_id"].to_list() == runs
    assert outcomes(store, []).empty


def test_states_of_fields_are_those_of_the_results(store):
    results = [full_result("q1"), full_result("q2")]
    run_id = stored(store, results)
    expected = fields_frame(results)
    found = field_outcomes(store, [run_id], outcomes(store, [run_id]))
    decided = expected[expected.groupby(["question_id", "field"])["result"].transform("count") > 0]
    columns = ["result_id", "field", "state"]
    assert set(map(tuple, found[columns].to_numpy())) == set(map(tuple, decided[columns].to_numpy()))
    assert len(found) == len(decided) > 0


def test_a_field_that_was_not_found_or_not_decided_is_told_apart(store):
    found, missed, broken = (full_result("q1", replicate=number) for number in (1, 2, 3))
    name = found.template.fields[0].name
    missed.template.fields[0].result = None
    broken.template.fields[0].result = None
    broken.verdict = "not_evaluated"
    run_id = store.runs.create(wanted(small_benchmark(1), small_config(replicate_count=3)), "Repeats")
    store.results.save(run_id, [found, missed, broken])
    table = field_outcomes(store, [run_id], outcomes(store, [run_id])).set_index(["field", "replicate"])
    states = table.loc[name, "state"].to_dict()
    assert states == {1: "right", 2: "not_found", 3: "undecided"}


def test_every_question_has_its_text_and_keywords_once(store):
    run_id = stored(store, [plain_result("q1"), plain_result("q1", "lab/model-2"), plain_result("q2")], models=2)
    table = question_texts(store, [run_id]).set_index("question_id")
    assert table["question"].to_dict() == {"q1": "Question q1?", "q2": "Question q2?"}
    assert table["keywords"].to_dict() == {"q1": [], "q2": []}
