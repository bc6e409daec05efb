"""Whether a benchmark can run."""

from __future__ import annotations

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.schemas import Rubric
from tests.benchmark.samples import (
    BROKEN_TEMPLATE,
    POLITE,
    TEMPLATE,
    document,
    item,
    load,
    prop,
    rating,
    small_benchmark,
)

SEMANTIC = """class Answer(BaseAnswer):
    mood: str = VerifiedField(description="The mood", ground_truth="calm", verify_with=SemanticMatch())
"""


def codes(benchmark: Benchmark) -> set[str]:
    return {problem.code for problem in benchmark.check()}


def broken() -> Benchmark:
    part = {"@type": "SoftwareSourceCode", "text": BROKEN_TEMPLATE, "programmingLanguage": "Python"}
    return load(document(item(hasPart=part), rating=[rating("GlobalRegexTrait")]))


def test_an_empty_benchmark_cannot_run() -> None:
    (problem,) = Benchmark.create("Empty").check()
    assert (problem.severity, problem.code) == ("error", "empty")


def test_a_benchmark_without_finished_questions_cannot_run() -> None:
    benchmark = small_benchmark()
    benchmark.mark_unfinished_batch(benchmark.get_question_ids())
    assert "No question is finished" in benchmark.check()[0].what
    assert not benchmark.check_readiness()["ready"]


def test_problems_are_sorted_by_severity() -> None:
    benchmark = broken()
    benchmark.add_question("Second?", "x", finished=False)
    severities = [problem.severity for problem in benchmark.check()]
    assert severities == ["error", "warning", "warning", "info"]


def test_an_unreadable_template_is_an_error_with_a_line() -> None:
    fine, problems = broken().validate_templates()
    assert not fine
    assert (problems[0].severity, problems[0].line) == ("error", 1)
    assert "Its template cannot be read" in str(problems[0])
    assert broken().validate() == (False, str(problems[0]))


def test_an_unusable_trait_is_a_warning() -> None:
    fine, problems = broken().validate_rubrics()
    assert not fine
    assert "it has no pattern" in problems[0].what
    assert small_benchmark().validate_rubrics() == (True, [])


def test_a_trait_that_is_kept_only_is_mentioned() -> None:
    benchmark = load(document(item(), rating=[rating("GlobalCallableTrait", prop("callable_code", "x"))]))
    (problem,) = (problem for problem in benchmark.check() if problem.code == "trait")
    assert problem.severity == "info"
    assert "never loaded" in problem.what
    assert benchmark.validate_rubrics()[0]


def test_missing_templates_and_unfinished_questions_are_mentioned() -> None:
    problems = {(problem.question_id, problem.code, problem.severity) for problem in small_benchmark().check()}
    assert problems == {("lungs", "no_template", "warning"), ("sky", "unfinished", "info")}


def test_semantic_fields_need_the_embedding_check() -> None:
    benchmark = small_benchmark()
    benchmark.update_template("target", SEMANTIC)
    (problem,) = (problem for problem in benchmark.check() if problem.code == "embeddings")
    assert "SemanticMatch decides mood" in problem.what


def test_workspaces_are_checked(tmp_path: object) -> None:
    benchmark = load(document(item(additionalProperty=[prop("finished", True), prop("workspace_path", "../x")])))
    (problem,) = (problem for problem in benchmark.check() if problem.code == "workspace")
    assert problem.severity == "error"
    benchmark.update_question(benchmark[0].id, workspace_path="task_01")
    assert "workspace" not in codes(benchmark)
    benchmark.set_workspace_root(str(tmp_path))
    assert "workspace" in codes(benchmark)


def test_readiness_counts_what_would_run() -> None:
    benchmark = small_benchmark()
    assert benchmark.check_readiness()["runnable_questions"] == 2
    benchmark.clear_all_rubrics()
    readiness = benchmark.check_readiness()
    assert (readiness["ready"], readiness["runnable_questions"]) == (True, 1)
    benchmark.add_question_rubric_trait("lungs", POLITE)
    assert benchmark.check_readiness()["runnable_questions"] == 2


def test_the_summary() -> None:
    summary = small_benchmark().get_summary()
    wanted = {"name": "Small", "question_count": 3, "finished_count": 2, "template_count": 2, "global_trait_count": 2}
    assert wanted.items() <= summary.items()
    assert (summary["question_rubric_count"], summary["is_complete"]) == (1, False)


def test_the_statistics() -> None:
    statistics = small_benchmark().get_statistics()
    assert statistics["question_length"]["min"] == len("How many lungs?")
    assert statistics["template_length"]["mean"] == len(TEMPLATE)
    assert statistics["keyword_count"] == 2
    assert Benchmark.create("Empty").get_statistics()["question_length"]["max"] == 0


@pytest.mark.parametrize(
    ("finished", "templates", "score", "quality"),
    [(0, 3, 60, "fair"), (3, 3, 100, "excellent"), (3, 2, 75, "good")],
)
def test_the_health_report(finished: int, templates: int, score: float, quality: str) -> None:
    benchmark = Benchmark.create("B")
    for number in range(3):
        template = TEMPLATE if number < templates else None
        benchmark.add_question(f"{number}?", "x", template, finished=number < finished)
    report = benchmark.get_health_report()
    assert (report.score, report.quality) == (score, quality)


def test_the_health_of_nothing_is_critical() -> None:
    report = Benchmark.create("Empty").get_health_report()
    assert (report.score, report.quality) == (15, "critical")


def test_a_complete_benchmark_is_valid() -> None:
    benchmark = small_benchmark()
    benchmark.set_global_rubric(Rubric(traits=[POLITE]))
    assert benchmark.validate() == (True, "No errors.")
    assert benchmark.validate_templates() == (True, [])
