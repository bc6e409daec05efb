"""Fixtures of all tests: no keys, no user folder, a loopback provider on request."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.faults.openai_server import OpenAIServer

# Before litellm is imported anywhere: it would look for its price list on the network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

# A busy machine is no failure.
# The build server tries the same examples every time; new ones are found at the desk.
_CI = os.environ.get("CI") == "true"
settings.register_profile("patient", deadline=None, derandomize=_CI, max_examples=50 if _CI else 100)
settings.load_profile("patient")


_SLOW_ROOMS = ("browser", "faults", "cli", "models")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the rooms whose tests take longest, so that no worker is left alone with them at the end."""
    here = Path(__file__).parent
    items.sort(key=lambda item: item.path.relative_to(here).parts[0] not in _SLOW_ROOMS)


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test its own store and take real keys away."""
    for name in os.environ:
        if name.endswith(("_API_KEY", "_API_BASE")):
            monkeypatch.delenv(name)
    for name in ("SHARED", "ALLOWED_HOSTS", "KEY_VARIABLES", "DAILY_BUDGET", "MAX_CONCURRENT"):
        monkeypatch.delenv(f"KARENINA_{name}", raising=False)
    monkeypatch.setenv("KARENINA_DATABASE_URL", f"sqlite:///{tmp_path / 'karenina.db'}")


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    """Yield a provider on the loopback interface; set its `script`."""
    with OpenAIServer() as server:
        yield server
