"""The global rubric, those of questions, and which trait touches which question."""

from __future__ import annotations

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.benchmark.checks import coverage_of
from karenina_core.errors import InputError
from karenina_core.schemas import AnyTrait, ManualRubricTrait, MetricRubricTrait, Rubric, RubricTrait, StoredTrait
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


def test_rubrics_go_in_and_out_as_copies_and_an_empty_one_is_none(benchmark: Benchmark) -> None:
    rubric = Rubric(traits=[CLARITY])
    benchmark.set_global_rubric(rubric)
    rubric.traits.clear()
    benchmark.get_global_rubric().traits.clear()
    assert names(benchmark.get_global_rubric()) == ["Clarity"]
    benchmark.set_global_rubric(Rubric())
    assert benchmark.get_global_rubric() is None


def test_a_questions_trait_wins_over_the_global_one_with_a_warning(benchmark: Benchmark) -> None:
    own = CLARITY.model_copy(update={"description": "Own"})
    benchmark.set_question_rubric("lungs", Rubric(traits=[own]))
    (problem,) = (problem for problem in benchmark.check() if problem.code == "conflict")
    assert (problem.severity, problem.question_id) == ("warning", "lungs")


def test_all_rubrics_at_once(benchmark: Benchmark) -> None:
    assert benchmark.clear_all_rubrics() == 2
    assert benchmark.clear_all_rubrics() == 0


def test_all_traits_once_the_global_ones_first(benchmark: Benchmark) -> None:
    benchmark.set_question_rubric("lungs", Rubric(traits=[LUNGS, CLARITY.model_copy(update={"description": "Own"})]))
    assert benchmark.all_traits() == [CLARITY, POLITE, BH3, LUNGS]


KEPT = StoredTrait(name="Kept", kind="callable", rating={})


def test_traits_of_all_questions_touch_every_one_and_own_ones_theirs() -> None:
    found = coverage_of(Rubric(traits=[CLARITY]), {"a": None, "b": Rubric(traits=[BH3])})
    assert [found.names(name) for name in "ab"] == [["Clarity"], ["Clarity", "BH3"]]
    assert [(reach.name, reach.scope, reach.questions) for reach in found.reaches] == [
        ("Clarity", "global", 2),
        ("BH3", "own", 1),
    ]
    assert [found.touch("a", name) for name in ("Clarity", "BH3")] == ["global", ""]
    assert found.touch("b", "BH3") == "own"


def test_a_replaced_trait_does_not_touch_the_question() -> None:
    found = coverage_of(Rubric(traits=[CLARITY]), {"a": None, "b": Rubric(traits=[CLARITY])})
    assert found.replaced("b") == ["Clarity"]
    assert found.touch("b", "Clarity") == "own"
    assert (found.reaches[0].questions, found.reaches[0].replaced) == (1, 1)


def test_traits_that_are_only_kept_touch_nothing_and_still_hide() -> None:
    found = coverage_of(Rubric(traits=[KEPT]), {"a": None})
    assert found.untouched == ("a",)
    assert coverage_of(None, {"a": Rubric(traits=[BH3]), "b": None}).untouched == ("b",)
    assert found.reaches[0].questions == 0
    hidden = coverage_of(Rubric(traits=[CLARITY]), {"a": Rubric(traits=[KEPT.model_copy(update={"name": "Clarity"})])})
    assert (hidden.names("a"), hidden.touch("a", "Clarity")) == ([], "")


@pytest.fixture
def two() -> Benchmark:
    made = Benchmark.create("Two")
    for name in "ab":
        made.add_question(f"Question {name}?", "x", question_id=name)
    made.set_global_rubric(Rubric(traits=[CLARITY]))
    made.set_question_rubric("b", Rubric(traits=[BH3]))
    return made


def test_a_benchmark_knows_its_coverage(two: Benchmark) -> None:
    found = two.trait_coverage()
    assert [found.names(name) for name in "ab"] == [["Clarity"], ["Clarity", "BH3"]]
    found.shared[0].name = "Changed"
    assert two.trait_coverage().names("a") == ["Clarity"]


@pytest.mark.parametrize(
    ("name", "question", "said"),
    [
        ("Clarity", "a", "A trait of all questions is named 'Clarity'"),
        ("BH3", "b", "This question has a trait 'BH3' already"),
        ("Clarity", None, "The rubric of all questions has a trait 'Clarity' already"),
        ("BH3", None, "A trait of 'Question b[?]' is named 'BH3'"),
    ],
)
def test_a_name_that_is_in_use_is_refused(two: Benchmark, name: str, question: str | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        two.check_trait_name(name, question)


def test_a_name_in_use_by_many_questions_says_how_many_and_a_free_one_is_fine(two: Benchmark) -> None:
    two.check_trait_name("BH3", "a")
    two.set_question_rubric("a", Rubric(traits=[BH3]))
    with pytest.raises(InputError, match="A trait of 2 questions is named 'BH3'"):
        two.check_trait_name("BH3")
    two.check_trait_name("New")
