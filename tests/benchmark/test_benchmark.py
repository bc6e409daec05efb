"""A benchmark as a container: its header, its way to files and other forms, and finding its questions."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from karenina_core import runs
from karenina_core.benchmark import Benchmark, BenchmarkQuestion, load_checkpoint, question_sheet
from karenina_core.errors import CheckpointError, InputError
from karenina_core.schemas import ModelConfig, Question, VerificationConfig
from tests.benchmark.samples import TEMPLATE, small_benchmark


def test_a_new_benchmark_is_empty_but_there() -> None:
    benchmark = Benchmark.create("New")
    assert (benchmark.name, benchmark.description, benchmark.version) == (
        "New",
        "Questions of the benchmark New.",
        "0.1.0",
    )
    assert benchmark.creator == "Karenina Benchmarking System"
    assert benchmark.created_at == benchmark.modified_at
    assert len(benchmark) == 0
    assert benchmark


def test_a_benchmark_needs_a_name() -> None:
    with pytest.raises(InputError, match="needs a name"):
        Benchmark.create("  ")


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


@pytest.fixture
def benchmark() -> Benchmark:
    return small_benchmark()


def test_metadata_can_be_changed(benchmark: Benchmark) -> None:
    benchmark.name, benchmark.description, benchmark.version = "Other", "About", "2.0.0"
    benchmark.creator = {"@type": "Person", "name": "Ada"}
    again = Benchmark.from_json(benchmark.to_json())
    assert (again.name, again.description, again.version) == ("Other", "About", "2.0.0")
    assert again.creator == {"@type": "Person", "name": "Ada"}
    assert again.modified_at > again.created_at


@pytest.mark.parametrize("field", ["name", "description", "version", "creator"])
def test_half_a_surrogate_pair_is_refused_in_words(benchmark: Benchmark, field: str) -> None:
    before = benchmark.to_json()
    with pytest.raises(InputError, match=f"The benchmark's {field} holds half a surrogate pair"):
        benchmark.set_metadata(**{"name": "New", field: "a\ud800"})
    with pytest.raises(InputError, match=f"The benchmark's {field} holds half a surrogate pair"):
        Benchmark.create(**{"name": "New", field: "a\ud800"})
    assert benchmark.to_json() == before


@pytest.mark.parametrize(("name", "value"), [("a\ud800", 1), ("a", {"b": ["\udfff"]})])
def test_half_a_surrogate_pair_in_a_property_is_refused_in_words(
    benchmark: Benchmark, name: str, value: object
) -> None:
    with pytest.raises(InputError, match="holds half a surrogate pair"):
        benchmark.set_custom_property(name, value)
    assert benchmark.get_all_custom_properties() == {}


def test_counts_and_progress(benchmark: Benchmark) -> None:
    assert (benchmark.question_count, benchmark.finished_count) == (3, 2)
    assert benchmark.get_progress() == pytest.approx(66.67, abs=0.01)
    assert not benchmark.is_complete
    benchmark.mark_finished("sky")
    benchmark.copy_template("sky", "lungs")
    assert benchmark.is_complete
    assert benchmark.get_progress() == 100


def test_custom_properties(benchmark: Benchmark) -> None:
    benchmark.set_custom_property("project", {"id": 3})
    benchmark.set_custom_property("a", 1)
    benchmark.set_custom_property("b", None)
    again = Benchmark.from_json(benchmark.to_json())
    assert again.get_all_custom_properties() == {"project": {"id": 3}, "a": 1, "b": None}
    assert again.remove_custom_property("project")
    assert not again.remove_custom_property("project")
    assert again.get_custom_property("project", "none") == "none"
    assert Benchmark.from_json(again.to_json()).get_all_custom_properties() == {"a": 1, "b": None}


@pytest.mark.parametrize("name", ["", "benchmark_format_version", "global_rubric_traits"])
def test_names_of_the_format_are_reserved(benchmark: Benchmark, name: str) -> None:
    with pytest.raises(InputError, match="reserved"):
        benchmark.set_custom_property(name, 1)


def test_a_dict_is_independent(benchmark: Benchmark) -> None:
    content = benchmark.to_dict()
    content["dataFeedElement"][0]["item"]["text"] = "changed"
    content["additionalProperty"].clear()
    assert benchmark["target"].question == "What is the target of venetoclax?"
    assert benchmark.to_dict() != content


def test_the_table(benchmark: Benchmark) -> None:
    rows = list(csv.reader(io.StringIO(benchmark.to_csv())))
    assert rows[0] == [
        "Question ID",
        "Question",
        "Raw Answer",
        "Has Template",
        "Finished",
        "Author",
        "Created",
        "Modified",
        "Author Email",
        "Author Affiliation",
        "Sources",
    ]
    assert rows[1][:6] == ["target", "What is the target of venetoclax?", "BCL2", "True", "True", "Ada"]
    assert rows[3][3:6] == ["True", "False", ""]


def test_the_document(benchmark: Benchmark) -> None:
    text = benchmark.to_markdown()
    assert text.startswith(
        "# Small\n\nThree questions\n\nVersion 1.0.0\n\n## Global rubric\n\n- **Clarity** (llm): How clear?"
    )
    assert f"```python\n{TEMPLATE.strip()}\n```" in text
    assert "## 3. Why is the sky blue?\n\nAnswer: Scattering\n\n*Unfinished*" in text
    assert "Keywords: anatomy" in text


def test_a_template_with_fences_stays_in_its_block(benchmark: Benchmark) -> None:
    fenced = TEMPLATE.replace('"The protein target."', '"Between ``` signs."')
    benchmark.update_template("target", fenced)
    assert f"````python\n{fenced.strip()}\n````" in benchmark.to_markdown()


@pytest.mark.parametrize(
    ("name", "start"),
    [("b.json", "{"), ("b.jsonld", "{"), ("b.csv", "\ufeffQuestion ID"), ("b.md", "# Small"), ("b.xlsx", "PK")],
)
def test_the_format_follows_from_the_ending(benchmark: Benchmark, tmp_path: Path, name: str, start: str) -> None:
    benchmark.export_to_file(tmp_path / name)
    assert (tmp_path / name).read_bytes().decode("utf-8", "replace").startswith(start)


def test_the_format_can_be_named(benchmark: Benchmark, tmp_path: Path) -> None:
    benchmark.export_to_file(tmp_path / "b.txt", format="markdown")
    assert (tmp_path / "b.txt").read_text().startswith("# Small")


def test_an_unknown_format_is_refused(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no export for 'b\.pdf'"):
        benchmark.export_to_file(tmp_path / "b.pdf")
    with pytest.raises(InputError, match="no export for 'pdf'"):
        benchmark.export_to_file(tmp_path / "b", format="pdf")  # type: ignore[arg-type]


def row_of(benchmark: Benchmark, question_id: str) -> dict[str, Any]:
    """Return the row of a question by column."""
    sheet = question_sheet(benchmark.get_all_questions())
    row = next(row for row in sheet.rows if row[0] == question_id)
    return dict(zip(sheet.header, row, strict=True))


def test_a_row_holds_what_a_person_edits(benchmark: Benchmark) -> None:
    row = row_of(benchmark, "target")
    assert (row["Question"], row["Raw Answer"]) == ("What is the target of venetoclax?", "BCL2")
    assert (row["Keywords"], row["Author"], row["Finished"]) == ("pharmacology", "Ada", True)
    assert (row["Template"], row["metadata: difficulty"]) == (TEMPLATE, "hard")


def test_keywords_are_separated_by_a_sign_none_of_them_holds(benchmark: Benchmark) -> None:
    benchmark.update_question("lungs", keywords=["a", "b"])
    assert row_of(benchmark, "lungs")["Keywords"] == "a; b"
    benchmark.update_question("sky", keywords=["c;d"])
    assert row_of(benchmark, "lungs")["Keywords (separated by vertical bar)"] == "a|b"


def test_sources_stand_on_lines_of_their_own(benchmark: Benchmark) -> None:
    benchmark.update_question("sky", sources=[{"url": "https://a.org"}, {"name": "Smith"}, {"doi": "10/1"}])
    assert row_of(benchmark, "sky")["Sources"] == 'https://a.org\nSmith\n{"doi": "10/1"}'


def ids(questions: Iterable[BenchmarkQuestion]) -> list[str]:
    return [question.id for question in questions]


def test_filters(benchmark: Benchmark) -> None:
    assert ids(benchmark.filter_questions()) == ["target", "lungs", "sky"]
    assert ids(benchmark.filter_questions(finished=True)) == ["target", "lungs"]
    assert ids(benchmark.filter_questions(has_template=False)) == ["lungs"]
    assert ids(benchmark.filter_questions(finished=False, has_template=True)) == ["sky"]
    assert ids(benchmark.filter_questions(custom_filter=lambda question: "lungs" in question.question)) == ["lungs"]
    assert ids(benchmark.filter_questions(author="Ada")) == ["target"]
    assert ids(benchmark.get_questions_with_rubric()) == ["target"]
