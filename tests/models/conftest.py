"""Fixtures of tests of the models room."""

from __future__ import annotations

import pytest

from tests.faults.openai_server import OpenAIServer
from tests.models.ways import WAYS, Way


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, openai_server: OpenAIServer) -> Way:
    """Run a test on both ways to a provider."""
    return Way(request.param, openai_server)


@pytest.fixture
def direct(openai_server: OpenAIServer) -> Way:
    """Run a test on the direct way alone."""
    return Way("OpenAI protocol", openai_server)
