"""A pattern over the stored answers of a run."""

from __future__ import annotations

from itertools import count

import pytest

from karenina_core.runs import RunAnswer, Store, run_answers, search_answers
from karenina_core.schemas import ManualRubricTrait, ModelConfig
from tests.runs.fakes import plain_result
from tests.runs.scored import finished_run

JUDGES = [ModelConfig(model_name="lab/one"), ModelConfig(model_name="lab/two")]


@pytest.fixture
def run_id(store: Store) -> str:
    return finished_run(store, JUDGES, models=2)


def test_every_answer_comes_once_however_many_judges(store: Store, run_id: str) -> None:
    found = run_answers(store, run_id)
    assert len(found.answers) == 6
    assert not found.cut
    assert found.answers[0].text == "It is q1 by lab/model-1."
    assert store.results.get(run_id, found.answers[0].result_id).parsing_model == "lab/one"
    assert found.answers[0].sample.question == "Question q1?"


def test_only_some_questions_or_so_many(store: Store, run_id: str) -> None:
    assert {answer.question_id for answer in run_answers(store, run_id, ["q2"]).answers} == {"q2"}
    assert run_answers(store, run_id, most=4).cut
    assert not run_answers(store, run_id, most=6).cut


def test_rows_without_an_answer_are_left_out(store: Store, run_id: str) -> None:
    store.results.save(run_id, [plain_result("q1", "lab/model-1", "lab/one")])
    assert len(run_answers(store, run_id).answers) == 5


def answers(*texts: str) -> list[RunAnswer]:
    return [RunAnswer(str(number), "q", "?", f"m{number % 2}", 1, text) for number, text in enumerate(texts)]


def test_matches_are_counted_by_model() -> None:
    report = search_answers(ManualRubricTrait(name="T", pattern="ab"), answers("ab ab", "x", "ab"))
    assert [(item.spans, item.passes) for item in report.searched] == [
        (((0, 2), (3, 5)), True),
        ((), False),
        (((0, 2),), True),
    ]
    assert {model: len(items) for model, items in report.by_model().items()} == {"m0": 2, "m1": 1}


def test_case_and_inversion_count() -> None:
    trait = ManualRubricTrait(name="T", pattern="ab", case_sensitive=False, invert=True)
    assert [item.passes for item in search_answers(trait, answers("AB", "x")).searched] == [False, True]


def test_a_pattern_that_hangs_ends_the_search_with_the_reason() -> None:
    report = search_answers(ManualRubricTrait(name="T", pattern="(a|a)+$"), answers("a", "a" * 40 + "b", "a"))
    assert (len(report.searched), report.total) == (1, 3)
    assert "took too long" in report.problem


def test_many_answers_share_one_budget() -> None:
    ticks = count(step=3)
    report = search_answers(ManualRubricTrait(name="T", pattern="a"), answers(*"aaaa"), clock=lambda: next(ticks))
    assert (len(report.searched), report.problem) == (1, "The search was stopped after 5 s.")
