"""Whether each question takes part in a run, in a word and a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from karenina_core.benchmark.benchmark import Benchmark
from karenina_core.benchmark.problems import Problem
from karenina_core.schemas import Rubric

State = Literal["ready", "draft", "issue"]
ONLY_TRAITS = "It has no template: only traits are evaluated."
UNFINISHED = "It is not marked as finished."
NOTHING_DECIDES = "It has no template and no rubric trait to evaluate, so nothing would be decided."


class QuestionState(NamedTuple):
    """Where a question stands.

    Attributes:
        state: `ready` (takes part), `draft` (unfinished) or `issue` (something prevents its evaluation).
        reason: Why it does not take part, or what is left out when it does; often empty.
        obstacles: Everything that keeps it from being evaluated, one sentence each; empty when it is ready.
    """

    state: State
    reason: str = ""
    obstacles: tuple[str, ...] = ()


def question_states(benchmark: Benchmark, problems: Iterable[Problem] | None = None) -> dict[str, QuestionState]:
    """Return where every question of a benchmark stands, by id.

    Args:
        benchmark: The benchmark.
        problems: What its `check` returned; it is checked when not given.
    """
    errors: dict[str, list[str]] = {}
    for problem in benchmark.check() if problems is None else problems:
        if problem.question_id and problem.severity == "error":
            errors.setdefault(problem.question_id, []).append(f"{problem.what} {problem.next}".strip())
    shared = _evaluated(benchmark.get_global_rubric())
    return {question.id: _state(benchmark, question.id, errors.get(question.id, []), shared) for question in benchmark}


def _state(benchmark: Benchmark, question_id: str, errors: list[str], shared_traits: bool) -> QuestionState:
    question = benchmark.get_question(question_id)
    found = list(errors)
    only_traits = question.answer_template is None and (
        _evaluated(benchmark.get_merged_rubric_for_question(question_id)) if question.question_rubric else shared_traits
    )
    if question.answer_template is None and not only_traits:
        found.append(NOTHING_DECIDES)
    obstacles = (*found, *([] if question.finished else [UNFINISHED]))
    if errors:
        return QuestionState("issue", errors[0], obstacles)
    if not question.finished:
        return QuestionState("draft", UNFINISHED, obstacles)
    if found:
        return QuestionState("issue", found[0], obstacles)
    return QuestionState("ready", ONLY_TRAITS if only_traits else "")


def _evaluated(rubric: Rubric | None) -> bool:
    return any(trait.type != "stored" for trait in rubric.traits) if rubric else False
