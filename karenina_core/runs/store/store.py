"""The store: one database for benchmarks, runs, results, model calls and settings."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from karenina_core.runs.store.annotations import Annotations
from karenina_core.runs.store.benchmarks import Benchmarks
from karenina_core.runs.store.calls import Calls
from karenina_core.runs.store.engine import database_url, open_engine
from karenina_core.runs.store.leases import Leases
from karenina_core.runs.store.lookups import Lookups
from karenina_core.runs.store.results import Results
from karenina_core.runs.store.settings import Settings
from karenina_core.runs.store.trait_values import TraitValues


class Store(Benchmarks, Results, Calls, Lookups, Leases, Settings, Annotations, TraitValues):
    """An open store. May be used from any thread; several processes may share one database."""

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
