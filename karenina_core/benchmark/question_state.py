"""Whether each question takes part in a run, in a word and a sentence."""

from __future__ import annotations

from typing import Literal, NamedTuple

from karenina_core.benchmark.benchmark import Benchmark

State = Literal["ready", "draft", "issue"]
ONLY_TRAITS = "It has no template: only traits are evaluated."


class QuestionState(NamedTuple):
    """Where a question stands.

    Attributes:
        state: `ready` (takes part), `draft` (unfinished) or `issue` (something prevents its evaluation).
        reason: Why it does not take part, or what is left out when it does; often empty.
    """

    state: State
    reason: str = ""


def question_states(benchmark: Benchmark) -> dict[str, QuestionState]:
    """Return where every question of a benchmark stands, by id."""
    errors: dict[str, str] = {}
    for problem in benchmark.check():
        if problem.question_id and problem.severity == "error":
            errors.setdefault(problem.question_id, f"{problem.what} {problem.next}".strip())
    return {question.id: _state(benchmark, question.id, errors.get(question.id)) for question in benchmark}


def _state(benchmark: Benchmark, question_id: str, error: str | None) -> QuestionState:
    question = benchmark.get_question(question_id)
    if error:
        return QuestionState("issue", error)
    if not question.finished:
        return QuestionState("draft", "It is not marked as finished.")
    if question.answer_template is not None:
        return QuestionState("ready")
    if _evaluated_traits(benchmark, question_id):
        return QuestionState("ready", ONLY_TRAITS)
    return QuestionState("issue", "It has no template and no rubric trait to evaluate, so nothing would be decided.")


def _evaluated_traits(benchmark: Benchmark, question_id: str) -> bool:
    rubric = benchmark.get_merged_rubric_for_question(question_id)
    return any(trait.type != "stored" for trait in rubric.traits) if rubric else False
