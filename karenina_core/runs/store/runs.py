"""Stored runs: what they want, how far they are, what they cost."""

from __future__ import annotations

from uuid import uuid4

from sqlalchemy import Connection, Engine, func, insert, select, update

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from karenina_core.runs.plans.plan import Plan, SkippedQuestion, asked, config_hash
from karenina_core.runs.store.accounts import Accounts, unknown_run
from karenina_core.runs.store.clean import clean_text
from karenina_core.runs.store.leases import nobody_has_it
from karenina_core.runs.store.order import Order
from karenina_core.runs.store.run_row import RunRow, RunStatus
from karenina_core.runs.store.snapshots import Packed, Snapshots, pack
from karenina_core.runs.store.tables import run as table
from karenina_core.runs.store.tables import snapshot
from karenina_core.schemas import Usage, VerificationConfig
from karenina_core.schemas.entities.question import now

_UNLISTED = {"config", "question_ids", "skipped", "owner", "beat"}
_LISTED = [column for column in table.c if column.name not in _UNLISTED] + [table.c.config.label("settings")]
_UNDER_WAY = ("running", "paused")
_KEPT_ORDERS = 8
_ENDED: frozenset[str] = frozenset({"interrupted", "cancelled", "completed", "failed"})


class Runs(Snapshots, Accounts):
    """The runs of the store.

    Attributes:
        orders: Those of the runs that were started, or whose rows were stored, last.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.orders: dict[str, Order] = {}

    def create_run(
        self, plan: Plan, name: str | None = None, *, benchmark_id: str | None = None, parent_run: str | None = None
    ) -> str:
        """Store a new run, with the benchmark as it is now, and return its id. Its status is `queued`.

        Args:
            plan: What the run is to evaluate.
            name: For people; benchmark and date when not given.
            benchmark_id: The stored benchmark it belongs to.
            parent_run: The run it is derived from.
        """
        run_id, created, packed = uuid4().hex[:12], now(), pack(plan.benchmark)
        with self.writing() as connection:
            values = {
                **self._wanted(connection, plan, packed),
                "id": run_id,
                "name": clean_text(name or f"{plan.benchmark.name} {created[:16].replace('T', ' ')}"),
                "benchmark_id": benchmark_id,
                "benchmark_name": clean_text(plan.benchmark.name),
                "status": "queued",
                "created": created,
                "parent_run": parent_run,
                "note": clean_text(plan.note),
            }
            zeros = dict.fromkeys(("done", "passed", "failed", "not_evaluated", "errors", "calls", "cached_calls"), 0)
            connection.execute(insert(table), {**values, **zeros, "seconds": 0.0, "deleted": False})
        return run_id

    def widen_run(self, run_id: str, plan: Plan) -> None:
        """Let a run want more: further questions, models, judges or replicates. What it has stays.

        It is `queued` afterwards, until it is started again.

        Raises:
            InputError: The run is under way, or the plan lacks something that the run has, or the benchmark changed.
        """
        before = self.run(run_id)
        _check_wider(self.run_plan(run_id), plan)
        # Another process may start or widen the run at this very moment; only one of us finds it unchanged.
        unchanged = (table.c.status.not_in(_UNDER_WAY)) & (table.c.config_hash == before.config_hash)
        packed = pack(plan.benchmark)
        with self.writing() as connection:
            values = self._wanted(connection, plan, packed)
            if values["snapshot"] != before.snapshot:
                raise InputError("The benchmark has changed since this run began.", next="Start a new run.")
            values |= {"note": clean_text(plan.note), "status": "queued", "finished": None}
            # Who has it and is about to start it has read already what it wants.
            query = update(table).where(table.c.id == run_id, unchanged, nobody_has_it(connection))
            done = connection.execute(query.values(**values))
        if not done.rowcount:
            raise InputError("A run that is under way cannot want more.", next="Let it end, or cancel it; then resume.")

    def _wanted(self, connection: Connection, plan: Plan, packed: Packed) -> dict[str, object]:
        self.save_snapshot(connection, packed)
        return {
            "snapshot": packed.digest,
            "config": plan.config.model_dump(mode="json"),
            "config_hash": config_hash(plan.config),
            "question_ids": list(plan.question_ids),
            "skipped": [list(question) for question in plan.skipped],
            "total": plan.rows,
        }

    def runs(self, *, benchmark_id: str | None = None, deleted: bool = False) -> list[RunRow]:
        """Return the stored runs, the newest first.

        Args:
            benchmark_id: Only the runs of this stored benchmark.
            deleted: Return the deleted ones instead.
        """
        query = select(*_LISTED).where(table.c.deleted == deleted).order_by(table.c.created.desc(), table.c.id)
        if benchmark_id is not None:
            query = query.where(table.c.benchmark_id == benchmark_id)
        with self.reading() as connection:
            return [RunRow(**row) for row in connection.execute(query).mappings()]

    def run(self, run_id: str) -> RunRow:
        """Return a stored run.

        Raises:
            InputError: There is none of that id.
        """
        with self.reading() as connection:
            row = connection.execute(select(*_LISTED).where(table.c.id == run_id)).mappings().first()
        if row is None:
            raise unknown_run(run_id)
        return RunRow(**row)

    def run_plan(self, run_id: str) -> Plan:
        """Return what a run wants, over the benchmark as it was when the run was created.

        Raises:
            InputError: There is none of that id.
        """
        query = select(table.c.config, table.c.question_ids, table.c.skipped, table.c.snapshot)
        with self.reading() as connection:
            row = connection.execute(query.where(table.c.id == run_id)).first()
        if row is None:
            raise unknown_run(run_id)
        config = VerificationConfig.model_validate(row.config)
        skipped = tuple(SkippedQuestion(*question) for question in row.skipped)
        benchmark = self.snapshot(row.snapshot)
        same = {name: name for name in benchmark.get_question_ids()}  # the very strings, which are there already
        return Plan(benchmark, config, tuple([same.get(name, name) for name in row.question_ids]), skipped)

    def run_order(self, run_id: str, benchmark: Benchmark | None = None) -> Order:
        """Return the order of a run's rows, and keep it for those that are stored.

        Args:
            run_id: The run.
            benchmark: As the run saw it, if it is at hand.

        Raises:
            InputError: There is none of that id.
        """
        ids = [] if benchmark is not None else [snapshot.c.question_ids]
        query = select(table.c.config, *ids).join(snapshot).where(table.c.id == run_id)
        with self.reading() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise unknown_run(run_id)
        answering, parsing = (
            [model["id"] for model in row.config[role]] for role in ("answering_models", "parsing_models")
        )
        question_ids = row.question_ids if benchmark is None else map(clean_text, benchmark.get_question_ids())
        order = Order(question_ids, answering, parsing)
        self.orders = {**dict(list(self.orders.items())[1 - _KEPT_ORDERS :]), run_id: order}
        return order

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
            return
        with self.writing() as connection:
            own = update(table).where(table.c.id == run_id, table.c.owner == owner)
            connection.execute(own.values(**_standing(status, note)))

    def end_run(
        self,
        run_id: str,
        owner: str,
        status: RunStatus | None,
        note: str | None = None,
        spent: Usage | None = None,
        seconds: float = 0.0,
    ) -> None:
        """Note how a run ended and what it took last, and give it back, in one transaction.

        What it took is noted in any case; where it stands is said by whoever has it.

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
        values: dict[str, object] = {} if status is None else _standing(status, note)
        values.update(owner=None, beat=None)
        with self.writing() as connection:
            self.add_account(connection, run_id, spent or Usage(), seconds)
            connection.execute(update(table).where(table.c.id == run_id, table.c.owner == owner).values(**values))

    def limit_cost(self, run_id: str, max_cost: float | None) -> None:
        """Let a run spend another amount of US dollars in all; None without a bound.

        Raises:
            InputError: The run is under way, or there is none of that id, or the amount is none.
        """
        run = self.run(run_id)
        if run.status in _UNDER_WAY:
            raise InputError("The limit of a run that is under way cannot change.", next="Let it end, or cancel it.")
        settings = {**run.settings, "max_cost": max_cost}
        self._update(run_id, config=VerificationConfig.model_validate(settings).model_dump(mode="json"))

    def pace_run(self, run_id: str, max_concurrent_requests: int) -> None:
        """Let a run have another number of calls in flight the next time it is resumed.

        Raises:
            InputError: There is no run of that id, or the number is none.
        """
        settings = {**self.run(run_id).settings, "max_concurrent_requests": max_concurrent_requests}
        self._update(run_id, config=VerificationConfig.model_validate(settings).model_dump(mode="json"))

    def rename_run(self, run_id: str, name: str) -> None:
        """Give a run another name."""
        self._update(run_id, name=clean_text(name))

    def delete_run(self, run_id: str) -> None:
        """Hide a run; `restore_run` undoes it."""
        self._update(run_id, deleted=True)

    def restore_run(self, run_id: str) -> None:
        """Bring a deleted run back."""
        self._update(run_id, deleted=False)

    def _update(self, run_id: str, **values: object) -> None:
        with self.writing() as connection:
            done = connection.execute(update(table).where(table.c.id == run_id).values(**values))
        if not done.rowcount:
            raise unknown_run(run_id)


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
    values: dict[str, object] = {"status": status, "finished": now() if status in _ENDED else None}
    if note is not None:
        values["note"] = clean_text(note)
    if status == "running":
        values["started"] = func.coalesce(table.c.started, now())
    return values
