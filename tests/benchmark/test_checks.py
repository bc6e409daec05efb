"""Whether a benchmark and its questions can run; and workspaces, which stay below their root."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.benchmark import UNFINISHED, Benchmark, WorkspaceError, question_states
from karenina_core.benchmark.workspaces import check_relative, resolve
from karenina_core.errors import InputError
from karenina_core.schemas import Rubric, StoredTrait
from tests.benchmark.samples import (
    BROKEN_TEMPLATE,
    CLARITY,
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


def test_a_complete_benchmark_is_valid() -> None:
    benchmark = small_benchmark()
    benchmark.set_global_rubric(Rubric(traits=[POLITE]))
    assert benchmark.validate() == (True, "No errors.")
    assert benchmark.validate_templates() == (True, [])


STORED = StoredTrait(name="Old", kind="callable", rating={"@type": "Rating", "name": "Old"})


def test_every_question_has_a_state_with_its_reason() -> None:
    assert question_states(small_benchmark()) == {
        "target": ("ready", "", ()),
        "lungs": ("ready", "It has no template: only traits are evaluated.", ()),
        "sky": ("draft", UNFINISHED, (UNFINISHED,)),
    }


def test_a_question_that_nothing_decides_has_an_issue() -> None:
    benchmark = Benchmark.create("One")
    name = benchmark.add_question("How many lungs?", "2")
    assert question_states(benchmark)[name].state == "issue"
    benchmark.set_global_rubric(Rubric(traits=[STORED]))
    assert "nothing would be decided" in question_states(benchmark)[name].reason
    benchmark.set_global_rubric(Rubric(traits=[CLARITY]))
    assert question_states(benchmark)[name].state == "ready"


def test_an_unreadable_template_is_an_issue_even_of_a_draft() -> None:
    benchmark = small_benchmark()
    broken = Benchmark.from_json(benchmark.to_json().replace("self.target.strip()", "self.target.strip(("))
    assert TEMPLATE not in [question.answer_template for question in broken]
    states = question_states(broken)
    assert (states["target"].state, states["sky"].state) == ("issue", "issue")
    assert "template cannot be read" in states["sky"].reason


def test_everything_that_is_in_the_way_is_said() -> None:
    benchmark = Benchmark.create("One")
    name = benchmark.add_question("How many lungs?", "2", finished=False)
    nothing, unfinished = question_states(benchmark)[name].obstacles
    assert "nothing would be decided" in nothing
    assert unfinished == UNFINISHED
    benchmark.set_global_rubric(Rubric(traits=[CLARITY]))
    assert question_states(benchmark)[name].obstacles == (unfinished,)


def test_a_trait_that_hides_the_only_evaluated_one_leaves_nothing_to_decide() -> None:
    benchmark = Benchmark.create("One")
    name = benchmark.add_question("How many lungs?", "2")
    benchmark.set_global_rubric(Rubric(traits=[CLARITY]))
    benchmark.set_question_rubric(name, Rubric(traits=[STORED.model_copy(update={"name": CLARITY.name})]))
    assert question_states(benchmark)[name].state == "issue"


def test_the_same_template_is_judged_the_same_wherever_it_stands() -> None:
    benchmark = Benchmark.create("Two")
    broken = benchmark.add_question("First?", "x", TEMPLATE)
    other = benchmark.add_question("Second?", "x", TEMPLATE)
    damaged = Benchmark.from_json(benchmark.to_json().replace("self.target.strip()", "self.target.strip(("))
    errors = [problem for problem in damaged.check() if problem.code == "template"]
    assert [(problem.question_id, problem.where) for problem in errors] == [
        (broken, f"question {broken}"),
        (other, f"question {other}"),
    ]
    assert errors[0].line == errors[1].line is not None


UNSAFE = ["../x", "/etc", "a/../../b", "~", "~root", "C:\\x", "..\\x", "", "a\0b", "x" * 300, "CON", "nul.txt", "a:b"]
UNSAFE += ["task ", "task.", ".", "a//b", "a/", "com1", "a\nb", "a*b"]


@pytest.mark.parametrize("path", UNSAFE)
def test_unsafe_paths_are_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError):
        resolve(tmp_path, path)


@pytest.mark.parametrize("path", ["task_01", "unit/task_01", "Aufgabe ü", ".hidden", "a.b", "console"])
def test_plain_paths_are_allowed(path: str, tmp_path: Path) -> None:
    (tmp_path / path).mkdir(parents=True)
    assert resolve(tmp_path, path) == tmp_path.resolve() / path


@given(st.text(max_size=20))
def test_no_path_leaves_its_root(path: str) -> None:
    try:
        parts = check_relative(path)
    except WorkspaceError:
        return
    root = Path("/root-folder")
    assert Path(os.path.normpath(root.joinpath(*parts))).is_relative_to(root)
    assert "/".join(parts) == path


def test_missing_folders_and_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in ("missing", "file", "file/x"):
        with pytest.raises(WorkspaceError, match="does not exist"):
            resolve(tmp_path, path)


@pytest.mark.skipif(os.name == "nt", reason="making links needs rights there")
def test_links_are_refused_on_every_level(tmp_path: Path) -> None:
    (tmp_path / "real" / "task").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "out").symlink_to("/")
    for path in ("link", "link/task", "real/out"):
        with pytest.raises(WorkspaceError, match="through a link"):
            resolve(tmp_path, path)


def test_the_workspace_of_a_question(tmp_path: Path) -> None:
    (tmp_path / "task_01").mkdir()
    benchmark = small_benchmark()
    assert benchmark.resolve_workspace("lungs") is None
    benchmark.update_question("lungs", workspace_path="task_01")
    with pytest.raises(InputError, match="no workspace root is set"):
        benchmark.resolve_workspace("lungs")
    benchmark.set_workspace_root(tmp_path)
    assert benchmark.resolve_workspace("lungs") == tmp_path.resolve() / "task_01"
    assert benchmark.clone().workspace_root == tmp_path


def test_the_root_is_given_again_when_loading(tmp_path: Path) -> None:
    path = small_benchmark().save(tmp_path / "b")
    assert Benchmark.load(path).workspace_root is None
    assert Benchmark.load(path, workspace_root=tmp_path).workspace_root == tmp_path
    missing = Benchmark.load(path, workspace_root=tmp_path / "missing")
    (problem,) = (problem for problem in missing.check() if problem.code == "workspace")
    assert "is no folder" in problem.what
    assert str(tmp_path) not in missing.to_json()
    missing.workspace_root = tmp_path
    assert "workspace" not in {problem.code for problem in missing.check()}
    made = Benchmark("New", workspace_root=str(tmp_path))
    assert made == Benchmark.create("New", workspace_root=tmp_path) or made.created_at
    assert made.workspace_root == tmp_path
