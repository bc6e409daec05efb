"""A sandbox with short limits in place of the shared one, also inside of the pipeline."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from karenina_core.templates import Limits, Sandbox


@pytest.fixture(scope="session")
def quick_sandbox() -> Iterator[Sandbox]:
    """Yield a sandbox that gives up early."""
    quick = Sandbox(Limits(seconds=0.3, memory=8 * 1024 * 1024), processes=1)
    yield quick
    quick.close()


@pytest.fixture(autouse=True)
def impatient(quick_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every template of a test run in the quick sandbox."""
    monkeypatch.setattr("karenina_core.templates.template.shared_sandbox", lambda: quick_sandbox)
