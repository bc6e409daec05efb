"""A benchmark in other forms."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from tests.benchmark.samples import TEMPLATE, small_benchmark


@pytest.fixture
def benchmark() -> Benchmark:
    return small_benchmark()


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
    ]
    assert rows[1][:6] == ["target", "What is the target of venetoclax?", "BCL2", "True", "True", "Ada"]
    assert rows[3][3:6] == ["True", "False", ""]


def test_no_cell_of_the_table_is_a_formula(benchmark: Benchmark) -> None:
    benchmark.update_question("lungs", question="=HYPERLINK(1)", raw_answer="-2")
    row = list(csv.reader(io.StringIO(benchmark.to_csv())))[2]
    assert row[1:3] == ["'=HYPERLINK(1)", "-2"]


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
    ("name", "start"), [("b.json", "{"), ("b.jsonld", "{"), ("b.csv", "\ufeffQuestion ID"), ("b.md", "# Small")]
)
def test_the_format_follows_from_the_ending(benchmark: Benchmark, tmp_path: Path, name: str, start: str) -> None:
    benchmark.export_to_file(tmp_path / name)
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_the_format_can_be_named(benchmark: Benchmark, tmp_path: Path) -> None:
    benchmark.export_to_file(tmp_path / "b.txt", format="markdown")
    assert (tmp_path / "b.txt").read_text().startswith("# Small")


def test_an_unknown_format_is_refused(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no export for 'b\.pdf'"):
        benchmark.export_to_file(tmp_path / "b.pdf")
    with pytest.raises(InputError, match="no export for 'pdf'"):
        benchmark.export_to_file(tmp_path / "b", format="pdf")  # type: ignore[arg-type]
