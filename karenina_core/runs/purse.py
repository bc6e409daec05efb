"""The money that work beside runs may spend: counted as calls are paid, taken out as they are accounted for."""

from __future__ import annotations

from karenina_core.errors import ModelError
from karenina_core.runs.budget import Budget
from karenina_core.schemas.results import Usage


class Purse:
    """Watches what calls cost.

    Args:
        budget: Bounds it.

    Attributes:
        over: Why no further call may be made; empty while some may.
    """

    def __init__(self, budget: Budget) -> None:
        self.over = ""
        self._budget = budget
        self._cost: float | None = None

    async def admit(self) -> None:
        """Return when one more call may be paid for.

        Raises:
            ModelError: None may; category `cancelled`.
        """
        if not self.over and self._budget.bounded:
            self.over = await self._budget.problem()
        if self.over:
            raise ModelError(self.over, category="cancelled")

    def paid(self, usage: Usage) -> None:
        """Note what a call took."""
        if usage.cost is not None:
            self._budget.spend(usage.cost)
            self._cost = usage.cost + (self._cost or 0.0)

    def take(self) -> float | None:
        """Return the US dollars spent since the last time; None when no price was known."""
        cost, self._cost = self._cost, None
        return cost
