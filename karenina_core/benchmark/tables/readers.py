"""Files of text and lists of objects: CSV and its relatives, JSON, JSON Lines, exports of results."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, Literal

from karenina_core.benchmark.tables.table import (
    MAX_CELLS,
    Cell,
    Row,
    Table,
    TableError,
    from_records,
    from_rows,
    too_long,
)
from karenina_core.errors import CheckpointError
from karenina_core.files import MAX_BYTES, read_json

DELIMITERS: Final = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
ENCODINGS: Final = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252 (Western Europe)",
    "cp1250": "Windows-1250 (Central Europe)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "mac_roman": "Mac Roman",
    "shift_jis": "Shift JIS (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE: Final = 60  # records that decide on the delimiter

# A setting of the whole process. The default refuses cells of 131,072 characters, which a long answer can have; a
# file is never larger than this.
csv.field_size_limit(max(csv.field_size_limit(), MAX_BYTES))


def read_delimited(
    data: bytes,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header_row: int | None = None,
) -> Table:
    """Read a table of text. What is not given is guessed, and the notes of the table say how.

    Raises:
        TableError: It is no text in that encoding, a quotation mark is not closed, or it is too large.
    """
    text, note = decode(data, encoding)
    # Some spreadsheets write a first line such as `sep=;`.
    first, _, rest = text.partition("\n")
    line = first.strip('\r\ufeff "')
    hint = line[4:] if line.lower().startswith("sep=") and line[4:] in DELIMITERS else None
    text, skipped = (rest, 1) if hint else (text, 0)
    sign = delimiter or hint or find_delimiter(text)
    if text.count(sign) + text.count("\n") > 2 * MAX_CELLS:
        raise too_long()
    how = "" if delimiter or hint else " (guessed from the first rows)"
    notes = [note, f"Cells are separated by a {DELIMITERS.get(sign, repr(sign))}{how}."]
    try:
        return from_rows(_rows(text, sign, csv.QUOTE_MINIMAL, skipped), notes, header_row=header_row)
    except TableError as error:
        if error.code != "quotes" or sign != "\t":
            raise
    notes.append("Quotation marks are read as part of the text.")
    return from_rows(_rows(text, sign, csv.QUOTE_NONE, skipped), notes, header_row=header_row)


def decode(data: bytes, encoding: str | None = None) -> tuple[str, str]:
    """Return the text of a file, and a note on its encoding.

    Args:
        data: Its bytes.
        encoding: One of `ENCODINGS`. When not given: a byte order mark decides, then UTF-8 is tried, then the most
            likely other one.

    Raises:
        TableError: It holds no text, or not in that encoding.
    """
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), "")
    guessed = encoding is None and not marked
    if encoding is None or (marked and marked.startswith(encoding)):
        encoding = marked or _likely_encoding(data)
    elif encoding == "utf-16":
        encoding = "utf-16-be" if data[:1] == b"\0" else "utf-16-le"
    name = encoding.replace("_16", "-16").removesuffix("-sig")
    title = ENCODINGS.get(name[:6] if name.startswith("utf-16") else name, name.upper())
    try:
        # Five bytes stand for nothing in Windows-1252.
        text = data.decode(encoding) if encoding != "cp1252" else data.decode("cp1252", "replace")
    except (UnicodeDecodeError, LookupError) as error:
        next_step = "Choose another encoding, or save it as UTF-8."
        raise TableError(f"The file is not {title}.", str(error), next_step, code="encoding") from error
    if text.count("\0") > len(text) // 100:
        raise TableError("The file holds no text.", "It is full of NUL characters.", code="binary")
    if guessed and not title.startswith("UTF"):
        return text, f"The file is not UTF-8; it is read as {title}. Choose another encoding if letters look wrong."
    return text, f"Read as {title}."


def _likely_encoding(data: bytes) -> str:
    from charset_normalizer import from_bytes

    try:
        if b"\0" not in data[:200]:
            data.decode("utf-8")
            return "utf-8"
        candidates = ["utf_16_le", "utf_16_be"]
    except UnicodeDecodeError:
        candidates = list(ENCODINGS)[2:]
    matches = from_bytes(data, cp_isolation=candidates)
    # Many short texts fit several encodings; the most frequent one is then meant.
    western = any("cp1252" in match.could_be_from_charset for match in matches if not match.percent_chaos)
    best = matches.best()
    return "cp1252" if western or best is None else best.encoding


def find_delimiter(text: str) -> str:
    """Return the sign that splits the first records most evenly into cells; a comma where none does."""

    def evenness(sign: str) -> tuple[int, int]:
        sample = csv.reader(io.StringIO(text[:200_000], newline=""), delimiter=sign)
        try:
            widths = Counter(len(record) for record in islice(sample, _SAMPLE) if any(map(str.strip, record)))
        except csv.Error:
            return 0, 0
        return max(((count, width) for width, count in widths.items() if width > 1), default=(0, 0))

    return max(DELIMITERS, key=evenness)


def _rows(text: str, sign: str, quoting: Literal[0, 3], skipped: int) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True, quoting=quoting)
    number = skipped
    try:
        for number, record in enumerate(reader, start=skipped + 1):
            yield Row(number, tuple(record))
    except csv.Error as error:
        why = f"{error}, near line {reader.line_num + skipped} of the file."
        what, next_step = (
            "A quotation mark does not pair with another.",
            'Close it, or write a quotation mark within a cell twice ("").',
        )
        raise TableError(what, why, next_step, code="quotes", row=number + 1) from error


# Lists of objects

_OF_BENCHMARKS = frozenset({"dataFeedElement", "hasPart", "checkpoint"})
_NEXT = 'Use a list of objects, such as [{"question": "…", "answer": "…"}], or an object that holds one such list.'


def find_list(document: Any) -> tuple[str, list[Any]] | None:
    """Return the one list of objects (or of lists) that a JSON document is or holds, with its name; else None."""
    if isinstance(document, list):
        return "", document
    if not isinstance(document, dict) or any(key.startswith("@") or key in _OF_BENCHMARKS for key in document):
        return None
    lists = [(key, value) for key, value in document.items() if isinstance(value, list) and value]
    lists = [(key, value) for key, value in lists if all(isinstance(item, dict) for item in value)]
    return lists[0] if len(lists) == 1 else None


def read_list(document: Any) -> Table:
    """Read a table from a JSON document.

    Raises:
        TableError: It holds no list of objects, several, or something else among them.
    """
    name, items = find_list(document) or ("", None)
    if items is None:
        raise TableError("The file holds no list of questions.", "It holds none, or more than one.", _NEXT, code="json")
    notes = [f"Read from the list {name!r}."] if name else []
    if name and len(document) > 1:
        others = [key for key in document if key != name]
        notes.append(f"Besides it the file holds {', '.join(others[:5])}{' …' if len(others) > 5 else ''}; not read.")
    if items and all(isinstance(item, list) for item in items):
        return from_rows((Row(number, tuple(item)) for number, item in enumerate(items, start=1)), notes)
    return from_records(_objects(enumerate(items, start=1)), notes)


def read_lines(text: str) -> Table:
    """Read a table from JSON Lines: one object on each line.

    Raises:
        TableError: A line is no JSON, or no object; says which.
    """

    def parsed() -> Iterator[tuple[int, Any]]:
        for number, line in enumerate(text.split("\n"), start=1):
            try:
                if line.strip():
                    yield number, read_json(line)
            except CheckpointError as error:
                raise TableError(error.what, error.why, error.next, code=error.code, row=number) from error

    return from_records(_objects(parsed()))


def _objects(items: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Mapping[str, Cell]]]:
    for number, item in items:
        if not isinstance(item, dict):
            raise TableError(f"It is no object but {type(item).__name__}.", next=_NEXT, code="json", row=number)
        yield number, item


# Where an export of results holds what a table has: of this program, and of the upstream project, versions 2.x.
_OWN = {
    "id": "question.id",
    "question": "question.question",
    "raw_answer": "question.raw_answer",
    "keywords": "question.keywords",
    "answering_model": "answering_model",
    "response": "answer.text",
}
_UPSTREAM = {
    "id": "metadata.question_id",
    "question": "metadata.question_text",
    "raw_answer": "metadata.raw_answer",
    "keywords": "metadata.keywords",
    "answering_model": "metadata.answering_model",
    "response": "template.raw_llm_response",
}


def is_results(document: Any) -> bool:
    """Say whether a JSON document is an export of results, of this program or of upstream's versions 2.x."""
    if not isinstance(document, dict):
        return False
    upstream = str(document.get("format_version", "")).startswith("2.") and isinstance(document.get("results"), list)
    return upstream or str(document.get("format", "")).startswith("karenina-results-")


