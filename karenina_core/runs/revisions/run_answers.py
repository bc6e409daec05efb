"""The answers of a run to look at, each once however many judges it had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karenina_core.pipeline import Sample
from karenina_core.runs.store import Store
from karenina_core.schemas import Extraction, result_id

MOST = 2_000


class RunAnswer(NamedTuple):
    """An answer of a run.

    Attributes:
        result_id: The result of its first judge, for links.
        question_id: The question.
        question: Its text.
        model: Label of the model that answered.
        replicate: Repetition, counted from 1.
        text: The answer.
    """

    result_id: str
    question_id: str
    question: str
    model: str
    replicate: int
    text: str

    @property
    def sample(self) -> Sample:
        """The answer as a trait assesses it."""
        return Sample(self.question, self.text, self.question_id, self.model, self.replicate)


class RunAnswers(NamedTuple):
    """Answers of a run.

    Attributes:
        answers: In row order.
        cut: Whether there are more than were read.
    """

    answers: tuple[RunAnswer, ...]
    cut: bool


def run_answers(store: Store, run_id: str, question_ids: Sequence[str] | None = None, most: int = MOST) -> RunAnswers:
    """Return the answers of a run.

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
    found: list[RunAnswer] = []
    for text in store.results.texts(run_id, parsing_model=judge.id, **filters):
        seen = Extraction.model_validate_json(text)
        if seen.answer is None:
            continue
        if len(found) == most:
            return RunAnswers(tuple(found), True)
        question = seen.question
        found.append(
            RunAnswer(
                result_id(seen.key), question.id, question.question, seen.answering_model, seen.replicate,
                seen.answer.text,
            )
        )  # fmt: skip
    return RunAnswers(tuple(found), False)
