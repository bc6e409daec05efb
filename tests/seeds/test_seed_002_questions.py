"""The documented question examples, with only the import root renamed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from pydantic import Field, ValidationError

from karenina_core.benchmark import Benchmark
from karenina_core.schemas.entities import BaseAnswer
from karenina_core.schemas.entities.question import Question


def test_anatomy_of_a_question() -> None:
    q = Question(
        question="What is the putative target of venetoclax?",
        raw_answer="BCL2 (B-cell lymphoma 2)",
        keywords=["pharmacology", "oncology"],
    )
    assert q.question == "What is the putative target of venetoclax?"
    assert q.raw_answer == "BCL2 (B-cell lymphoma 2)"
    assert q.keywords == ["pharmacology", "oncology"]
    assert q.id == hashlib.md5(q.question.encode("utf-8")).hexdigest()


def test_workspace_path_of_an_agentic_task(tmp_path: Path) -> None:
    # workspace_path resolves to workspace_root / "task_01"
    q = Question(
        question="Fix the bug in calculator.py so that division by zero returns an error message.",
        raw_answer="Division by zero handled with try/except",
        workspace_path="task_01",
    )
    (tmp_path / "task_01").mkdir()
    benchmark = Benchmark.create(name="Coding")
    question_id = benchmark.add_question(q)
    benchmark.set_workspace_root(tmp_path)
    assert benchmark.resolve_workspace(question_id) == (tmp_path / "task_01").resolve()


def test_the_workspace_path_is_persisted_and_the_root_is_not(tmp_path: Path) -> None:
    benchmark = Benchmark.create(name="Coding")
    benchmark.add_question("Fix it.", "Fixed", workspace_path="task_01")
    benchmark.set_workspace_root(tmp_path)
    path = benchmark.save(tmp_path / "coding.jsonld")
    assert Benchmark.load(path)[0].workspace_path == "task_01"
    assert Benchmark.load(path).workspace_root is None
    assert Benchmark.load(path, workspace_root=tmp_path).workspace_root == tmp_path


def test_finished_is_membership_and_defaults_to_true() -> None:
    benchmark = Benchmark.create(name="Flags")
    benchmark.add_question("One?", "1")
    benchmark.add_question("Two?", "2", finished=False)
    assert [question.finished for question in benchmark] == [True, False]
    assert "finished" not in Question.model_fields


def test_deterministic_ids() -> None:
    # The ID is deterministic: same text produces same ID
    q1 = Question(question="What is the capital of France?", raw_answer="Paris")
    q2 = Question(question="What is the capital of France?", raw_answer="Paris")
    assert q1.id == q2.id

    # Under the hood: MD5 of the UTF-8 encoded question text
    manual_id = hashlib.md5(b"What is the capital of France?").hexdigest()
    assert manual_id == q1.id
    assert Benchmark.create(name="B").add_question("What is the capital of France?", "Paris") == manual_id


def test_the_id_depends_on_the_prompt_alone() -> None:
    plain = Question(question="What is BCL2?", raw_answer="A protein")
    rich = Question(question="What is BCL2?", raw_answer="Other", keywords=["k"], author={"name": "Ada"})
    assert plain.id == rich.id
    assert plain.id != Question(question="What is bcl2?", raw_answer="A protein").id
    assert plain.id != Question(question="What is BCL2? ", raw_answer="A protein").id


def test_a_custom_id_overrides_the_hash() -> None:
    benchmark = Benchmark.create(name="B")
    old_id = Question(question="What is the captial of France?", raw_answer="Paris").id
    assert benchmark.add_question("What is the capital of France?", "Paris", question_id=old_id) == old_id
    assert benchmark[old_id].id == old_id


# Example: raw_answer vs structured ground_truth
class Answer(BaseAnswer):
    target: str = Field(description="The protein target.")

    def ground_truth(self):  # type: ignore[no-untyped-def]
        # Derived from raw_answer: "BCL2 (B-cell lymphoma 2)"
        self.correct = {"target": "BCL2"}

    def verify(self) -> bool:
        return self.target.strip().upper() == self.correct["target"]  # type: ignore[no-any-return]


def test_raw_answer_and_ground_truth() -> None:
    assert Answer(target=" bcl2 ").verify()
    assert not Answer(target="JAK1").verify()
    benchmark = Benchmark.create(name="B")
    question_id = benchmark.add_question("What is the target?", "BCL2 (B-cell lymphoma 2)", answer_template=Answer)
    assert 'self.correct = {"target": "BCL2"}' in benchmark.get_template(question_id)


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(ValidationError):
        Question(question="Why?", raw_answer="x", answer_note="typo")


def test_legacy_tags_become_keywords() -> None:
    assert Question(question="Why?", raw_answer="x", tags=["a"]).keywords == ["a"]
    assert Question(question="Why?", raw_answer="x", tags=["a"], keywords=["b"]).keywords == ["b"]


def test_metadata_survives_checkpoints(tmp_path: Path) -> None:
    fields = {
        "answer_notes": "Accept 'Bcl2' but not 'BCL-XL'",
        "author": {"name": "Ada"},
        "sources": [{"url": "https://example.org"}],
        "custom_metadata": {"difficulty": "hard"},
        "few_shot_examples": [{"question": "What is JAK1?", "answer": "A kinase"}],
    }
    benchmark = Benchmark.create(name="B")
    question_id = benchmark.add_question("What is BCL2?", "A protein", **fields)
    loaded = Benchmark.load(benchmark.save(tmp_path / "b.jsonld"))[question_id].model_dump()
    assert {name: loaded[name] for name in fields} == fields
