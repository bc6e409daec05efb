"""Stores and runners for the tests of this room."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from karenina_core.runs import Engine, Store
from tests.faults.openai_server import OpenAIServer
from tests.faults.road import Road, honest
from tests.runs import postgres
from tests.runs.fakes import Laboratory


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "karenina.db") as opened:
        yield opened


@pytest.fixture(scope="session")
def postgres_socket() -> Iterator[str]:
    if not postgres.FOUND:
        if os.environ.get("CI") == "true":
            pytest.fail("PostgreSQL is not installed, and its tests may not be skipped here")
        pytest.skip("PostgreSQL is not installed")
    with postgres.server() as socket:
        yield socket


@pytest.fixture
def postgres_url(postgres_socket: str) -> str:
    """The address of a new, empty database."""
    import psycopg

    name = f"test_{uuid4().hex[:12]}"
    with psycopg.connect(host=postgres_socket, user="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"postgresql://postgres@/{name}?host={postgres_socket}"


@pytest.fixture(params=["sqlite", "postgresql"])
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """The same test on both databases."""
    url = tmp_path / "karenina.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with Store.open(url) as opened:
        yield opened


@pytest.fixture
def lab() -> Laboratory:
    return Laboratory()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """A provider on the loopback interface that answers and judges rightly."""
    with OpenAIServer(honest) as opened:
        yield opened


@pytest.fixture
def road(store: Store, server: OpenAIServer) -> Iterator[Road]:
    """The whole way of a run, up to that provider."""
    with Engine(store) as runner:
        yield Road(store, runner, server)


@pytest.fixture
def runner(store: Store, lab: Laboratory) -> Iterator[Engine]:
    with Engine(store, lab) as opened:
        yield opened
