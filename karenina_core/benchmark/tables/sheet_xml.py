"""What the XML of a workbook says beyond the values: formulas, merged areas. Read without entities."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from xml.parsers import expat

from karenina_core.archives import Archive
from karenina_core.benchmark.tables.table import TableError

MAX_AREAS: Final = 20_000
_ADDRESS = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")


class Area(NamedTuple):
    """A merged area: first and last row and column, counted from 1."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass
class SheetFacts:
    """What a sheet says beyond the values of its cells.

    Attributes:
        formulas: Row and column → whether the value the formula last gave is stored.
        merged: Merged areas.
        rows: Numbers of the rows with a value or a formula.
        width: The last column with one, counted from 1.
    """

    formulas: dict[tuple[int, int], bool] = field(default_factory=dict)
    merged: list[Area] = field(default_factory=list)
    rows: set[int] = field(default_factory=set)
    width: int = 0


def refuse_entities(archive: Archive) -> None:
    """Refuse a workbook with a document type: no program writes one, and entities can grow without end.

    Raises:
        TableError: There is one, or a part is no XML; `code` is `entities` or `xlsx`.
    """
    for name in archive.names:
        if name.lower().endswith((".xml", ".rels", ".vml")):
            _check_beginning(archive.read(name))


def _check_beginning(data: bytes) -> None:
    class _Begun(Exception):
        pass

    def begun(*_: object) -> None:
        raise _Begun

    parser = _parser()
    parser.StartElementHandler = begun
    try:
        # A document type can only stand before the first element.
        parser.Parse(data, True)
    except _Begun:
        pass
    except expat.ExpatError as error:
        raise damaged(str(error)) from error


def facts(data: bytes) -> SheetFacts:
    """Return what the XML of a sheet says of formulas and merged areas.

    Raises:
        TableError: It is no such XML.
    """
    found = SheetFacts()
    row = column = 0
    formula = value = False

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal row, column, formula, value
        match name.rpartition(":")[2]:
            case "row":
                row, column = _number(attributes.get("r")) or row + 1, 0
            case "c":
                column = _column(attributes.get("r", "")) or column + 1
                formula = value = False
            case "f" | "v" | "is" as part:
                formula, value = formula or part == "f", value or part != "f"
                found.width = max(found.width, column)
                found.rows.add(row)
            case "mergeCell" if len(found.merged) < MAX_AREAS:
                area = _area(attributes.get("ref", ""))
                if area:
                    found.merged.append(area)

    def end(name: str) -> None:
        if formula and name.rpartition(":")[2] == "c":
            found.formulas[row, column] = value

    parser = _parser()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise damaged(str(error)) from error
    return found


def damaged(why: str) -> TableError:
    """Return the error for a workbook whose parts make no sense."""
    return TableError(
        "The workbook is damaged.", why, "Open it in a spreadsheet program and save it again as .xlsx.", code="xlsx"
    )


def _parser() -> expat.XMLParserType:
    def refuse(*_: object) -> None:
        raise TableError(
            "The workbook is refused: it declares a document type.",
            "No spreadsheet program writes one; entities in it could grow without end or name other files.",
            code="entities",
        )

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    return parser


def _area(ref: str) -> Area | None:
    first, _, last = ref.partition(":")
    start, end = _ADDRESS.fullmatch(first), _ADDRESS.fullmatch(last)
    if not start or not end:
        return None
    return Area(int(start[2]), _column(first), int(end[2]), _column(last))


def _column(address: str) -> int:
    found = _ADDRESS.fullmatch(address)
    number = 0
    for letter in found[1] if found else "":
        number = 26 * number + ord(letter) - 64
    return number


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else 0
