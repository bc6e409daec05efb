"""Small things to remember by name, and what was spent each day."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Float, Text, cast, delete, func, select, type_coerce

from karenina_core.errors import InputError
from karenina_core.models import Price
from karenina_core.models import clean as clean_text
from karenina_core.runs.store.database import Database
from karenina_core.runs.store.schema import setting as table
from karenina_core.schemas import VerificationConfig
from karenina_core.schemas.entities.question import now

_PRESET = "preset/"
_PRICES = "prices"


class Settings:
    """Named JSON values: presets, drafts, preferences. Never keys or passwords."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a setting, or the default."""
        with self._database.reading() as connection:
            row = connection.execute(select(table.c.value).where(table.c.key == key)).first()
        return default if row is None else row.value

    def all(self, prefix: str = "") -> dict[str, Any]:
        """Return all settings whose name starts with the prefix."""
        query = select(table).where(table.c.key.startswith(prefix, autoescape=True)).order_by(table.c.key)
        with self._database.reading() as connection:
            return {row.key: row.value for row in connection.execute(query)}

    def set(self, key: str, value: Any) -> None:
        """Remember a JSON value."""
        query = self._database.upsert(table).values(key=key, value=value)
        query = query.on_conflict_do_update(index_elements=["key"], set_={"value": query.excluded.value})
        with self._database.writing() as connection:
            connection.execute(query)

    def remove(self, key: str) -> None:
        """Forget a setting."""
        with self._database.writing() as connection:
            connection.execute(delete(table).where(table.c.key == key))

    def presets(self) -> dict[str, VerificationConfig]:
        """Return the stored configurations by name; prepared answers are no part of them, and keys never are."""
        stored = sorted(self.all(_PRESET).values(), key=lambda item: str(item["name"]).casefold())
        return {item["name"]: VerificationConfig.model_validate(item["config"]) for item in stored}

    def preset(self, name: str) -> VerificationConfig:
        """Return a stored configuration.

        Raises:
            InputError: There is none of that name.
        """
        presets = self.presets()
        if name not in presets:
            listed = ", ".join(presets) or "none"
            raise InputError(f"There is no preset {name!r}.", next=f"Stored presets: {listed}.")
        return presets[name]

    def save_preset(self, name: str, config: VerificationConfig) -> None:
        """Store a configuration under a name; an earlier one of that name is replaced.

        Raises:
            InputError: The name is blank.
        """
        name = clean_text(name).strip()
        if not name:
            raise InputError("A preset needs a name.")
        self.set(_preset_key(name), {"name": name, "config": config.model_dump(mode="json")})

    def delete_preset(self, name: str) -> None:
        """Forget a stored configuration."""
        self.remove(_preset_key(name))

    def prices(self) -> dict[str, Price]:
        """Return the prices that were set here, by `price_name` of the model; they count before the list's."""
        return {name: Price(*price) for name, price in self.get(_PRICES, {}).items()}

    def set_prices(self, prices: Mapping[str, Price | None]) -> None:
        """Set prices of models, by `price_name`; None goes back to the list's price.

        Raises:
            InputError: A price is below zero.
        """
        wrong = [name for name, price in prices.items() if price is not None and not min(price) >= 0]
        if wrong:
            raise InputError(f"The price of {wrong[0]!r} is no amount of money.", next="Give US dollars, 0 or more.")
        merged = {**self.prices(), **prices}
        self.set(_PRICES, {name: list(price) for name, price in merged.items() if price is not None})


def _preset_key(name: str) -> str:
    return f"{_PRESET}{hashlib.sha256(name.encode()).hexdigest()[:24]}"


class Spending:
    """What was spent each day, in UTC, by all processes that share the store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # Added up in the database, so that no process overwrites what another one added.
        query = database.upsert(table)
        before, more = table.c.value, query.excluded.value
        if database.engine.dialect.name == "sqlite":  # where numbers in a column of JSON are numbers
            total: Any = type_coerce(before, Float) + type_coerce(more, Float)
        else:
            total = func.to_json(cast(cast(before, Text), Float) + cast(cast(more, Text), Float))
        self._add = query.on_conflict_do_update(index_elements=["key"], set_={"value": total})

    def today(self) -> float:
        """Return the US dollars that were spent today."""
        with self._database.reading() as connection:
            return float(connection.execute(select(table.c.value).where(table.c.key == _today())).scalar() or 0.0)

    def add(self, cost: float | None) -> None:
        """Add a cost, in US dollars, to today's account; for what belongs to no run."""
        if cost:
            with self._database.writing() as connection:
                self.insert(connection, cost)

    def insert(self, connection: Connection, cost: float | None) -> None:
        """Add a cost to today's account, in a transaction that is under way."""
        if cost:
            connection.execute(self._add, {"key": _today(), "value": cost})


def _today() -> str:
    return f"spent/{now()[:10]}"
