"""Stored runs: what they want, where they stand, what they spent, and which process carries them out."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    bindparam,
    func,
    insert,
    literal_column,
    select,
    update,
)

from karenina_core.errors import InputError, KareninaError
from karenina_core.models import clean as clean_text
from karenina_core.runs.plan import LEFT_OUT, Plan, SkippedQuestion, asked, config_hash
from karenina_core.runs.store.benchmarks import Snapshot, Snapshots
from karenina_core.runs.store.database import Database
from karenina_core.runs.store.schema import run as table
from karenina_core.runs.store.schema import snapshot
from karenina_core.runs.store.settings import Spending
from karenina_core.schemas import RowKey, Usage, VerificationConfig
from karenina_core.schemas.entities.question import now
from karenina_core.text import counted

RunStatus = Literal["queued", "running", "paused", "interrupted", "cancelled", "completed", "failed"]
ACTIVE: frozenset[str] = frozenset({"queued", "running", "paused"})
"""The statuses of runs that are, or should be, under way."""
STATES: dict[str, str] = {
    "queued": "waits to be started",
    "running": "running",
    "paused": "paused",
    "interrupted": "interrupted, can be resumed",
    "cancelled": "cancelled",
    "completed": "completed",
    "failed": "stopped by an error",
}
"""What each status means, in words."""
LEASE_SECONDS = 30.0
"""An owner that has not been heard of for this long is taken for dead."""

_UNDER_WAY = ("running", "paused")
_UNLISTED = {"config", "question_ids", "skipped", "owner", "beat"}
_LISTED = [column for column in table.c if column.name not in _UNLISTED] + [table.c.config.label("settings")]
_COUNTERS = ("done", "passed", "failed", "not_evaluated", "errors")
_COST = bindparam("cost", type_=Float)
_ADD = (
    update(table)
    .where(table.c.id == bindparam("run"))
    .values(
        **{name: table.c[name] + bindparam(name) for name in (*_COUNTERS, "calls", "cached_calls", "seconds")},
        cost=func.coalesce(table.c.cost + _COST, _COST, table.c.cost),  # one of them may not be known
    )
)
_ADD_AS_OWNER = _ADD.where(table.c.owner == bindparam("of_owner"))
_CLOCKS = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "extract(epoch from clock_timestamp())::double precision",
}
_RELEASED: dict[str, object] = {"owner": None, "beat": None}
_POSITIONS = 10_000  # at most so many models, judges and replicates
_ORDERS = 8  # of runs whose rows were stored last


@dataclass(frozen=True)
class RunRow:
    """A stored run, without questions and results.

    Attributes:
        snapshot: Hash of the benchmark as the run saw it; equal for runs over the very same benchmark.
        settings: The configuration as stored JSON.
        config_hash: Equal for runs that ask for the same thing.
        total: Wanted results.
        done: Stored results, with or without a verdict.
        passed: Results with verdict `pass`; `failed` and `not_evaluated` count the other two.
        errors: Results whose evaluation failed for technical reasons; they are among `not_evaluated`.
        calls: Model calls the run needed; the ledger answered `cached_calls` of them.
        cost: US dollars spent, None when no price is known.
        seconds: Time worked, pauses left out.
        created: ISO 8601 in UTC, as are `started` and `finished`.
        parent_run: The run this one was derived from.
        note: What a person should know about it.
        deleted: Hidden from lists, and can be restored.
    """

    id: str
    name: str
    benchmark_id: str | None
    benchmark_name: str
    snapshot: str
    settings: Mapping[str, Any]
    config_hash: str
    status: RunStatus
    total: int
    done: int
    passed: int
    failed: int
    not_evaluated: int
    errors: int
    calls: int
    cached_calls: int
    cost: float | None
    seconds: float
    created: str
    started: str | None
    finished: str | None
    parent_run: str | None
    note: str
    deleted: bool

    @property
    def config(self) -> VerificationConfig:
        """The configuration. Prepared answers of `manual` models are never stored with it."""
        return VerificationConfig.model_validate(self.settings)

    @property
    def active(self) -> bool:
        """Whether the run is, or should be, under way."""
        return self.status in ACTIVE

    @property
    def state(self) -> str:
        """The status in words, with the reason where a run has stopped: `stopped by an error: There is no key.`"""
        if self.status == "completed" and self.errors:
            return f"completed with {counted(self.errors, 'error')}"
        if self.status in ("failed", "interrupted") and self.note and not self.note.startswith(LEFT_OUT):
            return f"{STATES[self.status]}: {self.note}"
        return STATES[self.status]

    @property
    def answering_models(self) -> tuple[str, ...]:
        """Ids of the models under test."""
        return tuple(model["id"] for model in self.settings["answering_models"])

    @property
    def parsing_models(self) -> tuple[str, ...]:
        """Ids of the judges."""
        return tuple(model["id"] for model in self.settings["parsing_models"])


class Order:
    """Turns row identities into numbers that sort by question, answering model, judge and replicate.

    The numbers stay valid when models, replicates or questions are added at the end.

    Args:
        question_ids: All questions of the benchmark snapshot, in order.
        answering: Ids of the answering models, in the order of the configuration.
        parsing: Ids of the judges.
    """

    def __init__(self, question_ids: Iterable[str], answering: Sequence[str], parsing: Sequence[str]) -> None:
        self._questions = {name: number for number, name in enumerate(question_ids)}
        self._answering = {name: number for number, name in enumerate(answering)}
        self._parsing = {name: number for number, name in enumerate(parsing)}

    def position(self, key: RowKey) -> int:
        """Return the sort number of a row.

        Raises:
            InputError: The row does not belong to the run.
        """
        try:
            number = self._questions[key.question_id]
            number = number * _POSITIONS + self._answering[key.answering_model]
            number = number * _POSITIONS + self._parsing[key.parsing_model]
        except KeyError as error:
            raise InputError(
                f"The result {key!r} does not belong to this run.", why=f"It does not know {error}."
            ) from error
        return number * _POSITIONS + key.replicate


class LeaseLostError(KareninaError):
    """A run is carried out by somebody else now."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"Run {run_id!r} was taken over by another process.", next="Watch it here.")


