"""A benchmark in other forms, for people and other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from karenina_core.benchmark.base import BenchmarkBase
from karenina_core.benchmark.checkpoint.pieces import document_pieces
from karenina_core.benchmark.entry import Entry
from karenina_core.benchmark.queries import author_name
from karenina_core.benchmark.question_sheet import question_sheet
from karenina_core.csv_text import csv_text
from karenina_core.errors import InputError
from karenina_core.files import OWN_BYTES, garbage_collection_paused, read_json, write_atomic
from karenina_core.schemas import Rubric
from karenina_core.workbook import xlsx_bytes

ExportFormat = Literal["auto", "json", "jsonld", "csv", "xlsx", "markdown"]
CSV_HEADER = ("Question ID", "Question", "Raw Answer", "Has Template", "Finished", "Author", "Created", "Modified")
_BY_SUFFIX = {
    ".json": "json",
    ".jsonld": "jsonld",
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".md": "markdown",
    ".markdown": "markdown",
}


class ExportMethods(BenchmarkBase):
    """Exports of the whole structure."""

    def to_json(self) -> str:
        """Return the text of a benchmark file."""
        return self._to_bytes().decode()

    def json_pieces(self, *, save_deep_judgment_config: bool = True) -> Iterator[bytes]:
        """Yield the UTF-8 text of a benchmark file piece by piece, so that a large one takes little memory.

        Args:
            save_deep_judgment_config: Whether to keep the deep judgment settings that traits of a file may carry.

        Raises:
            CheckpointError: It cannot be written, or could not be read back. That may turn out after the last piece.
        """
        return document_pieces(self._contents, limit=OWN_BYTES, deep_judgment=save_deep_judgment_config)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of a benchmark file, independent of the benchmark."""
        document: dict[str, Any] = read_json(self._to_bytes(), limit=OWN_BYTES)
        return document

    def to_csv(self) -> str:
        """Return the questions as a CSV table."""
        return csv_text(CSV_HEADER, map(_row, self._contents.entries.values()))

    def to_xlsx(self) -> bytes:
        """Return the questions as an Excel workbook: with keywords, sources, templates and custom metadata."""
        return xlsx_bytes({"Questions": question_sheet(list(self._questions()))})

    def to_markdown(self) -> str:
        """Return the benchmark as a Markdown document."""
        contents = self._contents
        parts = [f"# {contents.name}", contents.description or "", f"Version {contents.version}"]
        if contents.rubric:
            parts += ["## Global rubric", _trait_list(contents.rubric)]
        for number, entry in enumerate(contents.entries.values(), start=1):
            parts += _question_parts(number, entry)
        return "\n\n".join(part for part in parts if part) + "\n"

    def export_to_file(self, path: str | Path, format: ExportFormat = "auto") -> None:
        """Write the benchmark to a file.

        Args:
            path: The file.
            format: `json` and `jsonld` (a benchmark file), `csv`, `xlsx`, `markdown`, or `auto`: as the file's ending
                says.

        Raises:
            InputError: The ending is unknown.
            CheckpointError: The file cannot be written.
        """
        chosen = _BY_SUFFIX.get(Path(path).suffix.lower()) if format == "auto" else format
        if chosen not in _BY_SUFFIX.values():
            raise InputError(
                f"There is no export for {Path(path).name if format == 'auto' else format!r}.",
                next=f"Use one of: {', '.join(sorted(set(_BY_SUFFIX.values())))}.",
            )
        if chosen == "csv":
            data = self.to_csv().encode("utf-8-sig")
        elif chosen == "xlsx":
            data = self.to_xlsx()
        elif chosen == "markdown":
            data = self.to_markdown().encode()
        else:
            data = self._to_bytes()
        write_atomic(path, data)

    def _to_bytes(self) -> bytes:
        with garbage_collection_paused():
            return b"".join(self.json_pieces())


def _row(entry: Entry) -> tuple[Any, ...]:
    question = entry.question
    return (
        question.id,
        question.question,
        question.raw_answer,
        question.answer_template is not None,
        question.finished,
        author_name(question),
        question.date_created,
        question.date_modified,
    )


def _question_parts(number: int, entry: Entry) -> list[str]:
    question = entry.question
    parts = [f"## {number}. {' '.join(question.question.split())}", f"Answer: {question.raw_answer}"]
    if question.keywords:
        parts.append(f"Keywords: {', '.join(question.keywords)}")
    if not question.finished:
        parts.append("*Unfinished*")
    if question.answer_template:
        fence = _fence(question.answer_template)
        parts.append(f"{fence}python\n{question.answer_template.strip()}\n{fence}")
    if entry.rubric:
        parts += ["### Rubric", _trait_list(entry.rubric)]
    return parts


def _fence(source: str) -> str:
    """Return a fence longer than any the source holds."""
    fence = "```"
    while fence in source:
        fence += "`"
    return fence


def _trait_list(rubric: Rubric) -> str:
    return "\n".join(
        f"- **{trait.name}** ({trait.type})" + (f": {trait.description}" if trait.description else "")
        for trait in rubric.traits
    )
