"""The questions of a benchmark as a sheet that can be filled in elsewhere and read back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from karenina_core.benchmark.entry import BenchmarkQuestion
from karenina_core.benchmark.queries import author_name
from karenina_core.workbook import Sheet

METADATA_PREFIX: Final = "metadata: "
SEPARATORS: Final = {";": "semicolon", "|": "vertical bar", "/": "slash", "\n": "line break"}
"""Signs between keywords, in the order they are tried, with their names in the header of the column."""

_BEFORE: Final = ("Question ID", "Question", "Raw Answer")
_AFTER: Final = (
    "Answer Notes",
    "Author",
    "Sources",
    "Workspace Path",
    "Finished",
    "Created",
    "Modified",
    "Template",
)


def question_sheet(questions: Sequence[BenchmarkQuestion]) -> Sheet:
    """Return one row for each question, with a column for every name of custom metadata.

    Rubrics and few-shot examples are not part of it; a benchmark file holds everything.
    """
    names = sorted({name for question in questions for name in question.custom_metadata or {}})
    separator = _separator(questions)
    rows = (_row(question, separator, names) for question in questions)
    # Where the usual sign stands in keywords themselves, the header names the one that is used.
    keywords = "Keywords" if separator == ";" else f"Keywords (separated by {SEPARATORS[separator]})"
    return Sheet((*_BEFORE, keywords, *_AFTER, *(METADATA_PREFIX + name for name in names)), rows)


def _row(question: BenchmarkQuestion, separator: str, names: Sequence[str]) -> tuple[Any, ...]:
    metadata = question.custom_metadata or {}
    return (
        question.id,
        question.question,
        question.raw_answer,
        ("; " if separator == ";" else separator).join(question.keywords),
        question.answer_notes,
        author_name(question),
        "\n".join(map(_source, question.sources or ())),
        question.workspace_path,
        question.finished,
        question.date_created,
        question.date_modified,
        question.answer_template,
        *(_cell(metadata.get(name)) for name in names),
    )


def _separator(questions: Sequence[BenchmarkQuestion]) -> str:
    """Return a sign that stands in no keyword."""
    taken = "".join(keyword for question in questions for keyword in question.keywords)
    return next((sign for sign in SEPARATORS if sign not in taken), "\n")


def _source(source: dict[str, Any]) -> str:
    return str(source.get("url") or source.get("name") or json.dumps(source, ensure_ascii=False))


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
