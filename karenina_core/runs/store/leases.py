"""Who carries out a run: one process at a time, noticed when it dies."""

from __future__ import annotations

import os
import socket
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, func, literal_column, select, update

from karenina_core.errors import KareninaError
from karenina_core.runs.store.database import Database
from karenina_core.runs.store.run_row import ACTIVE
from karenina_core.runs.store.tables import run as table
from karenina_core.schemas.entities.question import now

LEASE_SECONDS = 30.0
"""An owner that has not been heard of for this long is taken for dead."""

_CLOCKS = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "extract(epoch from clock_timestamp())::double precision",
}


class LeaseLostError(KareninaError):
    """A run is carried out by somebody else now."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"Run {run_id!r} was taken over by another process.", next="Watch it here.")


# The owners living in this process; another owner with our process id died before us.
_here: set[str] = set()


def new_owner() -> str:
    """Return the name of a new owner of runs in this process."""
    owner = f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex[:8]}"
    _here.add(owner)
    return owner


def forget_owner(owner: str) -> None:
    """Note that an owner of this process has ended."""
    _here.discard(owner)


def surely_dead(owner: str) -> bool:
    """Say whether an owner's process is known to have ended; False when nothing is known."""
    host, pid, _ = owner.rsplit("/", 2)
    if host != socket.gethostname() or os.name != "posix":
        return False
    if int(pid) == os.getpid():
        return owner not in _here
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


class Leases(Database):
    """The right to carry out a run. Time is the database's, so that clocks of machines do not matter."""

    def claim(self, run_id: str, owner: str) -> bool:
        """Take the run; False when another living process has it."""
        with self.writing() as connection:
            clock = self._clock(connection)
            held = connection.execute(select(table.c.owner, table.c.beat).where(table.c.id == run_id)).first()
            if held is None or (held.owner not in (None, owner) and _alive(held.owner, held.beat, clock)):
                return False
            # On PostgreSQL two claims may read the same state; only one finds it unchanged.
            same = table.c.owner.is_not_distinct_from(held.owner)
            query = update(table).where(table.c.id == run_id, same).values(owner=owner, beat=clock)
            return bool(connection.execute(query).rowcount)

    def beat(self, run_ids: list[str], owner: str) -> set[str]:
        """Say that the owner still lives, and return the runs it still has."""
        # One by one: who has several runs waits for nobody who has one of them.
        return {run_id for run_id in run_ids if self._beats(run_id, owner)}

    def _beats(self, run_id: str, owner: str) -> bool:
        with self.writing() as connection:
            query = update(table).where(table.c.id == run_id, table.c.owner == owner)
            return bool(connection.execute(query.values(beat=self._clock(connection))).rowcount)

    def release(self, run_id: str, owner: str) -> None:
        """Give the run back."""
        with self.writing() as connection:
            query = update(table).where(table.c.id == run_id, table.c.owner == owner)
            connection.execute(query.values(owner=None, beat=None))

    def interrupt_abandoned(self) -> list[str]:
        """Mark the runs that nobody carries out any more as `interrupted`, and return their ids."""
        with self.writing() as connection:
            clock = self._clock(connection)
            query = select(table.c.id, table.c.owner, table.c.beat).where(table.c.status.in_(ACTIVE))
            dead = [row.id for row in connection.execute(query) if not _alive(row.owner, row.beat, clock)]
            values = {"status": "interrupted", "finished": now(), "owner": None, "beat": None}
            connection.execute(update(table).where(table.c.id.in_(dead)).values(**values))
        return dead

    def _clock(self, connection: Connection) -> float:
        return float(connection.execute(select(literal_column(_CLOCKS[self.engine.dialect.name]))).scalar_one())


def nobody_has_it(connection: Connection) -> ColumnElement[bool]:
    """Return the condition that nobody has a run who was heard of lately."""
    clock: ColumnElement[float] = literal_column(_CLOCKS[connection.dialect.name])
    silent = func.abs(clock - func.coalesce(table.c.beat, 0.0)) >= LEASE_SECONDS
    return table.c.owner.is_(None) | silent


def _alive(owner: str | None, beat: float | None, clock: float) -> bool:
    # A beat from the future is as old as one from the past: the clock was set back since, and a living owner would
    # have beaten again.
    return owner is not None and beat is not None and abs(clock - beat) < LEASE_SECONDS and not surely_dead(owner)