def read_results(document: Mapping[str, Any]) -> Table:
    """Return one row for every answer a model gave; several judges of one answer make one row.

    Raises:
        TableError: It holds no list of results, or a damaged one.
    """
    results = document.get("results")
    if not isinstance(results, list):
        raise TableError("The file holds no list of results.", next="Export the run again.", code="json")
    paths = _OWN if "format" in document else _UPSTREAM
    rows: dict[tuple[Any, ...], tuple[int, dict[str, Cell]]] = {}
    for number, result in enumerate(results, start=1):
        row = {name: _at(result, path) for name, path in paths.items()}
        if not isinstance(row["question"], str):
            raise TableError("It holds no question.", next="Export the run again.", code="json", row=number)
        row["answering_model"] = str(row["answering_model"] or _model_name(_at(result, "metadata.answering")))
        rows.setdefault((str(row["id"]), row["answering_model"], row["response"]), (number, row))
    notes = ["Read from an export of results: its questions, and the answers of the models."]
    if len(rows) < len(results):
        notes.append(f"{len(results)} evaluations hold {len(rows)} different answers; the verdicts are not read.")
    return from_records(rows.values(), notes)


def _at(result: Any, path: str) -> Any:
    """Return what stands at a path; older exports have everything side by side."""
    part, _, name = path.rpartition(".")
    inner = result.get(part, result) if isinstance(result, dict) and part else result
    return inner.get(name) if isinstance(inner, dict) else None


def _model_name(parts: Any) -> str:
    """Return the name of a model that upstream describes by its parts."""
    given = parts if isinstance(parts, dict) else {}
    names = (given.get("provider") or given.get("model_provider"), given.get("model_name") or given.get("name"))
    return "/".join(map(str, filter(None, names))) or "model"
