"""Which questions of a benchmark to run: by keyword, by search, or by how they fared in an earlier run."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from karenina_core.runs.store import Store

Trouble = Literal["fail", "error", "not_evaluated"]
TROUBLES: tuple[Trouble, ...] = ("fail", "error", "not_evaluated")


def questions_of(store: Store, run_id: str, verdicts: Collection[str] = ("fail", "error")) -> list[str]:
    """Return the questions of a run that have at least one result of a kind, in the benchmark's order.

    Args:
        store: Holds the run.
        run_id: The run.
        verdicts: `pass`, `fail`, `not_evaluated`, or `error` for rows that failed for technical reasons, which are
            among those not evaluated.

    Raises:
        InputError: There is no such run, or no such verdict.
    """
    known = {"pass", *TROUBLES}
    wrong = sorted(set(verdicts) - known)
    if wrong:
        raise InputError(f"There is no verdict {wrong[0]!r}.", next=f"Use one of: {', '.join(sorted(known))}.")
    store.runs.get(run_id)
    decided = [verdict for verdict in verdicts if verdict != "error"]
    rows = store.results.rows(run_id, verdict=decided) if decided else []
    if "error" in verdicts:
        rows += store.results.rows(run_id, status="failed")
    found = {row["question_id"] for row in rows}
    return [question_id for question_id in store.runs.plan(run_id).question_ids if question_id in found]


def choose_questions(
    benchmark: Benchmark,
    *,
    keywords: Collection[str] = (),
    search: str = "",
    question_ids: Iterable[str] | None = None,
) -> list[str]:
    """Return the questions that meet every condition given, in the benchmark's order.

    Args:
        benchmark: The benchmark.
        keywords: The question has one of them; letter case does not matter.
        search: Part of the question, the reference answer, a keyword or the id.
        question_ids: The question is one of these; unknown ones are kept, so that a plan can name them.
    """
    named = None if question_ids is None else list(dict.fromkeys(question_ids))
    folded = {keyword.casefold() for keyword in keywords}
    found = [
        name
        for name in benchmark.get_question_ids()
        if (named is None or name in named) and _meets(benchmark, name, folded, search.strip().casefold())
    ]
    unknown = [name for name in named or () if name not in benchmark]
    return [*found, *unknown]


def all_keywords(benchmark: Benchmark) -> list[str]:
    """Return the keywords of a benchmark's questions, sorted."""
    words = {word for name in benchmark.get_question_ids() for word in benchmark.get_question(name).keywords}
    return sorted(words, key=str.casefold)


def _meets(benchmark: Benchmark, name: str, keywords: set[str], search: str) -> bool:
    question = benchmark.get_question(name)
    if keywords and not keywords & {word.casefold() for word in question.keywords}:
        return False
    text = "\n".join([question.question, question.raw_answer, *question.keywords, name]).casefold()
    return not search or search in text
