"""Optional parts: their tests are skipped on a desk without them, and fail on the build server."""

from __future__ import annotations

import importlib.util
import os

import pytest


def require(*modules: str) -> None:
    """Skip the module of tests when a package is missing; fail when `CI` is set, where none may be missing."""
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing and os.environ.get("CI") == "true":
        raise ImportError(f"{', '.join(missing)} must be installed on the build server")
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed", allow_module_level=True)
