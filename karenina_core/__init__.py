"""Karenina Workbench: build, run and explore LLM benchmarks whose verdicts are decided by code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karenina_core.analysis import to_dataframe
    from karenina_core.benchmark import Benchmark

__version__ = "0.1.0"
__all__ = ["Benchmark", "__version__", "to_dataframe"]


def __getattr__(name: str) -> Any:
    # On first use, so that importing the package stays quick.
    if name == "Benchmark":
        from karenina_core.benchmark import Benchmark

        return Benchmark
    if name == "to_dataframe":
        from karenina_core.analysis import to_dataframe

        return to_dataframe
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
