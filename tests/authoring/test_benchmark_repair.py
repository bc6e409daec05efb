"""Fixes applied across a benchmark: to templates, to traits, and to nothing else."""

from __future__ import annotations

from karenina_core.authoring import lint_benchmark, mend
from karenina_core.benchmark import Benchmark
from karenina_core.schemas import Rubric, RubricTrait

UNSOUND = """from karenina_core.schemas.entities import BaseAnswer, VerifiedField
from karenina_core.schemas.primitives import ExactMatch


class Answer(BaseAnswer):
    # why there are two
    target: str = VerifiedField(
        description="The protein that the response names as the target",
        ground_truth=" BCL2",
        verify_with=ExactMatch(normalize=["lowercase", "lowercase"]),
    )
    other: str = VerifiedField(
        description="The drug the question is about, as the response writes it",
        ground_truth="venetoclax",
        verify_with=ExactMatch(normalize=["lowercase", "lowercase", "strip"]),
    )
"""
CODE = "normalizer_without_effect"


def unsound() -> Benchmark:
    benchmark = Benchmark.create("Unsound")
    benchmark.add_question("What is the target?", "BCL2", UNSOUND, question_id="one")
    benchmark.add_question("Which is the target?", "BCL2", UNSOUND, question_id="two")
    return benchmark


def places(benchmark: Benchmark, code: str) -> list[str]:
    return lint_benchmark(benchmark).by_code.get(code, [])


def test_every_finding_of_a_kind_is_mended_everywhere() -> None:
    benchmark = unsound()
    assert places(benchmark, CODE) == ["one", "two"]
    assert mend(benchmark, ["one", "two"], CODE) == 4
    assert places(benchmark, CODE) == []


def test_a_single_field_can_be_mended_alone() -> None:
    benchmark = unsound()
    assert mend(benchmark, ["one"], CODE, "target") == 1
    left = [finding.field for finding in lint_benchmark(benchmark).questions["one"].template if finding.code == CODE]
    assert left == ["other"]


def test_what_a_fix_does_not_concern_stays_as_it_was() -> None:
    benchmark = unsound()
    mend(benchmark, ["one"], CODE)
    assert "# why there are two" in (benchmark.get_template("one") or "")
    assert benchmark.get_template("two") == UNSOUND


def test_a_kind_without_a_fix_changes_nothing() -> None:
    benchmark = unsound()
    assert mend(benchmark, ["one", "two"], "unreadable") == 0
    assert benchmark.get_template("one") == UNSOUND


def test_traits_of_all_questions_and_of_one_are_mended() -> None:
    benchmark = Benchmark.create("Traits")
    benchmark.add_question("What?", "BCL2", question_id="one")
    benchmark.set_global_rubric(Rubric(traits=[RubricTrait(name="clarity", kind="binary")]))
    benchmark.set_question_rubric("one", Rubric(traits=[RubricTrait(name="brevity", kind="binary")]))
    [found] = {finding.code for finding in lint_benchmark(benchmark).rubric if finding.fix}
    assert mend(benchmark, [None, "one"], found) == 2
    overall, own = benchmark.get_global_rubric(), benchmark.get_question_rubric("one")
    assert overall is not None and overall.traits[0].description
    assert own is not None and own.traits[0].description
