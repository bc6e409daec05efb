"""Answers that people bring along, from any model that was asked elsewhere."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from karenina_core.errors import ConfigError, InputError, ModelError
from karenina_core.files import read_bytes, read_json
from karenina_core.models.ports import ChatReply, ChatRequest
from karenina_core.models.replies import clean_reply
from karenina_core.schemas import ModelConfig, Usage

MAX_BYTES = 50 * 2**20
UNNAMED = "manual"  # label of answers whose model is not named
_QUESTION_COLUMNS = ("question_id", "id", "question")
_NEXT = "Use a JSON object of question (or id) to answer, or a CSV file with the columns question, answer and model."


class ManualClient:
    """Gives prepared answers, found by question id or exact question text.

    Args:
        config: With `manual_traces`.
    """

    def __init__(self, config: ModelConfig) -> None:
        self.config = config
        self._answers = config.manual_traces or {}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the prepared answer.

        Raises:
            ConfigError: It is used as a judge.
            ModelError: There is no answer; category `missing_recording`.
        """
        if request.purpose != "answer":
            raise ConfigError(
                f"{self.config.id!r} holds prepared answers and cannot judge.", next="Choose another model as judge."
            )
        subject = request.subject
        text = self._answers.get(subject.question_id) or self._answers.get(subject.question)
        if not text or not text.strip():
            raise ModelError(
                f"{self.config.id!r} has no answer to question {subject.question_id!r}.",
                next="Add an answer by question id, or by the exact text of the question.",
                category="missing_recording",
            )
        text, finish_reason = clean_reply(text, "stop")
        return ChatReply(text, finish_reason, Usage(cost=0.0, calls=1), "manual")

    async def aclose(self) -> None:
        """Nothing is held."""


def read_answers(path: str | Path) -> dict[str, dict[str, str]]:
    """Read prepared answers from a file.

    Args:
        path: A `.json` file `{question or id: answer}`, or `{model: {question or id: answer}}`; or a CSV file with
            the columns `question` (or `question_id`), `answer` and, if it holds several, `model`.

    Returns:
        Model label → question or id → answer. Answers without a model are under `manual`.

    Raises:
        InputError: The file cannot be read; says in which row.
    """
    return parse_answers(read_bytes(path, limit=MAX_BYTES), Path(path).name)


def parse_answers(data: bytes, name: str) -> dict[str, dict[str, str]]:
    """Do the same with the content of a file; the ending of its name tells the format.

    Raises:
        InputError: It cannot be read; says in which row.
    """
    answers = _from_json(data, name) if name.lower().endswith(".json") else _from_csv(_text(data, name), name)
    if not any(answers.values()):
        raise InputError(f"The file {name!r} holds no answers.", next=_NEXT)
    return answers


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"The file {name!r} is not UTF-8 text.", why=str(error), next="Save it as UTF-8.") from None


def _from_json(raw: bytes, name: str) -> dict[str, dict[str, str]]:
    data = read_json(raw, limit=MAX_BYTES)
    if isinstance(data, dict) and data and all(isinstance(value, dict) for value in data.values()):
        return {label: _texts(answers, name) for label, answers in data.items()}
    return {UNNAMED: _texts(data, name)}


def _texts(answers: Any, name: str) -> dict[str, str]:
    if not isinstance(answers, dict):
        raise InputError(f"The file {name!r} does not hold a JSON object.", next=_NEXT)
    wrong = next((key for key, value in answers.items() if not isinstance(value, str)), None)
    if wrong is not None:
        raise InputError(f"The answer to {wrong!r} is not a text.", next=_NEXT)
    return answers


def _from_csv(text: str, name: str) -> dict[str, dict[str, str]]:
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    answers: dict[str, dict[str, str]] = {}
    try:
        columns = {str(column).strip().lower(): column for column in reader.fieldnames or ()}
        question = next((columns[column] for column in _QUESTION_COLUMNS if column in columns), None)
        if question is None or "answer" not in columns:
            raise InputError(f"The file {name!r} lacks a column.", why=f"It has: {', '.join(columns)}.", next=_NEXT)
        for row in reader:
            label = (row.get(columns.get("model", "")) or "").strip() or UNNAMED
            _add(answers.setdefault(label, {}), row[question], row[columns["answer"]], reader.line_num)
    except csv.Error as error:
        raise InputError(f"Line {reader.line_num} of {name!r} cannot be read.", why=str(error), next=_NEXT) from None
    return answers


def _add(answers: dict[str, str], question: str | None, answer: str | None, line: int) -> None:
    question = (question or "").strip()
    if not question and not answer:
        return
    if not question or answer is None:
        raise InputError(f"Line {line} has no {'question' if not question else 'answer'}.", next=_NEXT)
    if question in answers:
        raise InputError(f"Line {line} answers {question!r} a second time.", next="Keep one answer for each question.")
    answers[question] = answer
