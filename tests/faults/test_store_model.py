"""A store against a model of it: put, killed, resumed and replaced, it keeps what was committed and nothing else."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import insert

from karenina_core.models import ChatReply, call_key
from karenina_core.runs import Store, wanted
from karenina_core.runs.engine.ledger import StoreLedger
from karenina_core.runs.engine.writer import BatchWriter, ResultWrite
from karenina_core.runs.store.results import rows_of
from karenina_core.runs.store.schema import setting
from karenina_core.schemas import Usage
from tests.runs.fakes import (
    answer_request,
    failure_of,
    full_result,
    on_a_loop,
    plain_result,
    small_benchmark,
    small_config,
)

QUESTIONS = 6
MODEL = small_config().answering_models[0]
numbers = st.integers(1, QUESTIONS)
outcomes = st.sampled_from(["pass", "fail", "not_evaluated", "error", "full"])


class StoreModel(RuleBasedStateMachine):
    """One run whose process is killed again and again.

    A kill leaves the files as they are at that moment, also in the middle of a transaction, and takes everything else.
    """

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.life = 0
        self.results: dict[str, str] = {}
        self.calls: dict[str, str] = {}
        self.spent = 0
        self.open()
        self.run_id = self.store.runs.create(wanted(small_benchmark(QUESTIONS), small_config()))
        self.claim()

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    def open(self) -> None:
        self.store = Store.open(self.folder / str(self.life) / "karenina.db")
        self.owner = f"{socket.gethostname()}/{os.getpid()}/{self.life}"

    def claim(self) -> None:
        """Owners of earlier lives are dead, so each life gets the run at once."""
        assert self.store.runs.claim(self.run_id, self.owner)
        self.store.runs.set_status(self.run_id, "running")

    @rule(number=numbers, outcome=outcomes)
    def put_result(self, number: int, outcome: str) -> None:
        question = f"q{number}"
        if outcome == "error":
            result = plain_result(question, failure=failure_of("timeout"))
        elif outcome == "full":
            result = full_result(question)
        else:
            result = plain_result(question, verdict=outcome)
        writer = BatchWriter(self.store)
        on_a_loop(lambda: writer.enqueue(ResultWrite(rows_of(self.run_id, result), Usage(calls=1), self.owner)))
        writer.close()
        self.results[question] = result.verdict
        self.spent += 1

    @rule(number=numbers, text=st.text(max_size=5).filter(lambda text: "\0" not in text))
    def put_call(self, number: int, text: str) -> None:
        writer = BatchWriter(self.store)
        ledger = StoreLedger(self.store, writer)
        request = answer_request(f"q{number}", MODEL)
        key = call_key(MODEL, request)
        on_a_loop(lambda: ledger.put(key, request, MODEL, ChatReply(text)))
        ledger.close()
        writer.close()
        self.calls[key] = text

    @rule(number=numbers)
    def kill_in_the_middle_of_a_transaction(self, number: int) -> None:
        with self.store.engine.execution_options(writes=True).connect() as connection:
            connection.begin()
            never = rows_of(self.run_id, full_result(f"q{number}", "never committed"))
            self.store.results.insert(connection, self.run_id, [never])
            connection.execute(insert(setting).values(key=f"torn {self.life}", value=1))
            self.files_as_they_are()
            connection.rollback()
        self.rise()

    @rule()
    def kill(self) -> None:
        self.files_as_they_are()
        self.rise()

    @rule()
    def close_and_open(self) -> None:
        self.store.close()
        self.store = Store.open(self.folder / str(self.life) / "karenina.db")

    def files_as_they_are(self) -> None:
        shutil.copytree(self.folder / str(self.life), self.folder / str(self.life + 1))

    def rise(self) -> None:
        self.store.close()
        self.life += 1
        self.open()
        assert self.store.runs.interrupt_abandoned() == [self.run_id]
        assert self.store.runs.get(self.run_id).status == "interrupted"
        self.claim()

    @precondition(lambda self: hasattr(self, "run_id"))
    @invariant()
    def everything_committed_is_there_and_nothing_else(self) -> None:
        store, run_id = self.store, self.run_id
        assert {row["question_id"]: row["verdict"] for row in store.results.rows(run_id)} == self.results
        assert [result.question_id for result in store.results.all(run_id)] == sorted(self.results)
        assert store.settings.all("torn") == {}

    @precondition(lambda self: hasattr(self, "run_id"))
    @invariant()
    def the_counts_are_those_of_the_rows(self) -> None:
        run, verdicts = self.store.runs.get(self.run_id), list(self.results.values())
        assert (run.done, run.passed, run.failed, run.not_evaluated, run.calls) == (
            len(verdicts),
            verdicts.count("pass"),
            verdicts.count("fail"),
            verdicts.count("not_evaluated"),
            self.spent,
        )

    @precondition(lambda self: hasattr(self, "run_id"))
    @invariant()
    def every_paid_call_is_known(self) -> None:
        known = self.store.calls.replies(list(self.calls)) if self.calls else {}
        assert known.keys() == self.calls.keys()


TestStoreModel = StoreModel.TestCase
TestStoreModel.settings = settings(max_examples=12, stateful_step_count=15, deadline=None)
