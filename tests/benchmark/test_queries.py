"""Finding questions."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.errors import InputError
from tests.benchmark.samples import small_benchmark


@pytest.fixture
def benchmark() -> Benchmark:
    return small_benchmark()


def ids(questions: Iterable[BenchmarkQuestion]) -> list[str]:
    return [question.id for question in questions]


def test_filters(benchmark: Benchmark) -> None:
    assert ids(benchmark.filter_questions()) == ["target", "lungs", "sky"]
    assert ids(benchmark.filter_questions(finished=True)) == ["target", "lungs"]
    assert ids(benchmark.filter_questions(has_template=False)) == ["lungs"]
    assert ids(benchmark.filter_questions(finished=False, has_template=True)) == ["sky"]
    assert ids(benchmark.filter_questions(custom_filter=lambda question: "lungs" in question.question)) == ["lungs"]
    assert ids(benchmark.get_questions_by_author("Ada")) == ["target"]
    assert ids(benchmark.get_questions_with_rubric()) == ["target"]


def test_filters_by_metadata(benchmark: Benchmark) -> None:
    assert ids(benchmark.filter_by_metadata("author.name", "Ben")) == ["lungs"]
    assert ids(benchmark.filter_by_metadata("keywords", "anatomy", "contains")) == ["lungs"]
    assert ids(benchmark.filter_by_metadata("question", "sky", "contains")) == ["sky"]
    assert ids(benchmark.filter_by_metadata("author.name", ["Ada", "Ben"], "in")) == ["target", "lungs"]
    assert ids(benchmark.filter_by_metadata("raw_answer", r"^\d$", "regex")) == ["lungs"]
    assert ids(benchmark.filter_by_metadata("custom_metadata.difficulty", "hard")) == ["target"]
    with pytest.raises(InputError, match="no match mode"):
        benchmark.filter_by_metadata("question", "x", "like")  # type: ignore[arg-type]


def test_filters_by_custom_metadata(benchmark: Benchmark) -> None:
    benchmark.set_question_custom_property("sky", "topic", "physics")
    assert ids(benchmark.filter_by_custom_metadata(difficulty="hard")) == ["target"]
    assert ids(benchmark.filter_by_custom_metadata(match_all=False, difficulty="hard", topic="physics")) == [
        "target",
        "sky",
    ]
    assert ids(benchmark.filter_by_custom_metadata(difficulty="hard", topic="physics")) == []


def test_searches(benchmark: Benchmark) -> None:
    assert ids(benchmark.search_questions("VENETOCLAX")) == ["target"]
    assert ids(benchmark.search_questions("VENETOCLAX", case_sensitive=True)) == []
    assert ids(benchmark.search_questions("bcl2")) == ["target"]
    assert ids(benchmark.search_questions(["sky", "blue"])) == ["sky"]
    assert ids(benchmark.search_questions(["sky", "lungs"], match_all=False)) == ["lungs", "sky"]
    assert ids(benchmark.search_questions("anatomy")) == ["lungs"]
    assert ids(benchmark.search_questions(r"^(how|why)", regex=True)) == ["lungs", "sky"]
    assert ids(benchmark.search_questions("how", regex=True, case_sensitive=True)) == []
    assert ids(benchmark.search_questions("hard", fields=["custom_metadata.difficulty"])) == ["target"]


def test_counts(benchmark: Benchmark) -> None:
    benchmark.update_question("sky", keywords=["anatomy", "physics"])
    assert benchmark.count_by_field("keywords") == {"anatomy": 2, "pharmacology": 1, "physics": 1}
    assert benchmark.count_by_field("author.name") == {"Ada": 1, "Ben": 1}
    assert benchmark.count_by_field("finished") == {"True": 2, "False": 1}
