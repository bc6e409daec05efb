"""Templates of a benchmark's questions."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas import BaseAnswer
from tests.benchmark.samples import BROKEN_TEMPLATE, OTHER_TEMPLATE, TEMPLATE, small_benchmark


@pytest.fixture
def benchmark() -> Benchmark:
    return small_benchmark()


class Answer(BaseAnswer):
    count: int = Field(description="How many lungs.")

    def ground_truth(self) -> None:
        self.correct = {"count": 2}

    def verify(self) -> bool:
        return bool(self.count == self.correct["count"])


def test_a_template_may_be_source_or_class(benchmark: Benchmark) -> None:
    benchmark.add_answer_template("lungs", TEMPLATE)
    assert benchmark.get_template("lungs") == TEMPLATE
    benchmark.update_template("lungs", Answer)
    assert "count: int" in (benchmark.get_template("lungs") or "")


@pytest.mark.parametrize("source", [BROKEN_TEMPLATE, "x = 1", "import os\nos.system('true')"])
def test_a_template_that_cannot_be_read_is_refused(benchmark: Benchmark, source: str) -> None:
    with pytest.raises(TemplateError):
        benchmark.add_answer_template("target", source)
    assert benchmark.get_template("target") == TEMPLATE


def test_an_empty_template_is_refused(benchmark: Benchmark) -> None:
    with pytest.raises(InputError, match="empty"):
        benchmark.add_answer_template("target", " ")


def test_taking_a_template_away(benchmark: Benchmark) -> None:
    assert benchmark.remove_template("target")
    assert not benchmark.remove_template("target")
    assert (benchmark.has_template("target"), benchmark.get_template("target")) == (False, None)


def test_copying_a_template(benchmark: Benchmark) -> None:
    benchmark.copy_template("target", "lungs")
    assert benchmark.get_template("lungs") == TEMPLATE
    benchmark.remove_template("target")
    with pytest.raises(InputError, match="no template to copy"):
        benchmark.copy_template("target", "lungs")


def test_one_template_for_all_questions_without(benchmark: Benchmark) -> None:
    assert benchmark.get_missing_templates() == ["lungs"]
    assert benchmark.apply_global_template(OTHER_TEMPLATE) == ["lungs"]
    assert benchmark.get_missing_templates() == []
    assert benchmark.get_template("target") == TEMPLATE


def test_templates_of_finished_questions(benchmark: Benchmark) -> None:
    assert benchmark.get_finished_templates() == {"target": TEMPLATE}
    assert benchmark.get_finished_templates(["lungs", "sky"]) == {}


def test_templates_travel_as_json(benchmark: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "templates.json"
    benchmark.export_generated_templates(path)
    other = small_benchmark()
    other.update_template("target", OTHER_TEMPLATE)
    other.remove_template("sky")
    other.remove_question("lungs")
    taken = other.import_generated_templates(path, force_overwrite=False)
    assert taken == {"target": False, "sky": True}
    assert other.get_finished_templates() == {"target": OTHER_TEMPLATE}
    assert other.import_generated_templates(path) == {"target": True, "sky": True}


def test_other_json_holds_no_templates(benchmark: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(InputError, match="does not hold template sources"):
        benchmark.import_generated_templates(tmp_path / "x.json")
