from __future__ import annotations

import pytest

from karenina_core.errors import InputError
from karenina_core.runs import Store, all_keywords, choose_questions, questions_of, wanted
from tests.runs.fakes import failure_of, plain_result, small_benchmark, small_config


@pytest.fixture
def run_id(store: Store) -> str:
    """One question passes, one fails with one of two models, one breaks down, one is declined."""
    run_id = store.runs.create(wanted(small_benchmark(5), small_config(2)))
    store.results.save(
        run_id,
        [
            plain_result("q1"),
            plain_result("q3", failure=failure_of("timeout")),
            plain_result("q2", verdict="fail"),
            plain_result("q2", "lab/model-2"),
            plain_result("q4", verdict="not_evaluated"),
        ],
    )
    return run_id


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["fail"], ["q2"]),
        (["error"], ["q3"]),
        (["not_evaluated"], ["q3", "q4"]),
        (["fail", "error"], ["q2", "q3"]),
        (["pass"], ["q1", "q2"]),
        ([], []),
    ],
)
def test_questions_are_found_by_how_they_fared(
    store: Store, run_id: str, verdicts: list[str], expected: list[str]
) -> None:
    assert questions_of(store, run_id, verdicts) == expected


def test_an_unknown_verdict_or_run_is_named(store: Store, run_id: str) -> None:
    with pytest.raises(InputError, match="'wrong'"):
        questions_of(store, run_id, ["wrong"])
    with pytest.raises(InputError, match="'gone'"):
        questions_of(store, "gone")


def test_conditions_narrow_each_other_and_keep_the_order() -> None:
    benchmark = small_benchmark(3)
    benchmark.add_question("Which gas?", "Neon", question_id="gas", keywords=["Noble", "easy"])
    benchmark.add_question("Which metal?", "Iron", question_id="metal", keywords=["easy"])
    assert all_keywords(benchmark) == ["easy", "Noble"]
    assert choose_questions(benchmark, keywords=["noble", "hard"]) == ["gas"]
    assert choose_questions(benchmark, keywords=["easy"], search="iron") == ["metal"]
    assert choose_questions(benchmark, question_ids=["metal", "q1", "metal"]) == ["q1", "metal"]
    assert len(choose_questions(benchmark)) == 5


def test_unknown_ids_are_kept_so_that_the_plan_names_them() -> None:
    benchmark = small_benchmark(2)
    chosen = choose_questions(benchmark, question_ids=["q2", "gone"])
    assert wanted(benchmark, small_config(), chosen).skipped == (("gone", "not in this benchmark"),)
