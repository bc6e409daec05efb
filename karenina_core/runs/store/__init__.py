"""One database for everything that must survive: SQLite in a file, or PostgreSQL by URL. SQL is written only here."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from sqlalchemy import Engine

from karenina_core.runs.store.annotations import Annotations
from karenina_core.runs.store.benchmarks import BenchmarkRow, Benchmarks
from karenina_core.runs.store.calls import Calls
from karenina_core.runs.store.database import Database, database_url, open_engine
from karenina_core.runs.store.results import Outcome, Results
from karenina_core.runs.store.runs import ACTIVE, RunRow, Runs, RunStatus
from karenina_core.runs.store.settings import Settings, Spending

__all__ = ["ACTIVE", "BenchmarkRow", "Outcome", "RunRow", "RunStatus", "Store"]


class Store(Database):
    """An open store. May be used from any thread; several processes may share one database.

    Attributes:
        benchmarks: Benchmarks and the earlier versions of their questions.
        runs: What runs want, where they stand, what they spent, and which process carries them out.
        results: Results, as objects and as rows.
        calls: Replies of models, by the hash of exactly what was sent.
        spending: What all runs together spent, day by day.
        settings: Named values, presets and prices.
        annotations: Reviews of results.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.spending = Spending(self)
        self.settings = Settings(self)
        self.benchmarks = Benchmarks(self)
        self.runs = Runs(self, self.spending)
        self.results = Results(self, self.runs)
        self.calls = Calls(self)
        self.annotations = Annotations(self)

    @classmethod
    def open(cls, url: str | Path | None = None) -> Self:
        """Open a store, creating it when it does not exist.

        Args:
            url: `sqlite:///FILE`, `postgresql://USER@HOST/NAME` or the path of a SQLite file. When not given, the
                variable `KARENINA_DATABASE_URL` counts, then `karenina.db` in the user's own data folder.

        Raises:
            StoreError: The database is damaged, of a newer version, or cannot be reached.
            MissingDependencyError: The PostgreSQL driver is not installed.
        """
        return cls(open_engine(database_url(url)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
