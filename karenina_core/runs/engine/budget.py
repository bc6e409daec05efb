"""What may be spent: by one run, and by all runs of the store on one day."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Callable

from karenina_core.errors import ConfigError

DAILY_VARIABLE = "KARENINA_DAILY_BUDGET"


def daily_budget() -> float | None:
    """Return the US dollars all runs may spend on one day (UTC), by `KARENINA_DAILY_BUDGET`; None without a bound.

    Raises:
        ConfigError: It is no amount of money.
    """
    text = os.environ.get(DAILY_VARIABLE, "").strip()
    if not text:
        return None
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf:
        raise ConfigError(f"{DAILY_VARIABLE} cannot be used.", f"It is {text!r}.", "Give US dollars, such as 20.")
    return amount


class Budget:
    """The money one run may still spend.

    Args:
        max_cost: US dollars for the run; None without a bound.
        spent: What the run has spent before.
        spent_today: Reads what all runs have spent today; called in a thread, and only where there is a daily bound.
        of: What spends, in words.

    Attributes:
        bounded: Whether there is any bound at all.
        unstored: US dollars that were spent and are not in what is read of today yet.
    """

    def __init__(
        self, max_cost: float | None, spent: float, spent_today: Callable[[], float], of: str = "the run"
    ) -> None:
        self._of = of
        self._max_cost = max_cost
        self._spent = spent
        self._spent_today = spent_today
        self.unstored = 0.0
        self.bounded = max_cost is not None or bool(os.environ.get(DAILY_VARIABLE, "").strip())

    def spend(self, cost: float) -> None:
        """Note what a call cost, in US dollars."""
        self._spent += cost

    async def problem(self) -> str:
        """Say which bound is reached; empty while there is money left.

        Raises:
            StoreError: What was spent today cannot be read.
            ConfigError: The daily bound is no amount of money.
        """
        if self._max_cost is not None and self._spent >= self._max_cost:
            return (
                f"Stopped: {self._of} has spent {dollars(self._spent)} of at most {dollars(self._max_cost)}. "
                "Raise the limit to go on."
            )
        bound = daily_budget()
        if bound is None:
            return ""
        today = await asyncio.to_thread(self._spent_today) + self.unstored
        if today < bound:
            return ""
        return (
            f"Stopped: all runs together have spent {dollars(today)} today, of at most {dollars(bound)}. "
            f"Go on tomorrow (UTC), or an administrator raises {DAILY_VARIABLE}."
        )


def dollars(amount: float) -> str:
    """Return an amount of US dollars for people: cents, and hundredths of a cent where it has any.

    What was spent often differs from what may be spent by less than a cent.
    """
    if 0 < amount < 0.0001:
        return "less than $0.0001"
    whole, _, parts = f"{amount:,.4f}".partition(".")
    return f"${whole}.{parts[:2]}{parts[2:].rstrip('0')}"


def about(amount: float) -> str:
    """Return a guessed amount of US dollars: cents, or two digits of less than a cent."""
    return dollars(round(amount, 2) if amount >= 0.01 else amount)
