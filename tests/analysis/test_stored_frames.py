"""What the columns of a stored run say is what its evidence says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from karenina_core.analysis import (
    fields_frame,
    outcomes,
    results_frame,
    stored_fields,
    stored_results,
    stored_traits,
    traits_frame,
)
from karenina_core.analysis.columns import COLUMNS, EVIDENCE_ONLY
from karenina_core.analysis.frames import field_outcomes, question_texts, traits_of
from karenina_core.benchmark import Benchmark
from karenina_core.runs import Scoring, Store, wanted
from karenina_core.runs.scoring import note_definition
from karenina_core.runs.store.schema import field as field_table
from karenina_core.runs.store.schema import score as score_table
from karenina_core.schemas import (
    AnswerPart,
    ConfusionPart,
    Rubric,
    RubricPart,
    RubricTrait,
    Usage,
    VerificationConfig,
    VerificationResult,
)
from tests.runs.fakes import full_result, plain_result, small_benchmark, small_config

MODELS, JUDGES, QUESTIONS = ("lab/a", "lab/b"), ("lab/judge-1", "lab/judge-2"), 4
Make = Callable[..., Any]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("stored") / "store.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    made = Benchmark.create("Stored")
    clarity = RubricTrait(name="Clarity", description="Is it clear?", min_score=0, max_score=10)
    made.set_global_rubric(Rubric(traits=[clarity, RubricTrait(name="Polite", description="Is it?", kind="binary")]))
    for number in range(QUESTIONS):
        made.add_question(f"Question {number}?", "BCL2", question_id=f"q{number}")
    return made


def store_run(store: Store, benchmark: Benchmark, results: list[VerificationResult]) -> str:
    config = VerificationConfig.model_validate(
        {"answering_models": list(MODELS), "parsing_models": list(JUDGES), "replicate_count": 2}
    )
    run_id = store.runs.create(wanted(benchmark, config))
    store.results.save(run_id, results)
    return run_id


def same(stored: pd.DataFrame, full: pd.DataFrame, kind: str, order: list[str]) -> None:
    """Check that two tables hold the same values, in every column that both have."""
    names = [name for name in COLUMNS[kind] if name not in EVIDENCE_ONLY[kind]]  # type: ignore[index]
    assert list(stored.columns) == names
    first, second = (
        table[names].astype(object).where(table.notna(), None).sort_values(order, ignore_index=True)
        for table in (stored, full)
    )
    assert first.to_dict("list") == second.to_dict("list")


RUBRICS = st.builds(
    lambda clarity, polite, found, failed: RubricPart(
        performed=True,
        scores={"Clarity": clarity, "Polite": polite},
        labels={},
        regex={"Cites": polite},
        metrics={"Genes": {"precision": 0.5}} if found else {},
        confusion={"Genes": ConfusionPart(tp=["x"], fp=["y"], undefined=["recall"])} if found else {},
        errors={"Depth": "The judge gave no value."} if failed else {},
        provenance={"Clarity": "global", "Polite": "global", "Cites": "question_specific"},
    ),
    st.integers(0, 10),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
ANSWERED: dict[str, dict[str, Any]] = {
    "just now": {"usage": Usage(cost=0.002, calls=1)},
    "just now, without a price": {"usage": Usage(calls=1)},
    "on this computer": {"source": "local", "usage": Usage(cost=0.0, calls=1)},
    "beforehand": {"source": "recording", "usage": Usage(cost=0.0, calls=1)},
    "by hand": {"source": "manual", "usage": Usage(cost=0.0, calls=1)},
    "before": {
        "source": "ledger",
        "usage": Usage(cost=0.0, calls=1, cached_calls=1),
        "provenance": {"first_call": {"source": "provider", "cost": 0.003}},
    },
    "before, without a price": {
        "source": "ledger",
        "usage": Usage(cost=0.0, calls=1, cached_calls=1),
        "provenance": {"first_call": {"source": "provider", "cost": None}},
    },
}
ROWS = st.fixed_dictionaries(
    {
        "question": st.integers(0, QUESTIONS - 1),
        "model": st.sampled_from(MODELS),
        "parsing_model": st.sampled_from(JUDGES),
        "replicate": st.integers(1, 2),
        "verdict": st.sampled_from(["pass", "fail", "not_evaluated"]),
        "states": st.lists(st.sampled_from([True, False, None]), max_size=3),
        "flagged": st.booleans(),
        "answered": st.sampled_from(list(ANSWERED)),
        "rubric": st.none() | RUBRICS,
    }
)


def built(row: dict[str, Any], result: Make, field: Make, call: Make) -> VerificationResult:
    verdict, rubric = row["verdict"], row["rubric"]
    evaluated = verdict != "not_evaluated"
    made = result(
        f"Question {row['question']}?",
        row["model"],
        verdict,
        row["replicate"],
        fields=[
            *(field(f"field {number}", state) for number, state in enumerate(row["states"])),
            field("own code", True, rule=None),
        ],
        parsing_model=row["parsing_model"],
        rubric=rubric if rubric and evaluated else RubricPart(),
    )
    assert isinstance(made, VerificationResult)
    made.question.id = f"q{row['question']}"
    if evaluated:
        made.answer = AnswerPart(
            text="It is BCL2.", addresses_judge=row["flagged"], call=call(**ANSWERED[row["answered"]])
        )
    return made


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROWS, min_size=1, max_size=16))
def test_columns_tell_what_the_evidence_tells(
    rows: list[dict[str, Any]], store: Store, benchmark: Benchmark, result: Make, field: Make, call: Make
) -> None:
    results = list({item.key: item for item in (built(row, result, field, call) for row in rows)}.values())
    run_id = store_run(store, benchmark, results)
    full = store.results.all(run_id)
    table = stored_results(store, run_id)
    same(table, results_frame(full), "results", ["result_id"])
    assert table["result_id"].to_list() == [item.result_id for item in full]
    same(stored_fields(store, run_id, table), fields_frame(full), "fields", ["result_id", "field"])


def test_traits_tell_values_errors_and_what_is_missing(
    store: Store, benchmark: Benchmark, result: Make, rubric: Make
) -> None:
    part = rubric(
        scores={"Clarity": 7, "Polite": True, "Tone": 1},
        labels={"Tone": "formal"},
        regex={"Cites": False},
        metrics={"Genes": {"precision": 0.5}},
        confusion={"Genes": ConfusionPart(tp=["x"], fp=["y"])},
    )
    failed = rubric(scores={"Clarity": 3}, errors={"Polite": "The judge gave no value."})
    given = [("q0", "pass", part), ("q1", "fail", failed), ("q2", "not_evaluated", RubricPart())]
    results = []
    for name, verdict, traits in given:
        made = result(f"Question {name}?", MODELS[0], verdict, parsing_model=JUDGES[0], rubric=traits)
        made.question.id = name
        results.append(made)
    run_id = store_run(store, benchmark, results)
    stored = stored_traits(store, run_id, stored_results(store, run_id), benchmark)
    clarity = stored[stored["trait"] == "Clarity"].set_index("question_id")
    assert clarity["label"].to_dict() == {"q0": "7", "q1": "3", "q2": ""}
    assert set(clarity["maximum"]) == {10.0} and clarity["higher_is_better"].all()
    everywhere = stored["trait"].isin(["Clarity", "Polite"])
    full = traits_frame(store.results.all(run_id), traits_of(benchmark))
    same(stored[everywhere], full[full["trait"].isin(["Clarity", "Polite"])], "traits", ["result_id", "trait"])


def test_a_trait_that_was_scored_later_has_its_range(
    store: Store, benchmark: Benchmark, result: Make, rubric: Make
) -> None:
    scored = result("Question 0?", MODELS[0], parsing_model=JUDGES[0], rubric=rubric(scores={"Depth": 3}))
    scored.question.id = "q0"
    run_id = store_run(store, benchmark, [scored])
    depth = RubricTrait(name="Depth", description="How deep?", min_score=2, max_score=8, higher_is_better=False)
    note_definition(store, Scoring(run_id, depth))
    table = stored_traits(store, run_id, stored_results(store, run_id), benchmark)
    [row] = table[table["trait"] == "Depth"].to_dict("records")
    assert (row["minimum"], row["maximum"], row["higher_is_better"]) == (2.0, 8.0, False)


def test_runs_of_earlier_versions_are_read_too(
    store: Store, benchmark: Benchmark, result: Make, field: Make, rubric: Make
) -> None:
    metrics = rubric(metrics={"Genes": {"recall": 1.0}}, confusion={"Genes": ConfusionPart(tp=["x", "y"])})
    good = result("Question 0?", MODELS[0], fields=[field("a", True), field("b", None)], rubric=metrics)
    good.question.id, good.parsing_model = "q0", JUDGES[0]
    run_id = store_run(store, benchmark, [good])
    with store.writing() as connection:
        connection.execute(update(field_table).where(field_table.c.run_id == run_id).values(state=None))
        connection.execute(update(score_table).where(score_table.c.run_id == run_id).values(tp=None, fp=None))
    table = stored_results(store, run_id)
    states = stored_fields(store, run_id, table).set_index("field")["state"]
    assert states.to_dict() == {"a": "right"}
    assert stored_traits(store, run_id, table, benchmark)["tp"].to_list() == [2]


def test_a_run_without_results_has_tables_with_columns(store: Store, benchmark: Benchmark) -> None:
    run_id = store_run(store, benchmark, [])
    table = stored_results(store, run_id)
    for kind, found in {
        "results": table,
        "fields": stored_fields(store, run_id, table),
        "traits": stored_traits(store, run_id, table, benchmark),
    }.items():
        assert found.empty
        assert list(found.columns) == [name for name in COLUMNS[kind] if name not in EVIDENCE_ONLY[kind]]  # type: ignore[index]


@pytest.fixture
def runs(tmp_path):
    opened = Store.open(f"sqlite:///{tmp_path / 'runs.db'}")
    yield opened
    opened.close()


def stored(runs, results, name="Run", models=1):
    run_id = runs.runs.create(wanted(small_benchmark(3), small_config(models)), name)
    runs.results.save(run_id, results)
    return run_id


def test_outcomes_are_the_identity_and_the_verdict_of_every_result(runs):
    results = [plain_result("q1"), plain_result("q2", verdict="fail")]
    run_id = stored(runs, results)
    table = outcomes(runs, [run_id, run_id])
    assert set(table["run_id"]) == {run_id}
    expected = results_frame(results)[["result_id", "question_id", "replicate", "status", "verdict"]]
    assert table[expected.columns].to_dict("records") == expected.to_dict("records")


def test_several_runs_are_one_table(runs):
    ids = [stored(runs, [plain_result("q1")], name) for name in ("First", "Second")]
    assert outcomes(runs, ids)["run_id"].to_list() == ids
    assert outcomes(runs, []).empty


def test_states_of_fields_are_those_of_the_results(runs):
    results = [full_result("q1"), full_result("q2")]
    run_id = stored(runs, results)
    expected = fields_frame(results)
    found = field_outcomes(runs, [run_id], outcomes(runs, [run_id]))
    decided = expected[expected.groupby(["question_id", "field"])["result"].transform("count") > 0]
    columns = ["result_id", "field", "state"]
    assert set(map(tuple, found[columns].to_numpy())) == set(map(tuple, decided[columns].to_numpy()))
    assert len(found) == len(decided) > 0


def test_a_field_that_was_not_found_or_not_decided_is_told_apart(runs):
    found, missed, broken = (full_result("q1", replicate=number) for number in (1, 2, 3))
    name = found.template.fields[0].name
    missed.template.fields[0].result = None
    missed.template.fields[0].extracted = None
    missed.template.parsed = {name: None, "other": "found"}
    broken.template.fields[0].result = None
    broken.verdict = "not_evaluated"
    run_id = runs.runs.create(wanted(small_benchmark(1), small_config(replicate_count=3)), "Repeats")
    runs.results.save(run_id, [found, missed, broken])
    table = field_outcomes(runs, [run_id], outcomes(runs, [run_id])).set_index(["field", "replicate"])
    states = table.loc[name, "state"].to_dict()
    assert states == {1: "right", 2: "not_found", 3: "undecided"}


def test_every_question_has_its_text_and_keywords_once(runs):
    run_id = stored(runs, [plain_result("q1"), plain_result("q1", "lab/model-2"), plain_result("q2")], models=2)
    table = question_texts(runs, [run_id]).set_index("question_id")
    assert table["question"].to_dict() == {"q1": "Question q1?", "q2": "Question q2?"}
    assert table["keywords"].to_dict() == {"q1": [], "q2": []}
