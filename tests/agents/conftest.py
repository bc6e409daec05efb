"""A workspace with a small project, a key for the loopback provider, and a secret outside."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-agents-0123456789abcdef")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace root with one workspace, beside a file that is nobody's business."""
    folder = tmp_path / "root" / "task_01"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "calculator.py").write_text("def add(a, b):\n    return a - b\n")
    (folder / "README.md").write_text("A calculator.\n")
    (tmp_path / "secret.txt").write_text("the secret")
    return tmp_path / "root"


@pytest.fixture
def workspace(root: Path) -> Path:
    return (root / "task_01").resolve()
