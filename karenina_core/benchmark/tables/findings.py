"""What the import doctor can find, why it matters, and what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

Choice = Literal["fix", "keep", "skip"]
"""What is done about a finding: put it right, import the cell as it is, or leave the row out."""

Key = tuple[int | None, str | None, str]
"""Row, column and code: what identifies a finding."""


class Kind(NamedTuple):
    """A kind of finding.

    Attributes:
        what: What was found.
        why: Why it matters.
        fix: What can be done.
        choices: What can be chosen; the first happens unless another is chosen.
    """

    what: str
    why: str
    fix: str
    choices: tuple[Choice, ...]


_REPAIRED: Final = ("fix", "keep", "skip")
_TOLD: Final = ("keep", "skip")

KINDS: Final[dict[str, Kind]] = {
    "no_question": Kind(
        "There is no question.", "A row without a text cannot be asked.", "Type the question.", ("skip",)
    ),
    "no_answer": Kind(
        "There is no reference answer.", "Nothing could be compared with it.", "Type the answer.", ("skip",)
    ),
    "duplicate": Kind(
        "The same question stands in", "A question is known by its text and is asked once.", "Leave it out.", ("skip",)
    ),
    "conflict": Kind(
        "The same question, with another answer, stands in",
        "Only one of the answers can be the reference.",
        "Change the question, or leave this row out.",
        ("skip",),
    ),
    "exists": Kind(
        "The benchmark has this question already.",
        "A question is known by its text and is asked once.",
        "Leave it out, or change its text.",
        ("skip",),
    ),
    "answers_only": Kind(
        "The benchmark has this question already.",
        "The answers of the models are added to it; the question itself stays as it is.",
        "Nothing needs to be done.",
        _TOLD,
    ),
    "id_taken": Kind(
        "Another question has this id.",
        "Results know a question by its id.",
        "Let it have the id of its text, or type another.",
        ("skip", "fix"),
    ),
    "template": Kind(
        "The template cannot be read:",
        "A template that cannot be read cannot decide anything.",
        "Import the question without a template, and write one later.",
        ("skip", "fix"),
    ),
    "workspace": Kind(
        "The workspace path is not usable:",
        "It must lead to a folder below the workspace root.",
        "Import the question without it.",
        ("skip", "fix"),
    ),
    "finished": Kind(
        "This is neither yes nor no.",
        "Only finished questions take part in runs.",
        "Import it as unfinished.",
        ("fix", "skip"),
    ),
    "too_long": Kind(
        "The text is too long:", "A benchmark file holds texts of up to 200,000 characters.", "Shorten it.", ("skip",)
    ),
    "error_value": Kind(
        "The cell shows an error of the spreadsheet.",
        "It stands for a value that could not be computed.",
        "Type what was meant.",
        ("skip", "keep"),
    ),
    "no_model": Kind(
        "There is an answer, but no model is named.", "Answers are kept by model.", "Type a name.", ("skip",)
    ),
    "repeated_response": Kind(
        "This model has answered this question before, in",
        "One answer of a model to each question is kept.",
        "Leave it out, or name the model differently.",
        ("skip",),
    ),
    "apostrophe": Kind(
        "An apostrophe guards against a formula.",
        "Spreadsheets and exports put it before texts that begin like one; it is no part of the text.",
        "Take it away.",
        _REPAIRED,
    ),
    "mojibake": Kind(
        "Letters were read in the wrong encoding.",
        "Signs such as Ã© stand where é was meant; models and rules would see the wrong ones.",
        "Put the letters right.",
        _REPAIRED,
    ),
    "invisible": Kind(
        "There are invisible characters.",
        "Nobody sees them, but texts that differ in them are not equal.",
        "Take them out.",
        _REPAIRED,
    ),
    "blanks": Kind(
        "There are blanks before or after the text.",
        "Nobody sees them, but texts that differ in them are not equal.",
        "Take them away.",
        _REPAIRED,
    ),
    "lost": Kind(
        "A character was lost (�).",
        "Some program could not write it; what it was cannot be told.",
        "Type what was meant.",
        _TOLD,
    ),
    "merged": Kind(
        "The cell belongs to a merged area and is empty.",
        "Only the first cell of a merged area holds its value.",
        "Fill in the value of the area.",
        _REPAIRED,
    ),
    "formula": Kind(
        "The cell holds a formula.",
        "Formulas are not computed; the value the spreadsheet last stored is taken.",
        "Check the value.",
        _TOLD,
    ),
    "uncached": Kind(
        "The cell holds a formula without a stored value.",
        "Formulas are not computed.",
        "Type the value, or open and save the workbook in a spreadsheet program.",
        _TOLD,
    ),
    "date_number": Kind(
        "A number stands among dates:",
        "Spreadsheets store dates as numbers of days, and some programs show the number.",
        "Write it as a date.",
        _REPAIRED,
    ),
    "date_cell": Kind(
        "A date stands among texts:",
        "Spreadsheets turn texts such as SEPT2 or 3-5 into dates.",
        "Type what was meant.",
        _TOLD,
    ),
    "extra_cells": Kind(
        "The row has more cells than there are columns.",
        "Often a separator within a text was not quoted, and the cells have shifted.",
        "Compare the row with the file.",
        _TOLD,
    ),
    "edited": Kind(
        "The cell was changed by hand.", "What was typed is imported.", "Use what was typed.", ("fix", "skip")
    ),
    "unmapped": Kind(
        "Nothing is said about this column.",
        "It is not imported.",
        "Keep it as custom metadata of the questions.",
        ("keep", "fix"),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One thing the doctor found.

    Attributes:
        row: Number of the row in the file; None when it concerns a whole column.
        column: Name of the column; None when it concerns the whole row.
        code: Stable short name of its kind, a key of `KINDS`.
        what: What was found.
        why: Why it matters.
        fix: What can be done.
        choice: What will be done.
        value: The text of the cell as it will be imported.
    """

    row: int | None
    column: str | None
    code: str
    what: str
    why: str
    fix: str
    choice: Choice
    value: str = ""

    @property
    def key(self) -> Key:
        """What identifies it."""
        return self.row, self.column, self.code

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What can be chosen."""
        return KINDS[self.code].choices


@dataclass(frozen=True)
class Choices:
    """What a person decided.

    Attributes:
        of_findings: What is to be done about some findings; for the others the usual is done.
        edits: Row and column → the text typed in place of the cell.
    """

    of_findings: Mapping[Key, Choice] = field(default_factory=dict)
    edits: Mapping[tuple[int, str], str] = field(default_factory=dict)

    def about(self, key: Key) -> Choice:
        """Return what is done about a finding."""
        choices = KINDS[key[2]].choices
        chosen = self.of_findings.get(key, choices[0])
        return chosen if chosen in choices else choices[0]
