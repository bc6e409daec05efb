"""From a stored run to what carries it out: who has it, with which configuration, what is left, whether it can work."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from karenina_core.errors import ConfigError, StoreError
from karenina_core.models import max_concurrent
from karenina_core.runs.engine.again import kept
from karenina_core.runs.engine.budget import daily_budget
from karenina_core.runs.engine.evaluation import Evaluator, EvaluatorFactory
from karenina_core.runs.engine.job import Job
from karenina_core.runs.engine.ledger import StoreLedger
from karenina_core.runs.engine.progress import Tally
from karenina_core.runs.engine.work import WorkQueue, remaining
from karenina_core.runs.engine.writer import Writer
from karenina_core.runs.plans.plan import Plan, config_hash
from karenina_core.runs.plans.prepared import answers_missing, require_answers
from karenina_core.runs.store import Store
from karenina_core.schemas import VerificationConfig

_KEPT_ANSWERS = 16  # runs


class Ready(NamedTuple):
    """A run that can begin: its job, what answers and judges, and what is left to do."""

    job: Job
    evaluator: Evaluator
    queue: WorkQueue


class Launcher:
    """Takes stored runs and puts together what carries them out. Its methods wait for the store.

    Args:
        store: Holds the runs.
        writer: Writes their results.
        ledger: Remembers their calls.
        owner: In whose name runs are taken.
        make_evaluator: Makes what answers and judges, from benchmark, configuration and ledger.
    """

    def __init__(
        self, store: Store, writer: Writer, ledger: StoreLedger, owner: str, make_evaluator: EvaluatorFactory
    ) -> None:
        self._store = store
        self._writer = writer
        self._ledger = ledger
        self._owner = owner
        self._make_evaluator = make_evaluator
        self._prepared: dict[str, VerificationConfig] = {}  # with the prepared answers, which are never stored

    def needs_answers(self, run_id: str) -> tuple[str, ...]:
        """Return the models whose prepared answers must be given to `make_ready` again, by their ids.

        Raises:
            InputError: There is no such run.
        """
        run = self._store.runs.get(run_id)
        known = self._recalled(run_id, None, run.config_hash)
        return answers_missing(run.config) if known is None else ()

    def take(self, run_id: str) -> None:
        """Take a run, so that no other process carries it out.

        Raises:
            StoreError: Another process has it.
        """
        if not self._store.runs.claim(run_id, self._owner):
            raise StoreError(
                f"Run {run_id!r} is being carried out by another process.",
                next="Watch it here, and pause or cancel it there.",
            )

    def make_ready(self, run_id: str, config: VerificationConfig | None) -> Ready:
        """Take a run and return what carries it out; a run that cannot work ends as failed, with the reason.

        Args:
            run_id: A stored run.
            config: Its own configuration, given again because of its prepared answers.

        Raises:
            InputError: There is no such run.
            ConfigError: The run cannot work, or the configuration is not the run's.
            StoreError: Another process carries the run out, or the database refuses.
        """
        stored_hash = self._store.runs.get(run_id).config_hash
        self.take(run_id)
        try:
            daily_budget(), max_concurrent()  # settings of the environment that cannot be used stop the run here
            plan = _with_config(self._store.runs.plan(run_id), self._recalled(run_id, config, stored_hash), stored_hash)
            return self._assemble(run_id, plan)
        except Exception as error:
            self._store.runs.end(run_id, self._owner, "failed", str(error))
            raise

    def _recalled(self, run_id: str, config: VerificationConfig | None, stored_hash: str) -> VerificationConfig | None:
        """Keep a configuration with prepared answers for as long as this process lives, or return the one kept."""
        if config is not None:
            if any(model.manual_traces is not None for model in config.answering_models):
                self._prepared = {**dict(list(self._prepared.items())[1 - _KEPT_ANSWERS :]), run_id: config}
            return config
        known = self._prepared.get(run_id)
        return known if known is not None and config_hash(known) == stored_hash else None

    def _assemble(self, run_id: str, plan: Plan) -> Ready:
        order = self._store.runs.order(run_id, reload=True)
        stored = self._store.results.outcomes(run_id)
        staying = kept(self._store, run_id, plan, order, stored)
        # An answer that was there once is in the ledger, whatever else the row lacks.
        there = (row for row in stored if row.failure_category != "missing_recording")
        require_answers(plan, Counter(row.answering_model for row in there))
        queue = WorkQueue(remaining(plan, order, staying))
        again = {outcome.position: outcome for outcome in stored if outcome.position not in staying}
        tally = Tally(((outcome, 1) for outcome in stored), again=again, position=order.position)
        self._store.runs.set_status(run_id, "running", plan.note)
        job = Job(self._store, self._writer, self._ledger, self._owner, self._store.runs.get(run_id), plan, tally)
        evaluator = self._make_evaluator(plan.benchmark, plan.config, job.ledger)
        problems = evaluator.preflight()
        if problems:
            raise ConfigError("The run cannot start.", why=" ".join(problems))
        return Ready(job, evaluator, queue)


def _with_config(plan: Plan, config: VerificationConfig | None, stored_hash: str) -> Plan:
    """Use the given configuration, if it is the one the run was made with."""
    chosen = plan.config if config is None else config
    if config_hash(chosen) != stored_hash:
        raise ConfigError(
            "The configuration is not the one this run was made with.",
            next="Start a new run; the answers that stay the same are taken from the ledger.",
        )
    return replace(plan, config=chosen)
