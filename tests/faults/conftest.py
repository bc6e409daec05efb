"""A store, a runner and a provider, put together; retries without long waits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from karenina_core.runs.engine.runner import Runner
from karenina_core.runs.store import Store
from tests.faults.openai_server import OpenAIServer
from tests.faults.road import Road, honest
from tests.runs.conftest import any_store, postgres_socket, postgres_url, store

__all__ = ["any_store", "postgres_socket", "postgres_url", "store"]


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait milliseconds where a provider names no time of its own."""
    monkeypatch.setattr("karenina_core.models.pace.retry.FIRST_WAIT", 0.01)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(honest) as opened:
        yield opened


@pytest.fixture
def road(store: Store, server: OpenAIServer) -> Iterator[Road]:
    with Runner(store) as runner:
        yield Road(store, runner, server)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of the store."""
    return tmp_path / "karenina.db"
