"""The questions of a benchmark as tables and as a document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from karenina_core.benchmark.question import BenchmarkQuestion, Contents
from karenina_core.schemas import Rubric
from karenina_core.sheets import Sheet, csv_text

FORMATS: Final = {".json": "json", ".jsonld": "json", ".csv": "csv", ".xlsx": "xlsx", ".md": "markdown"}
FORMATS[".markdown"] = "markdown"
"""The format an ending stands for."""

_AUTHOR: Final = {"@type", "name", "email", "affiliation"}  # what has columns of its own
METADATA_PREFIX: Final = "metadata: "
KEYWORD_SEPARATORS: Final = {";": "semicolon", "|": "vertical bar", "/": "slash", "\n": "line break"}
"""Signs between keywords, in the order they are tried, with their names in the header of the column."""


def benchmark_csv(contents: Contents) -> str:
    """Return the questions as a CSV table: the columns of the upstream project, then details of author and sources."""

    def cells(question: BenchmarkQuestion) -> dict[str, Any]:
        return _cells(question, {"Has Template": question.answer_template is not None})

    header = list(cells(BenchmarkQuestion(question="")))
    return csv_text(header, (list(cells(entry.question).values()) for entry in contents.entries.values()))


def _cells(question: BenchmarkQuestion, more: Mapping[str, Any]) -> dict[str, Any]:
    author = question.author or {}
    return {
        "Question ID": question.id,
        "Question": question.question,
        "Raw Answer": question.raw_answer,
        **more,
        "Finished": question.finished,
        "Author": _cell(author) if author.keys() - _AUTHOR else question.author_name,
        "Created": question.date_created,
        "Modified": question.date_modified,
        "Author Email": author.get("email"),
        "Author Affiliation": author.get("affiliation"),
        "Sources": "\n".join(map(source_text, question.sources or ())),
    }


def source_text(source: Mapping[str, Any]) -> str:
    """Return a source as one line: its name or address if that is all that is known of it, else as JSON."""
    only = next(iter(source.values())) if len(source) == 1 and source.keys() <= {"name", "url"} else None
    return only if isinstance(only, str) and only.isprintable() else json.dumps(source, ensure_ascii=False)


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
        more = {
            f"Keywords{note}": joint.join(question.keywords),
            "Answer Notes": question.answer_notes,
            "Workspace Path": question.workspace_path,
            "Template": question.answer_template,
        }
        return _cells(question, more) | {METADATA_PREFIX + name: _cell(metadata.get(name)) for name in names}

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
        details = {
            "Keywords": ", ".join(question.keywords),
            "Author": question.author_name or _cell(question.author),
            "Sources": "; ".join(map(source_text, question.sources or ())),
        }
        parts += [f"{name}: {text}" for name, text in details.items() if text]
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
