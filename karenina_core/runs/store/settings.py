"""Small things to remember, by name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, select

from karenina_core.errors import InputError
from karenina_core.models import Price
from karenina_core.runs.store.clean import clean_text
from karenina_core.runs.store.database import Database
from karenina_core.runs.store.tables import setting as table
from karenina_core.schemas import VerificationConfig

_PRESET = "preset/"
_PRICES = "prices"


class Settings(Database):
    """Named JSON values: presets, drafts, preferences. Never keys or passwords."""

    def setting(self, key: str, default: Any = None) -> Any:
        """Return the value of a setting, or the default."""
        with self.reading() as connection:
            row = connection.execute(select(table.c.value).where(table.c.key == key)).first()
        return default if row is None else row.value

    def settings(self, prefix: str = "") -> dict[str, Any]:
        """Return all settings whose name starts with the prefix."""
        query = select(table).where(table.c.key.startswith(prefix, autoescape=True)).order_by(table.c.key)
        with self.reading() as connection:
            return {row.key: row.value for row in connection.execute(query)}

    def set_setting(self, key: str, value: Any) -> None:
        """Remember a JSON value."""
        query = self.upsert(table).values(key=key, value=value)
        with self.writing() as connection:
            connection.execute(
                query.on_conflict_do_update(index_elements=["key"], set_={"value": query.excluded.value})
            )

    def remove_setting(self, key: str) -> None:
        """Forget a setting."""
        with self.writing() as connection:
            connection.execute(delete(table).where(table.c.key == key))

    def presets(self) -> dict[str, VerificationConfig]:
        """Return the stored configurations by name; prepared answers are no part of them, and keys never are."""
        stored = self.settings(_PRESET).values()
        found = {item["name"]: VerificationConfig.model_validate(item["config"]) for item in stored}
        return dict(sorted(found.items(), key=lambda item: item[0].casefold()))

    def preset(self, name: str) -> VerificationConfig:
        """Return a stored configuration.

        Raises:
            InputError: There is none of that name.
        """
        known = self.presets()
        if name not in known:
            listed = ", ".join(known) or "none"
            raise InputError(f"There is no preset {name!r}.", next=f"Stored presets: {listed}.")
        return known[name]

    def save_preset(self, name: str, config: VerificationConfig) -> None:
        """Store a configuration under a name; an earlier one of that name is replaced.

        Raises:
            InputError: The name is blank.
        """
        name = clean_text(name).strip()
        if not name:
            raise InputError("A preset needs a name.")
        self.set_setting(_preset_key(name), {"name": name, "config": config.model_dump(mode="json")})

    def delete_preset(self, name: str) -> None:
        """Forget a stored configuration."""
        self.remove_setting(_preset_key(name))

    def prices(self) -> dict[str, Price]:
        """Return the prices that were set here, by `price_name` of the model; they count before the list's."""
        return {name: Price(*price) for name, price in self.setting(_PRICES, {}).items()}

    def set_prices(self, prices: Mapping[str, Price | None]) -> None:
        """Set prices of models, by `price_name`; None goes back to the list's price.

        Raises:
            InputError: A price is below zero.
        """
        wrong = [name for name, price in prices.items() if price is not None and not min(price) >= 0]
        if wrong:
            raise InputError(f"The price of {wrong[0]!r} is no amount of money.", next="Give US dollars, 0 or more.")
        kept = {**self.prices(), **prices}
        self.set_setting(_PRICES, {name: list(price) for name, price in kept.items() if price is not None})


def _preset_key(name: str) -> str:
    return f"{_PRESET}{hashlib.sha256(name.encode()).hexdigest()[:24]}"
