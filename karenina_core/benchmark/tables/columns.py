"""Which column of a table means what. `ColumnMapping` declares every role once."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from karenina_core.benchmark.exports import KEYWORD_SEPARATORS, METADATA_PREFIX
from karenina_core.benchmark.tables.table import Table, is_blank
from karenina_core.errors import InputError


def _role(title: str, names: str) -> Any:
    """Declare what a single column can mean.

    Args:
        title: Its name in words.
        names: What such columns are called, in small letters without blanks and signs, the most telling first.
    """
    return field(default=None, metadata={"title": title, "names": names.split()})


SEPARATORS: Final = {",": "comma", **KEYWORD_SEPARATORS, "": "none"}
_SAMPLE: Final = 200
_KEYWORDS = re.compile("keywords?|tags?|category|categories|topics?|domain|subject")
_SEPARATED = re.compile(r"keywords? \(separated by (?P<name>[a-z ]+)\)", re.IGNORECASE)
_OF_A_MODEL = re.compile(
    r"\s*(?:answer|response|output)s?\s*(?:(?:of|by|from)\s+|[:_(\[-]\s*)(?P<model>.+?)[)\]]?\s*", re.IGNORECASE
)
_MODELS_ANSWER = re.compile(r"(?P<model>\S.*?)(?:'s)?\s+(?:answer|response|output)s?\s*", re.IGNORECASE)
_NO_MODEL: Final = (
    "time tokens length date type id text notes template seconds cost expected correct right"
    " reference gold raw model short long full final"
)
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

    question: str | None = _role("Question", "question questiontext prompt query input item frage problem instruction")
    answer: str | None = _role(
        "Reference answer",
        "rawanswer referenceanswer reference referenceresponse referenceoutput expectedanswer expectedresponse"
        " expectedoutput expectedvalue expected goldanswer goldenanswer goldstandard goldlabel gold gt correctanswer"
        " correctresponse correctoutput correctoption correct groundtruth truth targetanswer target targets ideal"
        " bestanswer label labels solution answer answers antwort",
    )
    id: str | None = _role("Id", "questionid id qid uid identifier")
    notes: str | None = _role("Notes on the answer", "answernotes notes note comment comments remarks remark")
    template: str | None = _role("Template source", "answertemplate template templatesource templatecode")
    workspace: str | None = _role("Workspace path", "workspacepath workspace folder")
    finished: str | None = _role("Finished", "finished done ready")
    author: str | None = _role("Author", "author authorname contributor createdby")
    author_email: str | None = _role("Author's e-mail", "authoremail email")
    author_affiliation: str | None = _role("Author's affiliation", "authoraffiliation affiliation institution")
    sources: str | None = _role("Sources", "sources source citation citations references")
    url: str | None = _role("Web address", "url link webpage website")
    model: str | None = _role("Model", "model modelname answeringmodel llm system")
    response: str | None = _role(
        "Answer of the model",
        "response modelresponse modelanswer rawllmresponse output modeloutput prediction completion answerofmodel",
    )
    keywords: tuple[KeywordColumn, ...] = ()
    metadata: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    model_columns: tuple[str, ...] = ()
    finish_all: bool = False

    def roles(self) -> dict[str, str]:
        """Return the roles that have a column, with it."""
        return {role: column for role in ROLES if (column := getattr(self, role)) is not None}

    def used(self) -> list[str]:
        """Return every column that is given a meaning, also to be left out."""
        names = (*self.roles().values(), *(keyword.column for keyword in self.keywords))
        return [*names, *self.metadata, *self.left_out, *self.model_columns]

    def unassigned(self, table: Table) -> list[str]:
        """Return the columns of a table that are given no meaning."""
        used = set(self.used())
        return [column for column in table.columns if column not in used]

    @property
    def brings_answers(self) -> bool:
        """Whether there are answers of models."""
        return bool(self.model_columns) or self.response is not None

    @property
    def missing(self) -> Literal["question", "answer", ""]:
        """The role whose column has to be chosen before rows can become questions; empty when none has."""
        if self.question is None and not (self.id is not None and self.brings_answers):
            return "question"
        return "" if self.answer is not None or self.brings_answers else "answer"

    def check(self, table: Table) -> None:
        """Check that it fits a table.

        Raises:
            InputError: It names a column twice or one that is not there, or no column with questions.
        """
        used = self.used()
        for column in used:
            if column not in table.columns:
                raise InputError(f"The table has no column {column!r}.", next="Choose among the columns it has.")
            if used.count(column) > 1:
                raise InputError(f"The column {column!r} is used for two things.", next="Choose another for one.")
        if self.missing == "question":
            raise InputError("No column is chosen for the questions.", next="Choose the column with their text.")
        if self.model is not None and self.response is None:
            what = "A column names the models, but none holds their answers."
            raise InputError(what, next="Choose the column with the answers.")


_ROLES: Final = [item for item in fields(ColumnMapping) if item.metadata]
ROLES: Final[dict[str, str]] = {role.name: role.metadata["title"] for role in _ROLES}
"""What a single column can mean, with its name in words."""


def suggest_mapping(table: Table) -> ColumnMapping:
    """Return what the column names, and some content, make likely. Nothing is assigned twice."""
    plain = {column: _NO_LETTER.sub("", column.casefold()) for column in table.columns}
    chosen: dict[str, str] = {}
    for role in _ROLES:
        ranked = (column for word in role.metadata["names"] for column in table.columns if plain[column] == word)
        free = next((column for column in ranked if column not in chosen.values()), None)
        if free is not None:
            chosen[role.name] = free
    # Where a table names the models, a plain "answer" is theirs.
    if "model" in chosen and "response" not in chosen and plain.get(chosen.get("answer", "")) in ("answer", "antwort"):
        chosen["response"] = chosen.pop("answer")
    if "response" not in chosen:
        chosen.pop("model", None)
    mapping = replace(ColumnMapping(), **chosen)  # type: ignore[arg-type]
    rest = mapping.unassigned(table)
    keywords = (name for name in rest if _KEYWORDS.fullmatch(plain[name]) or _SEPARATED.fullmatch(name))
    mapping = replace(
        mapping,
        keywords=tuple(KeywordColumn(name, find_separator(table, name)) for name in keywords),
        metadata=tuple(name for name in rest if name.casefold().startswith(METADATA_PREFIX)),
        model_columns=() if mapping.response else tuple(name for name in rest if model_of(name) != name),
    )
    return mapping if mapping.question or mapping.id else _by_content(table, mapping)


def find_separator(table: Table, column: str) -> str:
    """Return the sign a column says to stand between keywords, or the most frequent one; a comma where none does."""
    header = _SEPARATED.fullmatch(column)
    named = {name: sign for sign, name in KEYWORD_SEPARATORS.items()}
    if header and header["name"].lower() in named:
        return named[header["name"].lower()]
    counts = {sign: sum(sign in cell.strip() for cell in _texts(table, column)) for sign in (";", "|", "\n", ",")}
    best = max(counts, key=lambda sign: counts[sign])
    return best if counts[best] else ","


def model_of(column: str) -> str:
    """Return the model a column of answers is named after: `Answer: GPT-4` holds those of `GPT-4`."""
    match = _OF_A_MODEL.fullmatch(column) or _MODELS_ANSWER.fullmatch(column)
    named = match is not None and match["model"].casefold() not in _NO_MODEL.split()
    return match["model"].strip() if match and named else column.strip()


def _by_content(table: Table, mapping: ColumnMapping) -> ColumnMapping:
    def asks(column: str) -> bool:
        cells = _texts(table, column)
        return bool(cells) and sum(cell.rstrip().endswith("?") for cell in cells) > len(cells) / 2

    rest = mapping.unassigned(table)
    question = next(filter(asks, rest), None)
    others = [name for name in rest if name != question]
    answer = others[0] if question and mapping.answer is None and len(others) == 1 else mapping.answer
    return replace(mapping, question=question, answer=answer)


def _texts(table: Table, column: str) -> list[str]:
    """Return the texts among the first cells of a column."""
    cells = islice(table.column(column), _SAMPLE)
    return [cell for cell in cells if isinstance(cell, str) and not is_blank(cell)]
