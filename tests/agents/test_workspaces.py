"""Workspaces: originals stay, copies go, and what an agent produced is told."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from karenina_core.agents import open_workspace
from karenina_core.agents import workspaces as module
from karenina_core.errors import InputError


def test_a_copy_lies_beside_the_original_and_goes_with_its_use(root: Path) -> None:
    workspace = open_workspace(root, "task_01")
    assert workspace.path.parent == workspace.origin.parent and workspace.path != workspace.origin
    (workspace.path / "src" / "calculator.py").write_text("def add(a, b):\n    return a + b\n")
    (workspace.path / "result.txt").write_text("fixed\n")
    (workspace.path / "README.md").unlink()
    readme, result, code = workspace.changes()
    assert [(item.path, item.change) for item in (readme, result, code)] == [
        ("README.md", "removed"),
        ("result.txt", "added"),
        ("src/calculator.py", "changed"),
    ]
    assert result.text == "fixed\n" and len(result.sha256 or "") == 64
    assert "-    return a - b\n+    return a + b" in (code.text or "")
    assert (workspace.origin / "README.md").read_text() == "A calculator.\n"
    copied = workspace.path
    del workspace
    gc.collect()
    assert not copied.exists() and (root / "task_01" / "README.md").exists()


def test_a_copy_is_kept_and_an_original_worked_on_only_when_asked_for(root: Path) -> None:
    kept = open_workspace(root, "task_01", keep=True).path
    gc.collect()
    assert kept.exists()
    in_place = open_workspace(root, "task_01", copy=False)
    (in_place.path / "new.txt").write_text("new")
    assert [item.path for item in in_place.changes()] == ["new.txt"]
    del in_place
    gc.collect()
    assert (root / "task_01" / "new.txt").exists()


def test_no_path_means_an_empty_folder(root: Path) -> None:
    workspace = open_workspace(root, None)
    assert list(workspace.path.iterdir()) == [] and workspace.changes() == []
    (workspace.path / "a.txt").write_text("a")
    assert [item.change for item in workspace.changes()] == ["added"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("task_99", "There is no workspace 'task_99'"),
        ("task_01/README.md", "is no folder"),
        ("..", "leads out of the workspace"),
        ("../..", "leads out of the workspace"),
        ("/etc", "leads out of the workspace"),
        ("task_01/../../", "leads out of the workspace"),
        ("away", "leads out of the workspace"),
        ("nul\0", "cannot be used"),
    ],
)
def test_a_workspace_that_is_not_there_or_elsewhere_is_refused_in_words(root: Path, name: str, problem: str) -> None:
    (root / "away").symlink_to(root.parent)
    with pytest.raises(InputError, match=problem):
        open_workspace(root, name)
    assert sorted(path.name for path in root.iterdir()) == ["away", "task_01"]


def test_a_workspace_needs_a_root() -> None:
    with pytest.raises(InputError, match="no workspace root"):
        open_workspace(None, "task_01")


def test_a_workspace_that_is_too_large_is_refused_before_it_is_copied(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 1)
    with pytest.raises(InputError, match="too large"):
        open_workspace(root, "task_01")
    assert [path.name for path in root.iterdir()] == ["task_01"]
