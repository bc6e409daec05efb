"""The place of a row in its run: by question, answering model, judge, replicate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from karenina_core.errors import InputError
from karenina_core.schemas import RowKey

_WIDTH = 10_000


class Order:
    """Turns row identities into sortable numbers.

    The numbers stay valid when models, replicates or questions are added at the end.

    Args:
        question_ids: All questions of the benchmark snapshot, in order.
        answering: Ids of the answering models, in the order of the configuration.
        parsing: Ids of the judges.
    """

    def __init__(self, question_ids: Iterable[str], answering: Sequence[str], parsing: Sequence[str]) -> None:
        self._questions = {name: number for number, name in enumerate(question_ids)}
        self._answering = {name: number for number, name in enumerate(answering)}
        self._parsing = {name: number for number, name in enumerate(parsing)}

    def position(self, key: RowKey) -> int:
        """Return the sort number of a row.

        Raises:
            InputError: The row does not belong to the run.
        """
        try:
            number = self._questions[key.question_id]
            number = number * _WIDTH + self._answering[key.answering_model]
            number = number * _WIDTH + self._parsing[key.parsing_model]
        except KeyError as error:
            raise InputError(
                f"The result {key!r} does not belong to this run.", why=f"It does not know {error}."
            ) from error
        return number * _WIDTH + key.replicate
