"""Workspaces stay below their root."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.benchmark import Benchmark, WorkspaceError
from karenina_core.benchmark.workspaces import check_relative, resolve
from karenina_core.errors import InputError
from tests.benchmark.samples import small_benchmark

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
    with pytest.raises(InputError, match="is no folder"):
        Benchmark.load(path, workspace_root=tmp_path / "missing")
