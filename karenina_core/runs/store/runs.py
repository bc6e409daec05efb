"""Stored runs: what they want, how far they are, what they cost."""

from __future__ import annotations

import hashlib
from uuid import uuid4

from sqlalchemy import Connection, func, insert, select, update

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from karenina_core.runs.plan import Plan, SkippedQuestion, config_hash
from karenina_core.runs.store.clean import clean_text
from karenina_core.runs.store.order import Order
from karenina_core.runs.store.run_row import RunRow, RunStatus
from karenina_core.runs.store.spending import Spending
from karenina_core.runs.store.tables import run as table
from karenina_core.runs.store.tables import snapshot
from karenina_core.schemas.config import VerificationConfig
from karenina_core.schemas.entities.question import now
from karenina_core.schemas.results import Usage

_UNLISTED = {"config", "question_ids", "skipped", "owner", "beat"}
_LISTED = [column for column in table.c if column.name not in _UNLISTED] + [table.c.config.label("settings")]
_ENDED: frozenset[str] = frozenset({"interrupted", "cancelled", "completed", "failed"})


class Runs(Spending):
    """The runs of the store."""

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
        run_id, created = uuid4().hex[:12], now()
        with self.writing() as connection:
            values = {
                **self._wanted(connection, plan),
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
            connection.execute(insert(table).values(**values, **zeros, seconds=0.0, deleted=False))
        return run_id

    def widen_run(self, run_id: str, plan: Plan) -> None:
        """Let a run want more: further questions, models, judges or replicates. What it has stays.

        Raises:
            InputError: The run is under way, or the plan lacks something that the run has, or the benchmark changed.
        """
        before = self.run(run_id)
        if before.status in ("running", "paused"):
            raise InputError("A run that is under way cannot want more.", next="Let it end, or cancel it; then resume.")
        _check_wider(self.run_plan(run_id), plan)
        with self.writing() as connection:
            values = self._wanted(connection, plan)
            if values["snapshot"] != before.snapshot:
                raise InputError("The benchmark has changed since this run began.", next="Start a new run.")
            connection.execute(update(table).where(table.c.id == run_id).values(**values, note=clean_text(plan.note)))

    def _wanted(self, connection: Connection, plan: Plan) -> dict[str, object]:
        return {
            "snapshot": self._save_snapshot(connection, plan.benchmark),
            "config": plan.config.model_dump(mode="json"),
            "config_hash": config_hash(plan.config),
            "question_ids": list(plan.question_ids),
            "skipped": [list(question) for question in plan.skipped],
            "total": plan.rows,
        }

    def _save_snapshot(self, connection: Connection, benchmark: Benchmark) -> str:
        text = clean_text(benchmark.to_json())
        digest = hashlib.sha256(text.encode()).hexdigest()
        query = self.upsert(snapshot).values(
            hash=digest, question_ids=list(benchmark.get_question_ids()), checkpoint=text
        )
        connection.execute(query.on_conflict_do_nothing(index_elements=["hash"]))
        return digest

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
            raise _unknown(run_id)
        return RunRow(**row)

    def run_plan(self, run_id: str) -> Plan:
        """Return what a run wants, over the benchmark as it was when the run was created.

        Raises:
            InputError: There is none of that id.
        """
        query = select(table.c.config, table.c.question_ids, table.c.skipped, snapshot.c.checkpoint)
        with self.reading() as connection:
            row = connection.execute(query.join(snapshot).where(table.c.id == run_id)).first()
        if row is None:
            raise _unknown(run_id)
        config = VerificationConfig.model_validate(row.config)
        skipped = tuple(SkippedQuestion(*question) for question in row.skipped)
        return Plan(Benchmark.from_json(row.checkpoint), config, tuple(row.question_ids), skipped)

    def run_order(self, run_id: str) -> Order:
        """Return the order of a run's rows.

        Raises:
            InputError: There is none of that id.
        """
        query = select(table.c.config, snapshot.c.question_ids).join(snapshot).where(table.c.id == run_id)
        with self.reading() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise _unknown(run_id)
        answering, parsing = (
            [model["id"] for model in row.config[role]] for role in ("answering_models", "parsing_models")
        )
        return Order(row.question_ids, answering, parsing)

    def set_status(self, run_id: str, status: RunStatus, note: str | None = None) -> None:
        """Note where a run stands, with the time when it starts and ends.

        Args:
            run_id: The run.
            status: Where it stands now.
            note: What a person should know; the old note stays when not given.
        """
        values: dict[str, object] = {"status": status, "finished": now() if status in _ENDED else None}
        if note is not None:
            values["note"] = clean_text(note)
        if status == "running":
            values["started"] = func.coalesce(table.c.started, now())
        self._update(run_id, **values)

    def add_work(self, run_id: str, spent: Usage, seconds: float) -> None:
        """Add calls, cost and working time to a run's account."""
        with self.writing() as connection:
            values = {**spending(spent), "seconds": table.c.seconds + seconds}
            done = connection.execute(update(table).where(table.c.id == run_id).values(**values))
            self.add_spending(connection, spent.cost)
        if not done.rowcount:
            raise _unknown(run_id)

    def limit_cost(self, run_id: str, max_cost: float | None) -> None:
        """Let a run spend another amount of US dollars in all; None without a bound.

        Raises:
            InputError: The run is under way, or there is none of that id, or the amount is none.
        """
        run = self.run(run_id)
        if run.status in ("running", "paused"):
            raise InputError("The limit of a run that is under way cannot change.", next="Let it end, or cancel it.")
        settings = {**run.settings, "max_cost": max_cost}
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
            raise _unknown(run_id)


def spending(spent: Usage) -> dict[str, object]:
    """Return the column updates that add calls and cost to a run's account."""
    values: dict[str, object] = {
        "calls": table.c.calls + spent.calls,
        "cached_calls": table.c.cached_calls + spent.cached_calls,
    }
    if spent.cost is not None:
        values["cost"] = func.coalesce(table.c.cost, 0.0) + spent.cost
    return values


def _check_wider(before: Plan, after: Plan) -> None:
    old, new = before.config.model_dump(mode="json"), after.config.model_dump(mode="json")
    for role in ("answering_models", "parsing_models"):
        if new[role][: len(old[role])] != old[role]:
            raise InputError(
                f"A run can gain {role.replace('_', ' ')}, not lose or change them.", next="Start a new run."
            )
    if new["replicate_count"] < old["replicate_count"] or set(before.question_ids) - set(after.question_ids):
        raise InputError("A run can gain questions and replicates, not lose them.", next="Start a new run.")
    fixed = {"answering_models", "parsing_models", "replicate_count", "max_concurrent_requests"}
    changed = sorted(name for name in old if name not in fixed and old[name] != new[name])
    if changed:
        raise InputError(f"A run cannot change {', '.join(changed)}.", next="Start a new run.")


def _unknown(run_id: str) -> InputError:
    return InputError(f"There is no stored run {run_id!r}.", next="Choose one from the list of runs.")
