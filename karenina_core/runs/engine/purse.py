"""The money that work beside runs may spend: counted as calls are paid, taken out as they are accounted for."""

from __future__ import annotations

from collections.abc import Callable

from karenina_core.errors import ModelError
from karenina_core.runs.engine.budget import Budget
from karenina_core.schemas import Usage


class Purse:
    """Watches what calls cost.

    Args:
        budget: Bounds it.
        account: Gets the US dollars of every call as it is paid. Without one, whoever makes the calls accounts for
            what `take` returns.

    Attributes:
        over: Why no further call may be made; empty while some may.
        spent: What was taken so far.
    """

    def __init__(self, budget: Budget, account: Callable[[float], None] | None = None) -> None:
        self.over = ""
        self.spent = Usage()
        self._budget = budget
        self._account = account
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
        self.spent += usage.model_copy(update={"calls": 1})
        if usage.cost is None:
            return
        self._budget.spend(usage.cost)
        self._cost = usage.cost + (self._cost or 0.0)
        if self._account is not None:
            self._account(usage.cost)

    def take(self) -> float | None:
        """Return the US dollars spent since the last time; None when no price was known."""
        cost, self._cost = self._cost, None
        return cost
