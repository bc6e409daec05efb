"""The exported notebook really runs, and says the same as the page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from karenina_core.analysis import to_notebook
from karenina_core.schemas import Annotation, AnswerPart
from karenina_core.templates import FieldSpec, TemplateSpec, read_template, write_template

ROOT = Path(__file__).parents[2]
KEY = "sk-proj-0123456789abcdefghij"
HOSTILE = 'quote " \' """ \\ backslash\n{curly} \u2028 \U0001f600 ${x}\n"); raise SystemExit("ran")  # <script>'


def source(rule: dict[str, Any], truth: str = "BCL2") -> str:
    spec = FieldSpec(name="target", description="What it hits", ground_truth=truth, verify_with=rule)
    return write_template(TemplateSpec(fields=[spec]))


EXACT = source({"type": "ExactMatch", "normalize": ["lowercase"]})


def evaluated(result, template: str, value: str, answer: str = "It hits BCL2.", similarity: float | None = None):
    """Return a result as that template decides it."""
    evaluation = read_template(template).evaluate({"target": value}, answer)
    fields = [item.model_copy(update={"similarity": similarity}) for item in evaluation.fields]
    right = evaluation.verdict if similarity is None else similarity >= 0.8
    made = result(verdict="pass" if right else "fail", fields=fields, answer=AnswerPart(text=answer))
    made.template.parsed = dict(evaluation.values)
    return made


def code(data: bytes) -> str:
    cells = json.loads(data)["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def run(data: bytes, tmp_path: Path) -> str:
    """Run all code cells, one after the other, in a process without keys, and return what they print."""
    script = tmp_path / "notebook.py"
    script.write_text(code(data), encoding="utf-8")
    clean = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, script], capture_output=True, encoding="utf-8", env=clean, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_running_it_gives_the_same_verdicts(result, tmp_path: Path) -> None:
    for value, verdict in (("bcl2", "pass"), ("BRAF", "fail")):
        printed = run(to_notebook(evaluated(result, EXACT, value), EXACT), tmp_path)
        assert f"\nverdict: {verdict}\nstored verdict: {verdict}\n" in printed


@pytest.mark.parametrize(("similarity", "verdict"), [(0.9, "pass"), (0.5, "fail"), (0.0, "fail")])
def test_a_similarity_that_was_measured_is_not_measured_again(result, tmp_path, similarity, verdict) -> None:
    template = source({"type": "SemanticMatch", "threshold": 0.8})
    made = evaluated(result, template, "the protein", similarity=similarity)
    assert f"\nverdict: {verdict}\n" in run(to_notebook(made, template), tmp_path)


def test_a_result_without_a_verdict_says_why(result, tmp_path: Path) -> None:
    printed = run(to_notebook(result(verdict="not_evaluated"), EXACT), tmp_path)
    assert "The model took longer than 120 s." in printed
    assert "verdict: not_evaluated" in printed


def test_a_question_without_a_template_runs_too(result, tmp_path: Path) -> None:
    assert "stored verdict: pass" in run(to_notebook(result(template=None)), tmp_path)


def test_a_template_that_cannot_be_read_stops_no_cell(result, tmp_path: Path) -> None:
    printed = run(to_notebook(evaluated(result, EXACT, "BRAF"), "class Answer(:"), tmp_path)
    assert "The template cannot be read:" in printed
    assert "stored verdict: fail" in printed


def test_foreign_text_stays_data_whatever_it_holds(result, tmp_path: Path) -> None:
    review = Annotation(run_id="r", result_id="x", agrees=False, note=HOSTILE, author=HOSTILE)
    made = evaluated(result, EXACT, HOSTILE, HOSTILE)
    data = to_notebook(made, EXACT, [review])
    printed = run(data, tmp_path)
    assert HOSTILE in printed
    assert "verdict: fail" in printed
    for cell in json.loads(data)["cells"]:
        if cell["cell_type"] == "markdown":
            assert "<script>" not in "".join(cell["source"])


def test_no_key_is_in_it(result) -> None:
    assert KEY not in to_notebook(evaluated(result, EXACT, "x", f"My key is {KEY}."), EXACT).decode()


def test_it_has_the_shape_of_a_notebook(result) -> None:
    notebook = json.loads(to_notebook(result(), EXACT))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in notebook["cells"]:
        wanted = {"cell_type", "id", "metadata", "source"}
        code_only = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == wanted | code_only
        assert isinstance(cell["source"], list) and cell["source"]