# The owners living in this process; another owner with our process id died before us.
_owners_here: set[str] = set()


def new_owner() -> str:
    """Return the name of a new owner of runs in this process."""
    owner = f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex[:8]}"
    _owners_here.add(owner)
    return owner


def forget_owner(owner: str) -> None:
    """Note that an owner of this process has ended."""
    _owners_here.discard(owner)


def surely_dead(owner: str) -> bool:
    """Say whether an owner's process is known to have ended; False when nothing is known."""
    host, pid, _ = owner.rsplit("/", 2)
    if host != socket.gethostname() or os.name != "posix":
        return False
    if int(pid) == os.getpid():
        return owner not in _owners_here
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


class Runs:
    """The runs of the store."""

    def __init__(self, database: Database, spending: Spending) -> None:
        self._database = database
        self._spending = spending
        self._snapshots = Snapshots(database)
        self._orders: dict[str, Order] = {}

    @property
    def _clock(self) -> ColumnElement[float]:
        return literal_column(_CLOCKS[self._database.engine.dialect.name])

    def create(
        self, plan: Plan, name: str | None = None, *, benchmark_id: str | None = None, parent_run: str | None = None
    ) -> str:
        """Store a new run, with the benchmark as it is now, and return its id. Its status is `queued`.

        Args:
            plan: What the run is to evaluate.
            name: For people; benchmark and date when not given.
            benchmark_id: The stored benchmark it belongs to.
            parent_run: The run it is derived from.
        """
        run_id, created, now_seen = uuid4().hex[:12], now(), Snapshot.of(plan.benchmark)
        values = {
            **_wanted(plan, now_seen),
            "id": run_id,
            "name": clean_text(name or f"{plan.benchmark.name} {created[:16].replace('T', ' ')}"),
            "benchmark_id": benchmark_id,
            "benchmark_name": clean_text(plan.benchmark.name),
            "created": created,
            "parent_run": parent_run,
            **dict.fromkeys((*_COUNTERS, "calls", "cached_calls"), 0),
            "seconds": 0.0,
            "deleted": False,
        }
        with self._database.writing() as connection:
            self._snapshots.insert(connection, now_seen)
            connection.execute(insert(table), values)
        return run_id

    def widen(self, run_id: str, plan: Plan) -> None:
        """Let a run want more: further questions, models, judges or replicates. What it has stays.

        It is `queued` afterwards, until it is started again.

        Raises:
            InputError: The run is under way, or the plan lacks something that the run has, or the benchmark changed.
        """
        before, now_seen = self.get(run_id), Snapshot.of(plan.benchmark)
        _check_wider(self.plan(run_id), plan)
        if now_seen.digest != before.snapshot:
            raise InputError("The benchmark has changed since this run began.", next="Start a new run.")
        # Another process may start or widen the run at this very moment; only one of us finds it unchanged, and nobody
        # who has it and has already read what it wants.
        query = update(table).where(
            table.c.id == run_id,
            table.c.status.not_in(_UNDER_WAY),
            table.c.config_hash == before.config_hash,
            table.c.owner.is_(None) | (func.abs(self._clock - func.coalesce(table.c.beat, 0.0)) >= LEASE_SECONDS),
        )
        with self._database.writing() as connection:
            changed = connection.execute(query.values(**_wanted(plan, now_seen), finished=None)).rowcount
        if not changed:
            raise InputError("A run that is under way cannot want more.", next="Let it end, or cancel it; then resume.")

    def all(self, *, benchmark_id: str | None = None, deleted: bool = False) -> list[RunRow]:
        """Return the stored runs, the newest first.

        Args:
            benchmark_id: Only the runs of this stored benchmark.
            deleted: Return the deleted ones instead.
        """
        query = select(*_LISTED).where(table.c.deleted == deleted).order_by(table.c.created.desc(), table.c.id)
        if benchmark_id is not None:
            query = query.where(table.c.benchmark_id == benchmark_id)
        with self._database.reading() as connection:
            return [RunRow(**row) for row in connection.execute(query).mappings()]

    def get(self, run_id: str) -> RunRow:
        """Return a stored run.

        Raises:
            InputError: There is none of that id.
        """
        return RunRow(**self._select(run_id, *_LISTED))

    def plan(self, run_id: str) -> Plan:
        """Return what a run wants, over the benchmark as it was when the run was created.

        Raises:
            InputError: There is none of that id.
            StoreError: The stored benchmark was damaged.
        """
        row = self._select(run_id, table.c.config, table.c.question_ids, table.c.skipped, table.c.snapshot)
        benchmark = self._snapshots.load(row["snapshot"])
        same = {name: name for name in benchmark.get_question_ids()}  # the very strings, which are there already
        return Plan(
            benchmark,
            VerificationConfig.model_validate(row["config"]),
            tuple([same.get(name, name) for name in row["question_ids"]]),
            tuple(SkippedQuestion(*question) for question in row["skipped"]),
        )

    def order(self, run_id: str, *, reload: bool = False) -> Order:
        """Return the order of a run's rows.

        Args:
            run_id: The run.
            reload: Read it anew; the run may have been widened since.

        Raises:
            InputError: There is none of that id.
        """
        if reload or run_id not in self._orders:
            row = self._select(run_id, table.c.config, snapshot.c.question_ids)
            models = [[model["id"] for model in row["config"][f"{role}_models"]] for role in ("answering", "parsing")]
            latest = list(self._orders.items())[1 - _ORDERS :]
            self._orders = {**dict(latest), run_id: Order(row["question_ids"], *models)}
        return self._orders[run_id]

    def _select(self, run_id: str, *columns: Any) -> dict[str, Any]:
        query = select(*columns).select_from(table.join(snapshot)).where(table.c.id == run_id)
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            raise _unknown(run_id)
        return dict(row)

    def rename(self, run_id: str, name: str) -> None:
        """Give a run another name."""
        self._update(run_id, name=clean_text(name))

    def delete(self, run_id: str) -> None:
        """Hide a run; `restore` undoes it."""
        self._update(run_id, deleted=True)

    def restore(self, run_id: str) -> None:
        """Bring a deleted run back."""
        self._update(run_id, deleted=False)

    def limit_cost(self, run_id: str, max_cost: float | None) -> None:
        """Let a run spend another amount of US dollars in all; None without a bound.

        Raises:
            InputError: The run is under way, or there is none of that id, or the amount is none.
        """
        if self.get(run_id).status in _UNDER_WAY:
            raise InputError("The limit of a run that is under way cannot change.", next="Let it end, or cancel it.")
        self._configure(run_id, max_cost=max_cost)

    def set_concurrency(self, run_id: str, max_concurrent_requests: int) -> None:
        """Let a run have another number of calls in flight the next time it is resumed.

        Raises:
            InputError: There is no run of that id, or the number is none.
        """
        self._configure(run_id, max_concurrent_requests=max_concurrent_requests)

    def _configure(self, run_id: str, **changed: object) -> None:
        config = VerificationConfig.model_validate({**self.get(run_id).settings, **changed})
        self._update(run_id, config=config.model_dump(mode="json"))

    def set_status(self, run_id: str, status: RunStatus, note: str | None = None, owner: str | None = None) -> None:
        """Note where a run stands, with the time when it starts and ends.

        Args:
            run_id: The run.
            status: Where it stands now.
            note: What a person should know; the old note stays when not given.
            owner: Who must have the run, or else nothing is noted; nobody in particular when not given.
        """
        if owner is None:
            self._update(run_id, **_standing(status, note))
        else:
            self._update_as(owner, run_id, **_standing(status, note))

    def _update(self, run_id: str, **values: object) -> None:
        with self._database.writing() as connection:
            changed = connection.execute(update(table).where(table.c.id == run_id).values(**values)).rowcount
        if not changed:
            raise _unknown(run_id)

    def _update_as(self, of_owner: str, run_id: str, **values: object) -> bool:
        with self._database.writing() as connection:
            query = update(table).where(table.c.id == run_id, table.c.owner == of_owner)
            return bool(connection.execute(query.values(**values)).rowcount)

    def end(
        self,
        run_id: str,
        owner: str,
        status: RunStatus | None = None,
        note: str | None = None,
        spent: Usage | None = None,
        seconds: float = 0.0,
    ) -> None:
        """Note how a run ended and what it took last, and give it back, in one transaction.

        What it took is noted in any case; where it stands is up to whoever has it.

        Args:
            run_id: The run.
            owner: Who gives it back.
            status: Where it stands; stays as it is when not given.
            note: What a person should know; the old note stays when not given, and without a status.
            spent: Calls and cost that are not in the account yet.
            seconds: Working time that is not in the account yet.

        Raises:
            InputError: There is no such run.
        """
        values = {} if status is None else _standing(status, note)
        query = update(table).where(table.c.id == run_id, table.c.owner == owner)
        with self._database.writing() as connection:
            self._add_work(connection, run_id, spent or Usage(), seconds)
            connection.execute(query.values(**values, **_RELEASED))

    def add_work(self, run_id: str, spent: Usage, seconds: float) -> None:
        """Add calls, cost and working time to a run's account."""
        with self._database.writing() as connection:
            self._add_work(connection, run_id, spent, seconds)

    def _add_work(self, connection: Connection, run_id: str, spent: Usage, seconds: float) -> None:
        self.add_counts(connection, run_id, {}, spent, seconds)
        self._spending.insert(connection, spent.cost)

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
        values: dict[str, object] = {name: rows.get(name, 0) for name in _COUNTERS}
        values.update(run=run_id, calls=spent.calls, cached_calls=spent.cached_calls, cost=spent.cost, seconds=seconds)
        if owner is None:
            if not connection.execute(_ADD, values).rowcount:
                raise _unknown(run_id)
        elif not connection.execute(_ADD_AS_OWNER, {**values, "of_owner": owner}).rowcount:
            raise LeaseLostError(run_id)

    # Who carries a run out. Time is the database's, so that clocks of machines do not matter.

    def claim(self, run_id: str, owner: str) -> bool:
        """Take the run; False when another living process has it."""
        with self._database.writing() as connection:
            clock = float(connection.execute(select(self._clock)).scalar_one())
            row = connection.execute(select(table.c.owner, table.c.beat).where(table.c.id == run_id)).first()
            if row is None or (row.owner not in (None, owner) and _alive(row.owner, row.beat, clock)):
                return False
            # On PostgreSQL two claims may read the same state; only one finds it unchanged.
            same = table.c.owner.is_not_distinct_from(row.owner)
            query = update(table).where(table.c.id == run_id, same).values(owner=owner, beat=clock)
            return bool(connection.execute(query).rowcount)

    def heartbeat(self, run_ids: Iterable[str], owner: str) -> set[str]:
        """Say that the owner still lives, and return the runs it still has."""
        # One by one: who has several runs waits for nobody who has one of them.
        return {run_id for run_id in run_ids if self._update_as(owner, run_id, beat=self._clock)}

    def interrupt_abandoned(self) -> list[str]:
        """Mark the runs that nobody carries out any more as `interrupted`, and return their ids."""
        with self._database.writing() as connection:
            clock = float(connection.execute(select(self._clock)).scalar_one())
            query = select(table.c.id, table.c.owner, table.c.beat).where(table.c.status.in_(ACTIVE))
            dead = [row.id for row in connection.execute(query) if not _alive(row.owner, row.beat, clock)]
            values = {"status": "interrupted", "finished": now(), **_RELEASED}
            connection.execute(update(table).where(table.c.id.in_(dead)).values(**values))
        return dead


