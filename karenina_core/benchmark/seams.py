"""The only calls upwards in the house.

`benchmark.run_verification(...)` and `benchmark.generate_all_templates(...)` read naturally, yet running belongs to
rooms above this one. Binding those two verbs by name, when they are called, keeps the benchmark importable and
testable without models, and the imports pointing downwards everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

RUN_VERIFICATION = "karenina_core.runs.verification:run_verification"
GENERATE_ALL_TEMPLATES = "karenina_core.runs.drafting.calls:generate_all_templates"


def upward(name: str) -> Callable[..., Any]:
    """Return the function of that name, written as `module:function`."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
