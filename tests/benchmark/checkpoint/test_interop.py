"""Files other programs wrote, where they are at hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.schemas import StoredTrait

FOLDER = Path(__file__).parents[3] / "../shared/data/checkpoints"
FILES = sorted(FOLDER.glob("*.jsonld"))
pytestmark = pytest.mark.skipif(not FILES, reason="the interop files are not here")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_only_context_and_format_version_differ_after_saving(path: Path) -> None:
    before = json.loads(path.read_text())
    after = Benchmark.load(path).to_dict()
    for content in (before, after):
        del content["@context"]
        content.pop("additionalProperty", None)
    assert after == before


def test_callables_without_code_are_kept() -> None:
    benchmark = Benchmark.load(FOLDER / "multi_question.jsonld")
    assert (len(benchmark), benchmark.finished_count, benchmark.repairs) == (5, 4, [])
    (trait,) = benchmark.get_global_rubric().traits
    assert isinstance(trait, StoredTrait)
    assert trait.kind == "callable"
    assert benchmark["urn:karenina:test:mq001"].keywords == ["science", "physics", "temperature"]


def test_question_traits_of_a_real_save() -> None:
    benchmark = Benchmark.load(FOLDER / "test_checkpoint.jsonld")
    kinds = [
        trait.type
        for question in benchmark.get_questions_with_rubric()
        for trait in benchmark.get_question_rubric(question.id).traits
    ]
    assert kinds == ["llm", "llm", "regex"]
    assert len(benchmark.get_missing_templates()) == 1
    assert not [problem for problem in benchmark.check() if problem.severity == "error"]
