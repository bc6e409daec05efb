"""Copies of workspaces hold plain files and nothing that leads out of the folder."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from karenina_core.benchmark import Benchmark, WorkspaceError, workspace_copy
from karenina_core.benchmark.workspace_copy import copy_workspace, left_out

posix = pytest.mark.skipif(os.name == "nt", reason="links, pipes and sockets of POSIX systems")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a root with one workspace, `task`, of two files."""
    (tmp_path / "root" / "task" / "data").mkdir(parents=True)
    (tmp_path / "root" / "task" / "start.py").write_text("print(1)")
    (tmp_path / "root" / "task" / "data" / "rows.csv").write_bytes(b"a,b\r\n")
    (tmp_path / "secret").write_text("not yours")
    return tmp_path / "root"


def benchmark(root: Path, **question: Any) -> tuple[Benchmark, str]:
    made = Benchmark.create("Tasks")
    question_id = made.add_question("Fix it.", "Fixed", **question)
    made.set_workspace_root(root)
    return made, question_id


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_copy_is_made_beside_the_workspace_and_the_original_stays(root: Path) -> None:
    made, question_id = benchmark(root, workspace_path="task")
    before = contents(root / "task")
    first, second = made.prepare_workspace(question_id), made.prepare_workspace(question_id)
    assert first.folder.parent == second.folder.parent == (root / "task").resolve().parent
    assert first.folder != second.folder
    assert contents(first.folder) == before
    assert (first.files, first.size, first.left_out) == (2, 13, ())
    (first.folder / "start.py").write_text("changed")
    assert contents(root / "task") == before


def test_a_question_without_a_workspace_gets_an_empty_folder(root: Path) -> None:
    made, question_id = benchmark(root, question_id="urn:uuid:../x")
    folder = made.prepare_workspace(question_id).folder
    assert folder.parent == root and not list(folder.iterdir())
    made.set_workspace_root(None)
    with pytest.raises(WorkspaceError, match="No workspace root"):
        made.prepare_workspace(question_id)


@posix
def test_links_pipes_sockets_and_second_names_are_left_out_and_counted(root: Path) -> None:
    task = root / "task"
    (task / "link").symlink_to(root.parent / "secret")
    (task / "loop").symlink_to(task)
    (task / "dangling").symlink_to("nothing")
    os.mkfifo(task / "data" / "pipe")
    os.link(root.parent / "secret", task / "second name")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(task / "s"))
        made, question_id = benchmark(root, workspace_path="task")
        copy = made.prepare_workspace(question_id)
    assert sorted(copy.left_out) == ["dangling", "data/pipe", "link", "loop", "s", "second name"]
    assert sorted(contents(copy.folder)) == ["data/rows.csv", "start.py"]
    assert all(stat.S_ISREG(path.lstat().st_mode) for path in copy.folder.rglob("*") if not path.is_dir())
    [problem] = [problem for problem in made.check() if problem.code == "workspace"]
    assert problem.severity == "warning"
    assert "6 links or special files" in problem.what


@posix
def test_a_file_that_becomes_a_link_meanwhile_is_left_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def too_late(path: Any, *rest: Any, **more: Any) -> int:
        if path == "start.py":
            (root / "task" / "start.py").unlink()
            (root / "task" / "start.py").symlink_to(root.parent / "secret")
        return opened(path, *rest, **more)

    monkeypatch.setattr(workspace_copy.os, "open", too_late)
    copy = copy_workspace(root / "task", root / "copy")
    assert copy.left_out == ("start.py",)
    assert sorted(contents(copy.folder)) == ["data/rows.csv"]


@posix
def test_a_folder_that_becomes_a_link_meanwhile_is_not_entered(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def too_late(path: Any, *rest: Any, **more: Any) -> int:
        if path == "data" and (root / "task" / "data").is_dir() and not (root / "task" / "data").is_symlink():
            (root / "task" / "data").rename(root / "aside")
            (root / "task" / "data").symlink_to(root.parent)
        return opened(path, *rest, **more)

    monkeypatch.setattr(workspace_copy.os, "open", too_late)
    copy = copy_workspace(root / "task", root / "copy")
    assert sorted(contents(copy.folder)) == ["start.py"]


@pytest.mark.parametrize(
    ("limit", "value", "why"),
    [("MAX_FILES", 2, "more than 2 files"), ("MAX_BYTES", 12, "its files"), ("MAX_DEPTH", 1, "1 folders deep")],
)
def test_what_is_too_large_is_refused_and_nothing_is_left_behind(
    limit: str, value: int, why: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_copy, limit, value)
    with pytest.raises(WorkspaceError, match=why):
        copy_workspace(root / "task", root / "copy")
    assert not (root / "copy").exists()
    with pytest.raises(WorkspaceError, match=why):
        left_out(root / "task")


def test_a_copy_replaces_nothing_and_does_not_hold_itself(root: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot be made"):
        copy_workspace(root / "task", root)
    with pytest.raises(WorkspaceError, match="inside of it"):
        copy_workspace(root / "task", root / "task" / "copy")
    assert sorted(contents(root / "task")) == ["data/rows.csv", "start.py"]
