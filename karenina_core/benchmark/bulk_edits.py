"""Changing many questions at once: what would change, doing it, and taking it back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karenina_core.benchmark.benchmark import Benchmark
from karenina_core.benchmark.entry import BenchmarkQuestion
from karenina_core.errors import InputError
from karenina_core.schemas.entities.question import question_id as id_of

Edits = Mapping[str, Mapping[str, Any]]
"""New values by question id and field: any of `question`, `raw_answer`, `keywords`, `finished`."""


@dataclass(frozen=True)
class Change:
    """One field of one question that would change."""

    question_id: str
    field: str
    before: Any
    after: Any


@dataclass(frozen=True)
class BulkReview:
    """What edits would do.

    Attributes:
        changes: Every field that would change, in the order of the benchmark.
        renamed: Questions whose identity follows from their text, and would change with it.
        problems: Why they cannot be saved as they are, one sentence each.
        gone: Questions with edits that are not there any more.
    """

    changes: tuple[Change, ...]
    renamed: tuple[str, ...]
    problems: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def questions(self) -> int:
        """How many questions would change."""
        return len({change.question_id for change in self.changes})


@dataclass(frozen=True)
class Applied:
    """A question that was changed.

    Attributes:
        question_id: The id it has since.
        old_id: The id it had.
        before: The changed fields as they were.
        after: The changed fields as they are since.
    """

    question_id: str
    old_id: str
    before: dict[str, Any]
    after: dict[str, Any]


def review_edits(benchmark: Benchmark, edits: Edits) -> BulkReview:
    """Return what edits would do to a benchmark, without doing it."""
    changes = _changes(benchmark, edits)
    texts = [change for change in changes if change.field == "question" and change.after.strip()]
    return BulkReview(
        changes=tuple(changes),
        renamed=tuple(change.question_id for change in texts if id_of(change.after) != change.question_id),
        problems=(*_blanks(changes), *_repeated(benchmark, texts)),
        gone=tuple(name for name in edits if name not in benchmark),
    )


def apply_edits(benchmark: Benchmark, edits: Edits, *, keep_ids: bool = False) -> list[Applied]:
    """Change questions, and return what `take_back` needs.

    Args:
        benchmark: Is changed.
        edits: New values; questions that are not there are left out.
        keep_ids: Keep the id of a question whose text changes.

    Raises:
        InputError: A value is not usable, or a text is that of another question; some may have been changed by then.
    """
    moves: dict[str, str] = {}
    wanted: dict[str, dict[str, Any]] = {}
    for change in _changes(benchmark, edits):
        wanted.setdefault(change.question_id, {})[change.field] = change.after
    applied = []
    for name, fields in wanted.items():
        question = benchmark.get_question(name)
        before = {field: getattr(question, field) for field in fields}
        benchmark.edit_question(name, keep_id=True, **fields)
        moves[name] = name if keep_ids or "question" not in fields else id_of(fields["question"])
        applied.append(Applied(moves[name], name, before, fields))
    _give(benchmark, moves)
    return applied


def take_back(benchmark: Benchmark, applied: Sequence[Applied]) -> int:
    """Give fields the values they had; those that were changed since are left, and their questions counted.

    Raises:
        InputError: An earlier id belongs to another question meanwhile.
    """
    left, moves = 0, {}
    for item in reversed(applied):
        if item.question_id not in benchmark:
            left += 1
            continue
        question = benchmark.get_question(item.question_id)
        mine = {name: old for name, old in item.before.items() if getattr(question, name) == item.after[name]}
        left += len(mine) < len(item.before)
        if mine:
            benchmark.edit_question(question.id, keep_id=True, **mine)
        if "question" in mine:
            moves[question.id] = item.old_id
    _give(benchmark, moves)
    return left


def _give(benchmark: Benchmark, moves: Mapping[str, str]) -> None:
    try:
        benchmark.give_ids(moves)
    except InputError as error:
        raise InputError(
            "Another question of this benchmark has one of these texts.",
            error.what,
            "Change the text, or edit the other question.",
        ) from error


def _changes(benchmark: Benchmark, edits: Edits) -> list[Change]:
    found = []
    for name in benchmark.get_question_ids():
        if name not in edits:
            continue
        question = benchmark.get_question(name)
        _check(edits[name])
        found += [
            Change(name, field, getattr(question, field), value)
            for field, value in edits[name].items()
            if getattr(question, field) != value
        ]
    return found


def _check(fields: Mapping[str, Any]) -> None:
    for field, value in fields.items():
        if field not in BenchmarkQuestion.model_fields and field != "finished":
            raise InputError(f"A question has no field {field!r}.", next="Edit the fields it has.")
        if field in ("question", "raw_answer") and not isinstance(value, str):
            raise InputError(f"The field {field!r} takes a text, not {value!r:.40}.", next="Give a text.")


def _blanks(changes: Sequence[Change]) -> list[str]:
    words = {"question": "text", "raw_answer": "reference answer"}
    blank = Counter(change.field for change in changes if change.field in words and not change.after.strip())
    return [
        f"{count} {'question has' if count == 1 else 'questions have'} no {words[field]}."
        for field, count in blank.items()
    ]


def _repeated(benchmark: Benchmark, texts: Sequence[Change]) -> list[str]:
    if not texts:
        return []
    edited = {change.question_id: change.after for change in texts}
    counts = Counter(edited.get(question.id, question.question) for question in benchmark)
    twice = dict.fromkeys(change.after for change in texts if counts[change.after] > 1)
    return [f"More than one question would have the text {' '.join(text.split())[:60]!r}." for text in twice]
