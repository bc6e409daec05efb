"""Which column of a table means what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from karenina_core.benchmark.question_sheet import METADATA_PREFIX
from karenina_core.benchmark.question_sheet import SEPARATORS as WRITTEN_SEPARATORS
from karenina_core.benchmark.tables.table import Table, is_blank
from karenina_core.errors import InputError

ROLES: Final = {
    "question": "Question",
    "answer": "Reference answer",
    "id": "Id",
    "notes": "Notes on the answer",
    "template": "Template source",
    "workspace": "Workspace path",
    "finished": "Finished",
    "author": "Author",
    "author_email": "Author's e-mail",
    "author_affiliation": "Author's affiliation",
    "sources": "Sources",
    "url": "Web address",
    "model": "Model",
    "response": "Answer of the model",
}
"""What a single column can mean, with its name in words."""

SEPARATORS: Final = {",": "comma", ";": "semicolon", "|": "vertical bar", "/": "slash", "\n": "line break", "": "none"}
_SAMPLE: Final = 200

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "question": ("question", "questiontext", "prompt", "query", "input", "item", "frage", "problem", "instruction"),
    "answer": (
        "rawanswer", "referenceanswer", "reference", "expectedanswer", "expected", "goldanswer", "gold",
        "correctanswer", "groundtruth", "truth", "target", "ideal", "solution", "answer", "antwort",
    ),
    "id": ("questionid", "id", "qid", "uid", "identifier"),
    "notes": ("answernotes", "notes", "note", "comment", "comments", "remarks", "remark"),
    "template": ("answertemplate", "template", "templatesource", "templatecode"),
    "workspace": ("workspacepath", "workspace", "folder"),
    "finished": ("finished", "done", "ready"),
    "author": ("author", "authorname", "contributor", "createdby"),
    "author_email": ("authoremail", "email"),
    "author_affiliation": ("authoraffiliation", "affiliation", "institution"),
    "sources": ("sources", "source", "citation", "citations", "references"),
    "url": ("url", "link", "webpage", "website"),
    "model": ("model", "modelname", "answeringmodel", "llm", "system"),
    "response": (
        "response", "modelresponse", "modelanswer", "rawllmresponse", "output", "modeloutput", "prediction",
        "completion", "answerofmodel",
    ),
}  # fmt: skip
_KEYWORDS = ("keywords", "keyword", "tags", "tag", "category", "categories", "topic", "topics", "domain", "subject")
_OF_A_MODEL = re.compile(
    r"\s*(?:answer|response|output)s?\s*(?:(?:of|by|from)\s+|[:_(\[-]\s*)(?P<model>.+?)[)\]]?\s*", re.IGNORECASE
)
_MODELS_ANSWER = re.compile(r"(?P<model>\S.*?)(?:'s)?\s+(?:answer|response|output)s?\s*", re.IGNORECASE)
_NO_MODEL = frozenset({
    "time", "tokens", "length", "date", "type", "id", "text", "notes", "template", "seconds", "cost", "expected",
    "correct", "right", "reference", "gold", "raw", "model", "short", "long", "full", "final",
})  # fmt: skip
_SEPARATED = re.compile(r"keywords? \(separated by (?P<name>[a-z ]+)\)", re.IGNORECASE)
_NO_LETTER = re.compile(r"[\W_]+")


class KeywordColumn(NamedTuple):
    """A column with keywords.

    Attributes:
        column: Its name.
        separator: What stands between keywords in a cell; an empty one takes the cell as one keyword.
    """

    column: str
    separator: str = ","


@dataclass(frozen=True)
class ColumnMapping:
    """What the columns of a table mean.

    Attributes:
        question: Column with the question's text, as all that follow until `response`.
        keywords: Columns with keywords.
        metadata: Columns kept as custom metadata, under their names.
        left_out: Columns that are meant to be left out.
        model: Column that names the model, where a row holds the answer of one model, which is in `response`.
        model_columns: Columns with the answers of one model each, named after it.
        finish_all: Mark every question finished, whatever a column says.
    """

    question: str | None = None
    answer: str | None = None
    id: str | None = None
    notes: str | None = None
    template: str | None = None
    workspace: str | None = None
    finished: str | None = None
    author: str | None = None
    author_email: str | None = None
    author_affiliation: str | None = None
    sources: str | None = None
    url: str | None = None
    model: str | None = None
    response: str | None = None
    keywords: tuple[KeywordColumn, ...] = ()
    metadata: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    model_columns: tuple[str, ...] = ()
    finish_all: bool = False

    def roles(self) -> dict[str, str]:
        """Return the roles that have a column, with it."""
        return {role: column for role in ROLES if (column := getattr(self, role)) is not None}

    def used(self) -> list[str]:
        """Return every column that is said to mean something, also to be left out."""
        names = (*self.roles().values(), *(keyword.column for keyword in self.keywords))
        return [*names, *self.metadata, *self.left_out, *self.model_columns]

    def unassigned(self, table: Table) -> list[str]:
        """Return the columns of a table nothing was said of."""
        used = set(self.used())
        return [column for column in table.columns if column not in used]

    @property
    def brings_answers(self) -> bool:
        """Whether there are answers of models."""
        return bool(self.model_columns) or self.response is not None

    def check(self, table: Table) -> None:
        """Check that it fits a table.

        Raises:
            InputError: It names a column twice or one that is not there, or no column with questions.
        """
        used = self.used()
        unknown = [column for column in used if column not in table.columns]
        if unknown:
            raise InputError(f"The table has no column {unknown[0]!r}.", next="Choose among the columns it has.")
        twice = next((column for column in used if used.count(column) > 1), None)
        if twice is not None:
            raise InputError(f"The column {twice!r} is used for two things.", next="Choose another column for one.")
        if self.question is None and not (self.id is not None and self.brings_answers):
            raise InputError("No column is chosen for the questions.", next="Choose the column with their text.")
        if self.model is not None and self.response is None:
            raise InputError(
                "A column names the models, but none holds their answers.", next="Choose the column with the answers."
            )


def suggest_mapping(table: Table) -> ColumnMapping:
    """Return what the column names, and some content, make likely. Nothing is assigned twice."""
    plain = {column: _NO_LETTER.sub("", column.casefold()) for column in table.columns}
    found: dict[str, str] = {}
    for role, names in _NAMES.items():
        ranked = [column for name in names for column in table.columns if plain[column] == name]
        free = [column for column in ranked if column not in found.values()]
        if free:
            found[role] = free[0]
    mapping = replace(ColumnMapping(), **_with_answers(found, plain))  # type: ignore[arg-type]
    rest = mapping.unassigned(table)
    mapping = replace(
        mapping,
        keywords=tuple(
            KeywordColumn(name, find_separator(table, name))
            for name in rest
            if plain[name] in _KEYWORDS or _SEPARATED.fullmatch(name)
        ),
        metadata=tuple(name for name in rest if name.casefold().startswith(METADATA_PREFIX)),
        model_columns=() if mapping.response else tuple(name for name in rest if model_of(name) != name),
    )
    return mapping if mapping.question or mapping.id else _by_content(table, mapping)


def find_separator(table: Table, column: str) -> str:
    """Return the sign a column says to stand between keywords, or the most frequent one; a comma where none does."""
    told = _SEPARATED.fullmatch(column)
    named = [sign for sign, name in WRITTEN_SEPARATORS.items() if told and name == told["name"].lower()]
    if named:
        return named[0]
    cells = [cell for _, cell in zip(range(_SAMPLE), table.column(column), strict=False) if isinstance(cell, str)]
    counts = {sign: sum(sign in cell.strip() for cell in cells) for sign in (";", "|", "\n", ",")}
    best = max(counts, key=lambda sign: counts[sign])
    return best if counts[best] else ","


def model_of(column: str) -> str:
    """Return the model a column of answers is named after: `Answer: GPT-4` holds those of `GPT-4`."""
    found = _OF_A_MODEL.fullmatch(column) or _MODELS_ANSWER.fullmatch(column)
    named = found is not None and found["model"].casefold() not in _NO_MODEL
    return found["model"].strip() if found and named else column.strip()


def _with_answers(found: dict[str, str], plain: Mapping[str, str]) -> dict[str, str]:
    """Settle what the answers of models are, where a table names the models."""
    if "model" in found and "response" not in found and plain.get(found.get("answer", "")) in ("answer", "antwort"):
        found["response"] = found.pop("answer")
    if "response" not in found:
        found.pop("model", None)
    return found


def _by_content(table: Table, mapping: ColumnMapping) -> ColumnMapping:
    rest = mapping.unassigned(table)
    question = next((name for name in rest if _asks(table, name)), None)
    others = [name for name in rest if name != question]
    answer = others[0] if question and mapping.answer is None and len(others) == 1 else mapping.answer
    return replace(mapping, question=question, answer=answer)


def _asks(table: Table, column: str) -> bool:
    cells = list(_some(table, column))
    return bool(cells) and sum(cell.rstrip().endswith("?") for cell in cells) > len(cells) / 2


def _some(table: Table, column: str) -> Iterator[str]:
    for _, cell in zip(range(_SAMPLE), table.column(column), strict=False):
        if isinstance(cell, str) and not is_blank(cell):
            yield cell
