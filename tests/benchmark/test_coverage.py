"""Which trait touches which question."""

from __future__ import annotations

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.benchmark.checks import coverage_of
from karenina_core.errors import InputError
from karenina_core.schemas import ManualRubricTrait, Rubric, RubricTrait, StoredTrait

CLARITY = RubricTrait(name="Clarity", description="How clear?")
BH3 = ManualRubricTrait(name="BH3", pattern="BH3")
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
    assert found.reaches[0].questions == 0
    hidden = coverage_of(Rubric(traits=[CLARITY]), {"a": Rubric(traits=[KEPT.model_copy(update={"name": "Clarity"})])})
    assert (hidden.names("a"), hidden.touch("a", "Clarity")) == ([], "")


def test_questions_without_any_trait_are_named() -> None:
    assert coverage_of(None, {"a": Rubric(traits=[BH3]), "b": None}).untouched == ("b",)


def test_no_rubric_at_all() -> None:
    found = coverage_of(None, {"a": None})
    assert (found.reaches, found.untouched) == ((), ("a",))


@pytest.fixture
def benchmark() -> Benchmark:
    made = Benchmark.create("Two")
    for name in "ab":
        made.add_question(f"Question {name}?", "x", question_id=name)
    made.set_global_rubric(Rubric(traits=[CLARITY]))
    made.set_question_rubric("b", Rubric(traits=[BH3]))
    return made


def test_a_benchmark_knows_its_coverage(benchmark: Benchmark) -> None:
    found = benchmark.trait_coverage()
    assert [found.names(name) for name in "ab"] == [["Clarity"], ["Clarity", "BH3"]]
    found.shared[0].name = "Changed"
    assert benchmark.trait_coverage().names("a") == ["Clarity"]


@pytest.mark.parametrize(
    ("name", "question", "said"),
    [
        ("Clarity", "a", "A trait of all questions is named 'Clarity'"),
        ("BH3", "b", "This question has a trait 'BH3' already"),
        ("Clarity", None, "The rubric of all questions has a trait 'Clarity' already"),
        ("BH3", None, "A trait of 'Question b[?]' is named 'BH3'"),
    ],
)
def test_a_name_that_is_in_use_is_refused(benchmark: Benchmark, name: str, question: str | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        benchmark.check_trait_name(name, question)


def test_a_name_in_use_by_many_questions_says_how_many(benchmark: Benchmark) -> None:
    benchmark.set_question_rubric("a", Rubric(traits=[BH3]))
    with pytest.raises(InputError, match="A trait of 2 questions is named 'BH3'"):
        benchmark.check_trait_name("BH3")


def test_a_free_name_is_fine(benchmark: Benchmark) -> None:
    benchmark.check_trait_name("BH3", "a")
    benchmark.check_trait_name("New")
