"""One database for everything that must survive: SQLite in a file, or PostgreSQL by URL."""

from karenina_core.runs.store.benchmarks import BenchmarkRow
from karenina_core.runs.store.results import Outcome
from karenina_core.runs.store.run_row import ACTIVE, RunRow, RunStatus
from karenina_core.runs.store.store import Store

__all__ = ["ACTIVE", "BenchmarkRow", "Outcome", "RunRow", "RunStatus", "Store"]
