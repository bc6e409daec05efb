"""A benchmark as a container, and its way to a file and back."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from karenina_core import runs
from karenina_core.benchmark import Benchmark, load_checkpoint
from karenina_core.errors import CheckpointError, InputError
from karenina_core.schemas import ModelConfig, Question, VerificationConfig
from tests.benchmark.samples import document, item, small_benchmark


def test_a_new_benchmark_is_empty_but_there() -> None:
    benchmark = Benchmark.create("New")
    assert (benchmark.name, benchmark.description, benchmark.version) == ("New", "", "0.1.0")
    assert benchmark.creator == "Karenina Benchmarking System"
    assert benchmark.created_at == benchmark.modified_at
    assert len(benchmark) == 0
    assert benchmark


def test_a_benchmark_needs_a_name() -> None:
    with pytest.raises(InputError, match="needs a name"):
        Benchmark.create("  ")


def test_iterating_gives_questions() -> None:
    benchmark = small_benchmark()
    assert all(isinstance(question, Question) for question in benchmark)
    assert [question.id for question in benchmark] == ["target", "lungs", "sky"]
    assert len(benchmark) == 3


def test_questions_are_found_by_id_position_and_slice() -> None:
    benchmark = small_benchmark()
    assert benchmark["lungs"].question == "How many lungs?"
    assert benchmark[-1].id == "sky"
    assert [question.id for question in benchmark[:2]] == ["target", "lungs"]
    assert benchmark[hashlib.md5(b"How many lungs?").hexdigest()].id == "lungs"


def test_an_unknown_question_is_named() -> None:
    benchmark = small_benchmark()
    with pytest.raises(KeyError, match="no question 'x'"):
        benchmark["x"]
    with pytest.raises(InputError, match="no question 'x'"):
        benchmark.get_question("x")
    with pytest.raises(IndexError):
        benchmark[3]


def test_membership_is_by_id_or_question() -> None:
    benchmark = small_benchmark()
    assert "lungs" in benchmark
    assert benchmark["lungs"] in benchmark
    assert Question(question="How many lungs?", raw_answer="two") in benchmark
    assert Question(question="Another?", raw_answer="x") not in benchmark
    assert "x" not in benchmark
    assert 3 not in benchmark


def test_equality_is_by_content() -> None:
    benchmark = small_benchmark()
    copy = benchmark.clone()
    assert copy == benchmark
    copy.mark_unfinished("lungs")
    assert copy != benchmark
    assert benchmark["lungs"].finished
    assert benchmark != "text"


def test_a_question_of_a_benchmark_equals_the_plain_one() -> None:
    question = Question(question="Why?", raw_answer="Because", keywords=["k"])
    benchmark = Benchmark.create("B")
    benchmark.add_question(question)
    assert benchmark[0] == question
    assert question == benchmark[0]
    assert benchmark[0] != "text"


def test_questions_are_read_only() -> None:
    with pytest.raises(ValueError, match="frozen"):
        small_benchmark()["lungs"].raw_answer = "3"


def test_it_says_what_it_is() -> None:
    assert repr(small_benchmark()) == "<Benchmark 'Small': 3 questions, 2 finished>"


def test_saving_and_loading(tmp_path: Path) -> None:
    benchmark = small_benchmark()
    path = benchmark.save(tmp_path / "small")
    assert path.name == "small.jsonld"
    assert Benchmark.load(path) == benchmark
    assert benchmark.save(tmp_path / "small.json").name == "small.json"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["small.json", "small.jsonld"]


def test_loading_by_path_or_bytes_gives_repairs(tmp_path: Path) -> None:
    path = small_benchmark().save(tmp_path / "small")
    for source in (path, str(path), path.read_bytes()):
        benchmark, repairs = load_checkpoint(source)
        assert (len(benchmark), repairs) == (3, [])


def test_a_file_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError) as caught:
        Benchmark.load(tmp_path / "missing.jsonld")
    assert caught.value.code == "unreadable"


def test_what_json_cannot_hold_is_refused_and_the_file_stays(tmp_path: Path) -> None:
    benchmark = small_benchmark()
    path = benchmark.save(tmp_path / "small")
    benchmark.set_custom_property("ratio", float("nan"))
    with pytest.raises(CheckpointError) as caught:
        benchmark.save(path)
    assert caught.value.code == "json"
    assert len(Benchmark.load(path)) == 3


def test_loading_and_saving_does_not_count_as_change() -> None:
    benchmark = Benchmark.from_json(small_benchmark().to_json())
    before = benchmark.modified_at
    benchmark.to_json()
    assert benchmark.modified_at == before
    benchmark.mark_unfinished("lungs")
    assert benchmark.modified_at > before


def test_an_unreadable_template_is_kept_and_reported() -> None:
    import json

    node = item(hasPart={"@type": "SoftwareSourceCode", "text": "class Answer(", "programmingLanguage": "Python"})
    benchmark = Benchmark.from_json(json.dumps(document(node)))
    assert benchmark[0].answer_template == "class Answer("
    (problem,) = (problem for problem in benchmark.check() if problem.code == "template")
    assert problem.severity == "error"
    assert problem.line == 1


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    made: list[Any] = []

    def function(*arguments: Any, **options: Any) -> Any:
        made.append((arguments, options))
        return {"lungs": "drafted"}

    for name in ("run_verification", "generate_all_templates"):
        assert callable(getattr(runs, name))
        monkeypatch.setattr(runs, name, function)
    return made


def test_running_is_handed_to_the_package_above(calls: list[Any]) -> None:
    benchmark = small_benchmark()
    config = VerificationConfig(answering_models=["local"], parsing_models=["local"])
    benchmark.run_verification(config, ["lungs"], run_name="first", ledger="x")
    assert calls == [((benchmark, config, ["lungs"], "first", None, None), {"ledger": "x"})]


def test_drafting_templates_is_handed_to_the_package_above(calls: list[Any]) -> None:
    benchmark, model = small_benchmark(), ModelConfig.parse("local")
    benchmark.generate_all_templates(model_config=model)
    assert benchmark.generate_template_for_question("lungs", model, force_regenerate=True) == "drafted"
    assert calls == [
        ((benchmark, model), {}),
        ((benchmark, model), {"question_ids": ["lungs"], "force_regenerate": True}),
    ]
