"""Stored answers, looked at and decided again by the rules of today, without any model call.

A revision is a run with a parent. It has the answers and extractions of the parent, a copy of the benchmark whose
rules decided, and verdicts of its own; so it can be read, compared and exported like every run, and the verdicts of
its parent stay readable for ever.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from karenina_core.authoring import StoredAnswer
from karenina_core.benchmark import Benchmark
from karenina_core.differences import line_diff
from karenina_core.errors import InputError, KareninaError
from karenina_core.pipeline import Sample, needs_judge_again, reverify_result, verdict_now
from karenina_core.runs.engine.work import is_final
from karenina_core.runs.plan import wanted
from karenina_core.runs.store import RunRow, Store
from karenina_core.runs.store.results import decode
from karenina_core.schemas import Extraction, RowKey, Verdict, VerificationResult, result_id
from karenina_core.templates import TemplateSpec
from karenina_core.text import counted

MOST_TEMPLATES = 200
"""So many changed templates of two runs are compared line by line; in more, nobody reads the differences."""
MOST_ANSWERS = 2_000
"""At most this many answers of one run are read."""
MOST_JUDGED = 1_000
"""At most this many answers to one question are read, the newest runs first."""
_BATCH = 200


@dataclass(frozen=True)
class Revision:
    """One of the revisions of a run.

    Attributes:
        number: Counts from 1, which is the run that was carried out first.
        run: The run that holds it.
    """

    number: int
    run: RunRow


def revisions(store: Store, run_id: str) -> list[Revision]:
    """Return all revisions of the run that a run belongs to, the oldest first; deleted ones are left out.

    Raises:
        InputError: There is no such run.
    """
    known = {run.id: run for run in store.runs.all()}
    first = store.runs.get(run_id)
    while first.parent_run is not None and first.parent_run in known:
        first = known[first.parent_run]
    lineage, size = {first.id}, 0
    while size < len(lineage):
        size = len(lineage)
        lineage |= {run.id for run in known.values() if run.parent_run in lineage}
    later = sorted((known[name] for name in lineage - {first.id}), key=lambda run: (run.created, run.id))
    return [Revision(number, run) for number, run in enumerate([first, *later], 1)]


class ChangedTemplates(NamedTuple):
    """How the templates of two runs differ.

    Attributes:
        differences: By question text the lines that changed, of the first `MOST_TEMPLATES` templates.
        total: How many templates changed.
    """

    differences: dict[str, str]
    total: int


def template_differences(store: Store, before_run: str, after_run: str) -> ChangedTemplates:
    """Return how the templates of the second of two runs differ from those of the first, line by line.

    Raises:
        InputError: There is no such run.
    """
    if store.runs.get(before_run).snapshot == store.runs.get(after_run).snapshot:
        return ChangedTemplates({}, 0)
    before, after = store.runs.plan(before_run).benchmark, store.runs.plan(after_run).benchmark
    changed = {
        name: (before.get_template(name) or "", after.get_template(name) or "")
        for name in after.get_question_ids()
        if name in before and before.get_template(name) != after.get_template(name)
    }
    first = islice(changed.items(), MOST_TEMPLATES)
    return ChangedTemplates({after.get_question(name).question: line_diff(*pair) for name, pair in first}, len(changed))


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


_Verdicts = dict[RowKey, tuple[str, Verdict]]  # question and verdict


def flips(store: Store, before_run: str, after_run: str) -> FlipList:
    """Compare the verdicts of two stored runs, row by row.

    Raises:
        InputError: There is no such run.
    """
    before, after = (
        {
            RowKey(*(row[name] for name in RowKey._fields)): (row["question"], row["verdict"])
            for row in store.results.rows(store.runs.get(run_id).id)
        }
        for run_id in (before_run, after_run)
    )
    return _compare(before, after)


def preview(store: Store, run_id: str, benchmark: Benchmark, question_ids: Iterable[str] | None = None) -> FlipList:
    """Tell what `reverify` would change, without storing anything.

    Args:
        store: Holds the run.
        run_id: The run.
        benchmark: With the rules of today.
        question_ids: Look at these questions only.
    """
    filters = {} if question_ids is None else {"question_id": list(question_ids)}
    before: _Verdicts = {}
    after: _Verdicts = {}
    waiting = []
    for text in store.results.texts(run_id, **filters):
        stored = Extraction.model_validate_json(text)
        if stored.question.id in benchmark:
            verdict = verdict_now(stored, benchmark) or reverify_result(decode(text), benchmark).verdict
            before[stored.key] = stored.question.question, stored.verdict
            after[stored.key] = stored.question.question, verdict
            if verdict == "not_evaluated" and needs_judge_again(stored, benchmark):
                waiting.append(stored.key)
    return replace(_compare(before, after), waiting=tuple(waiting))


def _compare(before: _Verdicts, after: _Verdicts) -> FlipList:
    pairs = {key: (question, before[key][1], verdict) for key, (question, verdict) in after.items() if key in before}
    return FlipList(
        flips=tuple(Flip(key, *pairs[key]) for key in before if key in pairs and pairs[key][1] != pairs[key][2]),
        before=_share([verdict for _, verdict, _ in pairs.values()]),
        after=_share([verdict for _, _, verdict in pairs.values()]),
        unmatched=len(before) + len(after) - 2 * len(pairs),
    )


def _share(verdicts: Sequence[Verdict]) -> Share:
    missing = verdicts.count("not_evaluated")
    return Share(verdicts.count("pass"), len(verdicts) - missing, missing)


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
    earlier = revisions(store, run_id)
    number = f" {len(earlier)}" if len(earlier) > 1 else ""
    name = f"{earlier[0].run.name} (re-verified{number})"
    new_id = store.runs.create(revision, name, benchmark_id=run.benchmark_id, parent_run=run_id)
    present = set(revision.question_ids)
    results = (
        reverify_result(result, benchmark) for result in store.results.iterate(run_id) if result.question_id in present
    )
    try:
        while batch := list(islice(results, _BATCH)):
            store.results.save(new_id, batch)
    except KareninaError:
        # Half a revision would pass for a whole one.
        store.runs.delete(new_id)
        raise
    _conclude(store, new_id)
    return new_id


def _conclude(store: Store, run_id: str) -> None:
    run = store.runs.get(run_id)
    waiting = sum(number for outcome, number in store.results.outcome_counts(run_id) if not is_final(outcome))
    missing = run.total - run.done
    left = waiting + missing
    needs = f"{counted(left, 'row')} {'needs' if left == 1 else 'need'} a model again; resume the run to ask it."
    note = " ".join(part for part in (run.note, needs if left else "") if part)
    store.runs.set_status(run_id, "interrupted" if missing else "completed", note)


class RunAnswer(NamedTuple):
    """An answer of a run.

    Attributes:
        result_id: The result of its first judge, for links.
        sample: The answer as a trait assesses it.
    """

    result_id: str
    sample: Sample


class RunAnswers(NamedTuple):
    """Answers of a run.

    Attributes:
        answers: In row order.
        cut: Whether there are more than were read.
    """

    answers: tuple[RunAnswer, ...]
    cut: bool


def run_answers(
    store: Store, run_id: str, question_ids: Sequence[str] | None = None, most: int = MOST_ANSWERS
) -> RunAnswers:
    """Return the answers of a run, each once however many judges it had.

    Args:
        store: Holds the run.
        run_id: The run.
        question_ids: Only answers to these questions.
        most: At most this many, the first ones.

    Raises:
        InputError: There is no such run.
    """
    judge = store.runs.get(run_id).config.parsing_models[0]
    filters = {} if question_ids is None else {"question_id": list(question_ids)}
    stored = map(Extraction.model_validate_json, store.results.texts(run_id, parsing_model=judge.id, **filters))
    found = ((item, item.answer.text) for item in stored if item.answer is not None)
    answers = [
        RunAnswer(result_id(item.key), Sample(item.question.question, text, *item.key[:2], item.replicate))
        for item, text in islice(found, most + 1)
    ]
    return RunAnswers(tuple(answers[:most]), len(answers) > most)


class JudgedAnswer(NamedTuple):
    """An answer that is stored, and what a judge extracted from it.

    Attributes:
        run: The newest run that has it.
        result: The result in it, which has an answer.
    """

    run: RunRow
    result: VerificationResult

    @property
    def response(self) -> str:
        """The answer's text."""
        return self.result.raw_llm_response or ""

    @property
    def values(self) -> Mapping[str, Any] | None:
        """What was extracted, by field; None where no judge extracted anything."""
        return self.result.template.parsed if self.result.template else None

    def known_to(self, spec: TemplateSpec) -> StoredAnswer | None:
        """Return what a template can decide on, or None where a judge was not asked for all of its fields."""
        values = self.values or {}
        if any(item.name not in values for item in spec.judged):
            return None
        truths = {item.name: item.ground_truth for item in spec.fields if item.is_semantic}
        similar = {
            item.name: item.similarity
            for item in (self.result.template.fields if self.result.template else ())
            # Computed with another truth, it says nothing.
            if item.similarity is not None and truths.get(item.name) == item.expected
        }
        return StoredAnswer(values, self.response, similar)


def stored_answers(store: Store, question_id: str, most: int = MOST_JUDGED) -> list[JudgedAnswer]:
    """Return the stored answers to a question, of all runs, the newest runs first.

    The same answer with the same extraction counts once: a re-verified run copies what it was made from.

    Args:
        store: Holds the runs.
        question_id: The question.
        most: At most this many are returned.
    """
    answers: dict[str, JudgedAnswer] = {}
    for run in store.runs.all():
        if len(answers) >= most:
            break
        for result in store.results.iterate(run.id, question_id=question_id):
            if result.answer is not None:
                answer = JudgedAnswer(run, result)
                identity = json.dumps([*result.key, answer.response, answer.values], sort_keys=True, default=str)
                answers.setdefault(identity, answer)
    return list(islice(answers.values(), most))
