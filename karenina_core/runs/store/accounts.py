"""What each run did and spent, as it adds up."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from sqlalchemy import Connection, Float, bindparam, func, update

from karenina_core.errors import InputError
from karenina_core.runs.store.bulk import Ready
from karenina_core.runs.store.leases import LeaseLostError
from karenina_core.runs.store.spending import Spending
from karenina_core.runs.store.tables import run as table
from karenina_core.schemas import Usage

_COUNTERS = ("done", "passed", "failed", "not_evaluated", "errors")
_SUMS = (*_COUNTERS, "calls", "cached_calls", "seconds")
_COST = bindparam("cost", type_=Float)
_GAIN = (
    update(table)
    .where(table.c.id == bindparam("run"))
    .values(
        **{name: table.c[name] + bindparam(name, type_=table.c[name].type) for name in _SUMS},
        cost=func.coalesce(table.c.cost + _COST, _COST, table.c.cost),  # one of them may not be known
    )
)
_GAIN_OF_OWNER = _GAIN.where(table.c.owner == bindparam("of_owner"))


class Accounts(Spending):
    """The accounts of the runs."""

    def add_work(self, run_id: str, spent: Usage, seconds: float) -> None:
        """Add calls, cost and working time to a run's account."""
        with self.writing() as connection:
            self.add_account(connection, run_id, spent, seconds)

    def add_account(self, connection: Connection, run_id: str, spent: Usage, seconds: float = 0.0) -> None:
        """Add calls, cost and working time to a run's account, in a transaction that is under way."""
        self.add_counts(connection, run_id, {}, spent, seconds)
        self.add_spending(connection, spent.cost)

    def add_counts(
        self,
        connection: Connection,
        run_id: str,
        rows: Mapping[str, int],
        spent: Usage,
        seconds: float = 0.0,
        owner: str | None = None,
    ) -> None:
        """Add to a run's account, in a transaction that is under way; nobody else changes the run until its end.

        Args:
            connection: Of the transaction.
            run_id: The run.
            rows: How many more rows there are by counter, such as `done` and `passed`.
            spent: Calls and cost.
            seconds: Working time.
            owner: Who must have the run; nobody in particular when not given.

        Raises:
            InputError: There is no such run.
            LeaseLostError: The run has another owner.
        """
        gained = {name: rows.get(name, 0) for name in _COUNTERS}
        money = {"calls": spent.calls, "cached_calls": spent.cached_calls, "cost": spent.cost}
        values = {"run": run_id, "of_owner": owner, "seconds": seconds, **money, **gained}
        done = (self._gain if owner is None else self._gain_of_owner)(connection, values)
        if not done.rowcount:
            raise unknown_run(run_id) if owner is None else LeaseLostError(run_id)

    @cached_property
    def _gain(self) -> Ready:
        return Ready(_GAIN, self.engine.dialect)

    @cached_property
    def _gain_of_owner(self) -> Ready:
        return Ready(_GAIN_OF_OWNER, self.engine.dialect)


def unknown_run(run_id: str) -> InputError:
    """Return the error that there is no such run."""
    return InputError(f"There is no stored run {run_id!r}.", next="Choose one from the list of runs.")
