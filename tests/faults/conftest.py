"""A store, a runner and a provider, put together; retries without long waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runs.conftest import any_store, postgres_socket, postgres_url, road, server, store

__all__ = ["any_store", "postgres_socket", "postgres_url", "road", "server", "store"]


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait milliseconds where a provider names no time of its own."""
    monkeypatch.setattr("karenina_core.models.caller.FIRST_WAIT", 0.01)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of the store."""
    return tmp_path / "karenina.db"
