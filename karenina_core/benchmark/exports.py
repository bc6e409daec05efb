"""The questions of a benchmark as tables and as a document."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from karenina_core.benchmark.question import BenchmarkQuestion, Contents
from karenina_core.schemas import Rubric
from karenina_core.sheets import Sheet, csv_text

FORMATS: Final = {
    ".json": "json",
    ".jsonld": "jsonld",
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".md": "markdown",
    ".markdown": "markdown",
}
"""The format an ending stands for."""

METADATA_PREFIX: Final = "metadata: "
KEYWORD_SEPARATORS: Final = {";": "semicolon", "|": "vertical bar", "/": "slash", "\n": "line break"}
"""Signs between keywords, in the order they are tried, with their names in the header of the column."""

_CSV_COLUMNS: Final[dict[str, Callable[[BenchmarkQuestion], Any]]] = {
    "Question ID": lambda question: question.id,
    "Question": lambda question: question.question,
    "Raw Answer": lambda question: question.raw_answer,
    "Has Template": lambda question: question.answer_template is not None,
    "Finished": lambda question: question.finished,
    "Author": lambda question: question.author_name,
    "Created": lambda question: question.date_created,
    "Modified": lambda question: question.date_modified,
}


def benchmark_csv(contents: Contents) -> str:
    """Return the questions as a CSV table with the columns of the upstream project."""
    rows = ([read(entry.question) for read in _CSV_COLUMNS.values()] for entry in contents.entries.values())
    return csv_text(list(_CSV_COLUMNS), rows)


def question_sheet(questions: Sequence[BenchmarkQuestion]) -> Sheet:
    """Return questions as a sheet to be filled in elsewhere and read back, with a column for each name of metadata.

    Rubrics and few-shot examples are not part of it; a benchmark file holds everything.
    """
    names = sorted({name for question in questions for name in question.custom_metadata or {}})
    signs = "".join(keyword for question in questions for keyword in question.keywords)
    separator = next((sign for sign in KEYWORD_SEPARATORS if sign not in signs), "\n")
    # Where the usual sign stands in keywords themselves, the header names the one that is used.
    joint, note = ("; ", "") if separator == ";" else (separator, f" (separated by {KEYWORD_SEPARATORS[separator]})")

    def cells(question: BenchmarkQuestion) -> dict[str, Any]:
        metadata = question.custom_metadata or {}
        return {
            "Question ID": question.id,
            "Question": question.question,
            "Raw Answer": question.raw_answer,
            f"Keywords{note}": joint.join(question.keywords),
            "Answer Notes": question.answer_notes,
            "Author": question.author_name,
            "Sources": "\n".join(str(s.get("url") or s.get("name") or _cell(s)) for s in question.sources or ()),
            "Workspace Path": question.workspace_path,
            "Finished": question.finished,
            "Created": question.date_created,
            "Modified": question.date_modified,
            "Template": question.answer_template,
            **{METADATA_PREFIX + name: _cell(metadata.get(name)) for name in names},
        }

    header = tuple(cells(BenchmarkQuestion(question="", raw_answer="")))
    return Sheet(header, (tuple(cells(question).values()) for question in questions))


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def benchmark_markdown(contents: Contents) -> str:
    """Return the benchmark as a Markdown document."""
    parts = [f"# {contents.name}", contents.description, f"Version {contents.version}"]
    if contents.rubric:
        parts += ["## Global rubric", _trait_list(contents.rubric)]
    for number, entry in enumerate(contents.entries.values(), start=1):
        question = entry.question
        parts += [f"## {number}. {' '.join(question.question.split())}", f"Answer: {question.raw_answer}"]
        parts.append(f"Keywords: {', '.join(question.keywords)}" if question.keywords else "")
        parts.append("" if question.finished else "*Unfinished*")
        if question.answer_template:
            fence = "```"
            while fence in question.answer_template:
                fence += "`"
            parts.append(f"{fence}python\n{question.answer_template.strip()}\n{fence}")
        if entry.rubric:
            parts += ["### Rubric", _trait_list(entry.rubric)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _trait_list(rubric: Rubric) -> str:
    lines = (f"- **{trait.name}** ({trait.type}): {trait.description or ''}" for trait in rubric.traits)
    return "\n".join(line.removesuffix(": ") for line in lines)
