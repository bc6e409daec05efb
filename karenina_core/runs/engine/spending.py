"""What may be spent by one run, and by all runs of the store on one day; and what has been."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Awaitable, Callable
from functools import partial

from karenina_core.errors import ConfigError, ModelError
from karenina_core.schemas import Usage, built

_NOTHING = Usage()
_one_call = partial(built, Usage, input_tokens=None, output_tokens=None)
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


class SpendMeter:
    """Counts what a run spends, and admits no further call once a bound is reached.

    At most the calls in flight at that moment are paid beyond it.

    Args:
        spent_today: Reads what all runs have spent today; asked only where there is a daily bound.
        max_cost: US dollars for the run; None without a bound.
        spent: What the run has spent before.
        of: What spends, in words.
        on_limit: Called with the reason when a bound is reached; `admit` then raises `CancelledError`.

    Attributes:
        over: Why no further call may be made; empty while some may.
        spent: What was spent since the start, whether it is in the account or not.
    """

    def __init__(
        self,
        spent_today: Callable[[], Awaitable[float]],
        max_cost: float | None = None,
        spent: float = 0.0,
        of: str = "the run",
        on_limit: Callable[[str], None] | None = None,
    ) -> None:
        self.over = ""
        self._spent_today = spent_today
        self._max_cost = max_cost
        self._of = of
        self._on_limit = on_limit
        self._bounded = max_cost is not None or bool(os.environ.get(DAILY_VARIABLE, "").strip())
        self._cost = spent
        self._not_stored = 0.0  # US dollars that are not in what is read of today yet
        self.spent = self._not_taken = _NOTHING

    async def admit(self) -> None:
        """Return when one more call may be paid for.

        Raises:
            asyncio.CancelledError: None may, and the run is ending.
            ModelError: None may, and there is no `on_limit`; category `cancelled`.
            StoreError: What was spent today cannot be read.
            ConfigError: The daily bound is no amount of money.
        """
        if self._bounded and not self.over:
            self.over = await self._problem()
            if self.over and self._on_limit is not None:
                self._on_limit(self.over)
        if self.over:
            raise ModelError(self.over, category="cancelled") if self._on_limit is None else asyncio.CancelledError

    def add(self, usage: Usage) -> None:
        """Count what a call took."""
        cost = None if usage.cached_calls else usage.cost
        call = _one_call(cost=cost, calls=1, cached_calls=usage.cached_calls)
        self.spent += call
        self._not_taken = call if self._not_taken is _NOTHING else self._not_taken + call
        self._cost += cost or 0.0
        self._not_stored += cost or 0.0

    def take(self) -> Usage:
        """Return what is not on its way into the account yet; `settle` it when that is stored or refused."""
        taken, self._not_taken = self._not_taken, _NOTHING
        return taken

    def settle(self, taken: Usage, error: Exception | None = None) -> None:
        """Note that what was taken is in the account, or that it could not be stored."""
        if error is not None:
            self._not_taken += taken
        else:
            self._not_stored -= taken.cost or 0.0

    async def _problem(self) -> str:
        if self._max_cost is not None and self._cost >= self._max_cost:
            return (
                f"Stopped: {self._of} has spent {dollars(self._cost)} of at most {dollars(self._max_cost)}. "
                "Raise the limit to go on."
            )
        bound = daily_budget()
        if bound is None:
            return ""
        today = await self._spent_today() + self._not_stored
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
