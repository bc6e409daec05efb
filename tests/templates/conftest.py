"""A sandbox with short limits, shared by the tests of this room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from karenina_core.templates import Limits, Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """Yield a sandbox that gives up early."""
    quick = Sandbox(Limits(seconds=0.3, memory=8 * 1024 * 1024), processes=1)
    yield quick
    quick.close()
