"""The global rubric and those of questions."""

from __future__ import annotations

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from karenina_core.schemas import AnyTrait, ManualRubricTrait, MetricRubricTrait, Rubric, RubricTrait
from tests.benchmark.samples import BH3, CLARITY, LUNGS, POLITE, small_benchmark


@pytest.fixture
def benchmark() -> Benchmark:
    return small_benchmark()


def names(rubric: Rubric | None) -> list[str]:
    return [trait.name for trait in rubric.traits] if rubric else []


def test_the_global_rubric(benchmark: Benchmark) -> None:
    benchmark.set_global_rubric({"name": "New", "traits": [{"name": "A"}]})
    assert benchmark.get_global_rubric() == Rubric(name="New", traits=[RubricTrait(name="A")])
    benchmark.add_global_rubric_trait(BH3)
    assert names(benchmark.get_global_rubric()) == ["A", "BH3"]
    assert benchmark.clear_global_rubric()
    assert not benchmark.clear_global_rubric()
    assert benchmark.get_global_rubric() is None


@pytest.mark.parametrize(
    "trait",
    [
        RubricTrait(name="A", description="\ud800"),
        RubricTrait(name="A", kind="literal", classes={"b": "\udfff", "c": ""}),
        ManualRubricTrait(name="A", pattern="a\ud800"),
        MetricRubricTrait(name="A", metrics=["recall"], tp_instructions=["\ud800"]),
    ],
    ids=["description", "class", "pattern", "instruction"],
)
def test_half_a_surrogate_pair_in_a_trait_is_refused_in_words(benchmark: Benchmark, trait: AnyTrait) -> None:
    before = benchmark.get_global_rubric()
    with pytest.raises(InputError, match="The rubric holds half a surrogate pair"):
        benchmark.set_global_rubric(Rubric(traits=[trait]))
    with pytest.raises(InputError, match="The rubric holds half a surrogate pair"):
        benchmark.add_question_rubric_trait("lungs", trait)
    assert benchmark.get_global_rubric() == before


def test_the_name_of_a_trait_holds_no_half_of_a_surrogate_pair(benchmark: Benchmark) -> None:
    with pytest.raises(InputError, match="The rubric holds half a surrogate pair"):
        benchmark.set_global_rubric({"traits": [{"name": "\ud800"}]})


def test_rubrics_of_questions(benchmark: Benchmark) -> None:
    benchmark.set_question_rubric("lungs", Rubric(name="Own", description="Why", traits=[LUNGS]))
    benchmark.add_question_rubric_trait("lungs", BH3)
    again = Benchmark.from_json(benchmark.to_json()).get_question_rubric("lungs")
    assert again == Rubric(name="Own", description="Why", traits=[LUNGS, BH3])
    assert benchmark.remove_question_rubric("lungs")
    assert not benchmark.remove_question_rubric("lungs")
    assert benchmark["lungs"].question_rubric is None


def test_a_first_trait_makes_a_rubric(benchmark: Benchmark) -> None:
    benchmark.clear_global_rubric()
    benchmark.add_global_rubric_trait(CLARITY)
    benchmark.add_question_rubric_trait("sky", CLARITY)
    assert names(benchmark.get_global_rubric()) == names(benchmark.get_question_rubric("sky")) == ["Clarity"]


def test_names_are_unique_within_a_rubric(benchmark: Benchmark) -> None:
    with pytest.raises(InputError, match="has a trait 'Clarity' already"):
        benchmark.add_global_rubric_trait(CLARITY)
    twice = Rubric(traits=[CLARITY, POLITE])
    twice.traits.append(CLARITY)
    with pytest.raises(InputError, match="unique"):
        benchmark.set_question_rubric("lungs", twice)


def test_rubrics_go_in_and_out_as_copies(benchmark: Benchmark) -> None:
    rubric = Rubric(traits=[CLARITY])
    benchmark.set_global_rubric(rubric)
    rubric.traits.clear()
    benchmark.get_global_rubric().traits.clear()
    assert names(benchmark.get_global_rubric()) == ["Clarity"]


def test_an_empty_rubric_is_none(benchmark: Benchmark) -> None:
    benchmark.set_global_rubric(Rubric())
    assert benchmark.get_global_rubric() is None


def test_a_questions_trait_wins_over_the_global_one_with_a_warning(benchmark: Benchmark) -> None:
    own = CLARITY.model_copy(update={"description": "Own"})
    benchmark.set_question_rubric("lungs", Rubric(traits=[own]))
    merged = benchmark.get_merged_rubric_for_question("lungs")
    assert merged.trait("Clarity") == own
    assert names(merged) == ["Polite", "Clarity"]
    (problem,) = (problem for problem in benchmark.check() if problem.code == "conflict")
    assert (problem.severity, problem.question_id) == ("warning", "lungs")


def test_a_question_without_any_trait_has_no_merged_rubric(benchmark: Benchmark) -> None:
    benchmark.clear_global_rubric()
    assert benchmark.get_merged_rubric_for_question("lungs") is None


def test_all_rubrics_at_once(benchmark: Benchmark) -> None:
    assert benchmark.clear_all_rubrics() == 2
    assert benchmark.clear_all_rubrics() == 0


def test_all_traits_once_the_global_ones_first(benchmark: Benchmark) -> None:
    benchmark.set_question_rubric("lungs", Rubric(traits=[LUNGS, CLARITY.model_copy(update={"description": "Own"})]))
    assert benchmark.all_traits() == [CLARITY, POLITE, BH3, LUNGS]
