"""What can be wrong with a question or a rubric."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from karenina_core.benchmark.entry import BenchmarkQuestion, Entry
from karenina_core.benchmark.workspace_copy import left_out
from karenina_core.benchmark.workspaces import check_relative, resolve
from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas import Rubric, StoredTrait, merge_rubrics

Severity = Literal["error", "warning", "info"]
_MOST_KNOWN = 50_000


@dataclass(frozen=True)
class Problem:
    """One thing to know before a run.

    Attributes:
        where: The place in words, such as `question q1`.
        what: What was found.
        next: What to do about it.
        severity: `error` (cannot run), `warning` (runs, but perhaps not as meant) or `info`.
        code: Stable short name: `empty`, `no_text`, `no_answer`, `template`, `no_template`, `unfinished`, `trait`,
            `conflict`, `embeddings`, `workspace` or `other`.
        question_id: The question it is about, if it is about one.
        line: Line in the template, if it is about one.
    """

    where: str
    what: str
    next: str
    severity: Severity
    code: str = "other"
    question_id: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.where}: {self.what} {self.next}".rstrip()


# Reading thousands of templates takes seconds, and after a change of one question all others are the same as before.
_KNOWN: dict[bytes, tuple[Problem, ...]] = {}


def rubric_problems(where: str, rubric: Rubric | None, question_id: str | None = None) -> Iterator[Problem]:
    """Yield the traits that are kept but not evaluated."""
    for trait in rubric.traits if rubric else ():
        if isinstance(trait, StoredTrait):
            yield Problem(
                f"{where}, trait {trait.name}",
                f"It is not evaluated: {trait.reason}.",
                "Correct it or remove it." if trait.problem else "It stays in the file as it is.",
                "warning" if trait.problem else "info",
                code="trait",
                question_id=question_id,
            )


def question_problems(
    entry: Entry, shared: Rubric | None, root: Path | None, *, with_template: bool = True
) -> Iterator[Problem]:
    """Yield what is to be said of one question.

    Args:
        entry: The question.
        shared: The global rubric.
        root: The workspace root, None when not set; then workspaces are not looked for.
        with_template: Whether to read its template too.
    """
    question = entry.question
    where = f"question {question.id}"

    def problem(what: str, next: str, severity: Severity, code: str, line: int | None = None) -> Problem:
        return Problem(where, what, next, severity, code=code, question_id=question.id, line=line)

    if not question.question.strip():
        yield problem("It has no text.", "Give it one.", "error", "no_text")
    if not question.raw_answer.strip():
        yield problem("It has no reference answer.", "Give it one.", "warning", "no_answer")
    if not question.finished:
        yield problem("It is unfinished and takes no part in runs.", "Mark it finished.", "info", "unfinished")
    if question.answer_template is None:
        yield problem("It has no template.", "Add one, or only traits are evaluated.", "warning", "no_template")
    elif with_template:
        yield from _template_problems(where, question)
    yield from rubric_problems(where, entry.rubric, question.id)
    for name in merge_rubrics(shared, entry.rubric)[1]:
        yield problem(
            f"Its trait {name!r} replaces the global one.", "Rename it if both are meant.", "warning", "conflict"
        )
    if question.workspace_path is not None:
        try:
            special = left_out(resolve(root, question.workspace_path)) if root else ()
            check_relative(question.workspace_path)
            if special:
                yield problem(
                    f"{len(special)} links or special files in its workspace are left out of copies: {special[0]}"
                    f"{', …' if len(special) > 1 else ''}.",
                    "Put plain files in their place.",
                    "warning",
                    "workspace",
                )
        except InputError as error:
            yield problem(error.what, error.next, "error", "workspace")


def _template_problems(where: str, question: BenchmarkQuestion) -> Iterator[Problem]:
    source = question.answer_template or ""
    key = hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest()
    found = _KNOWN.get(key)
    if found is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[key] = tuple(_found_in(source))
    for problem in found:
        yield replace(problem, where=where, question_id=question.id)


def _found_in(source: str) -> Iterator[Problem]:
    from karenina_core.templates import read_template

    try:
        template = read_template(source)
    except TemplateError as error:
        what = f"Its template cannot be read: {error.what}{f' ({error.why})' if error.why else ''}"
        yield Problem("", what, error.next, "error", code="template", line=error.line)
        return
    for warning in template.warnings:
        yield Problem("", warning, "", "warning")
    if template.semantic_fields:
        yield Problem(
            "",
            f"SemanticMatch decides {', '.join(template.semantic_fields)}.",
            "Switch the embedding check on for the run.",
            "info",
            code="embeddings",
        )
