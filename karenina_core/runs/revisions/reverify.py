"""Deciding stored answers again by the rules of today, without any model call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, KareninaError
from karenina_core.pipeline import needs_judge_again, reverify_result, verdict_now
from karenina_core.runs.engine.work import is_final
from karenina_core.runs.plans.plan import wanted
from karenina_core.runs.revisions.family import revisions
from karenina_core.runs.store import RunRow, Store
from karenina_core.runs.store.results import decode
from karenina_core.schemas import Extraction, RowKey, Verdict, VerificationResult

_BATCH = 200


class Flip(NamedTuple):
    """A row whose verdict is another one now."""

    key: RowKey
    question: str
    before: Verdict
    after: Verdict


@dataclass(frozen=True)
class Share:
    """Passes among the rows that have a verdict, and how many rows have none."""

    passed: int
    evaluated: int
    not_evaluated: int

    @property
    def rate(self) -> float | None:
        """Passes among evaluated rows, 0 to 1; None when there are none."""
        return self.passed / self.evaluated if self.evaluated else None


@dataclass(frozen=True)
class FlipList:
    """What a change of the rules changes.

    Attributes:
        flips: Rows whose verdict differs, in row order.
        before: The share of passes before.
        after: The share of passes after, over the same rows.
        unmatched: Rows that only one of the two sides has; they count on neither.
        waiting: Rows that only the judge can decide, who is asked for something else now.
    """

    flips: tuple[Flip, ...]
    before: Share
    after: Share
    unmatched: int = 0
    waiting: tuple[RowKey, ...] = ()

    @property
    def improved(self) -> tuple[Flip, ...]:
        """Rows that pass now and did not."""
        return tuple(flip for flip in self.flips if flip.after == "pass")

    @property
    def regressed(self) -> tuple[Flip, ...]:
        """Rows that passed and do not any more."""
        return tuple(flip for flip in self.flips if flip.before == "pass")


class _Verdict(NamedTuple):
    question: str
    verdict: Verdict


def flips(store: Store, before_run: str, after_run: str) -> FlipList:
    """Compare the verdicts of two stored runs, row by row.

    Raises:
        InputError: There is no such run.
    """
    for run_id in (before_run, after_run):
        store.runs.get(run_id)
    return _compare(_by_key(store.results.rows(before_run)), _by_key(store.results.rows(after_run)))


def preview(store: Store, run_id: str, benchmark: Benchmark, question_ids: Iterable[str] | None = None) -> FlipList:
    """Tell what `reverify` would change, without storing anything.

    Args:
        store: Holds the run.
        run_id: The run.
        benchmark: With the rules of today.
        question_ids: Look at these questions only.
    """
    filters = {} if question_ids is None else {"question_id": list(question_ids)}
    before, after, waiting = {}, {}, []
    for text in store.results.texts(run_id, **filters):
        seen = Extraction.model_validate_json(text)
        if seen.question.id in benchmark:
            verdict = verdict_now(seen, benchmark) or reverify_result(decode(text), benchmark).verdict
            before[seen.key] = _Verdict(seen.question.question, seen.verdict)
            after[seen.key] = _Verdict(seen.question.question, verdict)
            if verdict == "not_evaluated" and needs_judge_again(seen, benchmark):
                waiting.append(seen.key)
    return replace(_compare(before, after), waiting=tuple(waiting))


def reverify(store: Store, run_id: str, benchmark: Benchmark | None = None) -> str:
    """Decide the answers and extractions of a run by the present rules, and return the id of the new run.

    The run itself stays as it is and becomes the parent of the new one. Rows whose judge would be asked for something
    else now are stored as `skipped`; starting the new run asks the judge for those. Rows of questions that the
    benchmark has no more, or that are no longer finished, are left out.

    Args:
        store: Holds the run.
        run_id: The run.
        benchmark: With the rules of today; the stored benchmark of the run when not given, or the run's own copy.

    Raises:
        InputError: There is no such run.
        StoreError: The database refused; no revision is left behind.
    """
    run, plan = store.runs.get(run_id), store.runs.plan(run_id)
    if benchmark is None:
        benchmark = store.benchmarks.load(run.benchmark_id) if run.benchmark_id else plan.benchmark
    revision = wanted(benchmark, plan.config, plan.question_ids)
    if not revision.question_ids:
        raise InputError(
            "The run and the benchmark have no finished question in common.",
            next="Choose the benchmark that the run was made with.",
        )
    new_id = store.runs.create(revision, _name(store, run), benchmark_id=run.benchmark_id, parent_run=run_id)
    kept = set(revision.question_ids)
    results = (result for result in store.results.iterate(run_id) if result.question_id in kept)
    try:
        for batch in _batches(reverify_result(result, benchmark) for result in results):
            store.results.save(new_id, batch)
    except KareninaError:
        # Half a revision would pass for a whole one.
        store.runs.delete(new_id)
        raise
    _conclude(store, new_id)
    return new_id


def _name(store: Store, run: RunRow) -> str:
    """Return a name for the next revision: that of the first run, and a number from the second revision on."""
    family = revisions(store, run.id)
    number = f" {len(family)}" if len(family) > 1 else ""
    return f"{family[0].run.name} (re-verified{number})"


def _conclude(store: Store, run_id: str) -> None:
    run = store.runs.get(run_id)
    waiting = sum(number for outcome, number in store.results.outcome_counts(run_id) if not is_final(outcome))
    missing = run.total - run.done
    left = waiting + missing
    needs = f"{left} {'row needs' if left == 1 else 'rows need'} a model again; resume the run to ask it."
    note = " ".join(part for part in (run.note, needs if left else "") if part)
    store.runs.set_status(run_id, "interrupted" if missing else "completed", note)


def _batches(results: Iterator[VerificationResult]) -> Iterator[Sequence[VerificationResult]]:
    while batch := list(islice(results, _BATCH)):
        yield batch


def _by_key(rows: Iterable[dict[str, Any]]) -> dict[RowKey, _Verdict]:
    return {RowKey(*(row[name] for name in RowKey._fields)): _Verdict(row["question"], row["verdict"]) for row in rows}


def _compare(before: dict[RowKey, _Verdict], after: dict[RowKey, _Verdict]) -> FlipList:
    common = [key for key in before if key in after]
    changed = [key for key in common if before[key].verdict != after[key].verdict]
    return FlipList(
        flips=tuple(Flip(key, after[key].question, before[key].verdict, after[key].verdict) for key in changed),
        before=_share(before[key].verdict for key in common),
        after=_share(after[key].verdict for key in common),
        unmatched=len(before) + len(after) - 2 * len(common),
    )


def _share(verdicts: Iterable[Verdict]) -> Share:
    counted = list(verdicts)
    missing = counted.count("not_evaluated")
    return Share(counted.count("pass"), len(counted) - missing, missing)