def _alive(owner: str | None, beat: float | None, clock: float) -> bool:
    # A beat from the future is as old as one from the past: the clock was set back since, and a living owner would
    # have beaten again.
    return owner is not None and beat is not None and abs(clock - beat) < LEASE_SECONDS and not surely_dead(owner)


def _wanted(plan: Plan, now_seen: Snapshot) -> dict[str, object]:
    return {
        "snapshot": now_seen.digest,
        "config": plan.config.model_dump(mode="json"),
        "config_hash": config_hash(plan.config),
        "question_ids": list(plan.question_ids),
        "skipped": [list(question) for question in plan.skipped],
        "total": plan.rows,
        "status": "queued",
        "note": clean_text(plan.note),
    }


def _check_wider(before: Plan, after: Plan) -> None:
    old, new = asked(before.config), asked(after.config)
    for role in ("answering_models", "parsing_models"):
        if new[role][: len(old[role])] != old[role]:
            raise InputError(
                f"A run can gain {role.replace('_', ' ')}, not lose or change them.", next="Start a new run."
            )
    if new["replicate_count"] < old["replicate_count"] or set(before.question_ids) - set(after.question_ids):
        raise InputError("A run can gain questions and replicates, not lose them.", next="Start a new run.")
    may_change = {"answering_models", "parsing_models", "replicate_count"}
    changed = sorted(name for name in old if name not in may_change and old[name] != new[name])
    if changed:
        raise InputError(f"A run cannot change {', '.join(changed)}.", next="Start a new run.")


def _standing(status: RunStatus, note: str | None) -> dict[str, object]:
    """Return the columns that say where a run stands."""
    ended = status not in ACTIVE
    values: dict[str, object] = {"status": status, "finished": now() if ended else None}
    if note is not None:
        values["note"] = clean_text(note)
    if status == "running":
        values["started"] = func.coalesce(table.c.started, now())
    return values


def _unknown(run_id: str) -> InputError:
    return InputError(f"There is no stored run {run_id!r}.", next="Choose one from the list of runs.")
