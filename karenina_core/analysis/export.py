"""Results as files: JSON with every detail that is read back, and tables that open safely in any spreadsheet.

No file holds a key, and no cell holds anything that a program would run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from karenina_core.analysis.cells import json_line, readable, redactor, value_at
from karenina_core.analysis.columns import PATHS
from karenina_core.analysis.frames import calls_of, trait_rows
from karenina_core.analysis.upstream import from_upstream, is_upstream, upstream_reviews
from karenina_core.errors import InputError
from karenina_core.files import read_json
from karenina_core.schemas import (
    Annotation,
    Usage,
    VerificationConfig,
    VerificationResult,
    VerificationResultSet,
    latest_reviews,
)
from karenina_core.sheets import Sheet, csv_text, xlsx_bytes

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
Cell = bool | int | float | str | None

FORMAT = "karenina-results-1"
MAX_BYTES = 200 * 2**20
MAX_NUMBER = 2**53  # the largest whole number that every table and every JSON reader keeps
MAX_REPEATS = 1_000_000
_ANNOTATIONS = TypeAdapter(list[Annotation])
_MAX_TEXT = 2_000_000  # characters; a prompt holds a whole response, with quotes and line breaks escaped

_LISTS = frozenset({"keywords", "warnings"})
# Attributes of the last review of a result, each in a column `review_…`; the verdict stays as it is.
_REVIEW = ("agrees", "cause", "note", "author", "at")


# JSON


def to_json(
    results: Sequence[VerificationResult],
    config: VerificationConfig | None = None,
    annotations: Iterable[Annotation] = (),
) -> bytes:
    """Return results in full, to be read back by `read_results`.

    Args:
        results: The evaluations.
        config: The configuration they came from, written beside them; it holds names of keys, never keys.
        annotations: What people said about them, with what was taken back; `read_annotations` reads it.
    """
    redact = redactor()
    head = {
        "format": FORMAT,
        "run_id": getattr(results, "run_id", None),
        "config": config.model_dump(mode="json") if config else None,
    }
    if reviews := [annotation.model_dump(mode="json") for annotation in annotations]:
        head["annotations"] = reviews
    # One line per result: quick to write, and two exports can be compared line by line.
    rows = (json_line(result.model_dump(mode="json", fallback=str), redact) for result in results)
    return (json_line(head, redact).removesuffix("}") + ', "results": [\n' + ",\n".join(rows) + "\n]}\n").encode()


def read_results(text: str | bytes) -> VerificationResultSet:
    """Read what `to_json` wrote, or a results file of the upstream project.

    Raises:
        InputError: It is not such a file, is larger than 200 MB, or a result in it is damaged.
    """
    return results_of(read_json(text, limit=MAX_BYTES, max_text=_MAX_TEXT))


def results_of(document: Any) -> VerificationResultSet:
    """Return the results in the JSON document of such a file; as `read_results`.

    Raises:
        InputError: It is not such a document, or a result in it is damaged.
    """
    if _of_upstream(document):
        results = from_upstream(document)
    else:
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InputError(
                "This file holds no exported results.",
                why=f"It does not say that its format is {FORMAT!r}.",
                next="Choose a JSON file exported from the results of a run.",
            )
        rows, run_id = document.get("results"), document.get("run_id")
        if not isinstance(rows, list):
            raise InputError("The file holds no list of results.", next="Export the run again.")
        read = [_read_row(number, row) for number, row in enumerate(rows, 1)]
        results = VerificationResultSet(read, run_id if isinstance(run_id, str) else None)
    for number, result in enumerate(results, 1):
        for problem in _problems(result):
            raise InputError(f"Result {number} in the file is damaged.", why=problem, next="Export the run again.")
    return results


def read_annotations(text: str | bytes) -> list[Annotation]:
    """Return what people said about the results in a file that `read_results` reads; nothing where it says nothing.

    Raises:
        InputError: It is larger than 200 MB, or a result or review in it is damaged.
    """
    document = read_json(text, limit=MAX_BYTES, max_text=_MAX_TEXT)
    return annotations_of(document, results_of(document) if _of_upstream(document) else ())


def annotations_of(document: Any, results: Iterable[VerificationResult]) -> list[Annotation]:
    """Return what people said, as the JSON document of such a file holds it; as `read_annotations`.

    Args:
        document: The document.
        results: What `results_of` made of it.

    Raises:
        InputError: A review in it is damaged.
    """
    if _of_upstream(document):
        rows = upstream_reviews(document, results)
    else:
        rows = document.get("annotations", []) if isinstance(document, dict) else []
    try:
        return _ANNOTATIONS.validate_python(rows)
    except ValueError as error:
        raise InputError("The reviews in the file are damaged.", why=str(error)) from error


def _of_upstream(document: Any) -> bool:
    return is_upstream(document) and not (isinstance(document, dict) and document.get("format") == FORMAT)


def _read_row(number: int, row: Any) -> VerificationResult:
    try:
        return VerificationResult.model_validate(row)
    except ValueError as error:
        raise InputError(f"Result {number} in the file is damaged.", why=str(error)) from error


def _problems(result: VerificationResult) -> Iterator[str]:
    """Yield what keeps a result from being shown in every table and page, although it keeps to its schema."""
    if not 1 <= result.replicate <= MAX_REPEATS:
        yield f"Repeats are counted from 1 to {MAX_REPEATS:,}."
    if any(abs(score) > MAX_NUMBER for score in result.rubric.scores.values()):
        yield "A score is larger than any that a trait can have."
    fields = result.template.fields if result.template else ()
    if any(field.rule is not None and not isinstance(field.rule.get("type"), str) for field in fields):
        yield "A rule does not say of which type it is."
    calls = list(calls_of(result))
    if any(not {"role", "content"} <= message.keys() for call in calls for message in call.messages):
        yield "A message lacks its role or its content."
    if any(count > MAX_NUMBER for usage in (result.usage, *(call.usage for call in calls)) for count in _counts(usage)):
        yield "A number of tokens is larger than any reply."


def _counts(usage: Usage) -> list[int]:
    return [abs(n or 0) for n in (usage.input_tokens, usage.output_tokens, usage.calls, usage.cached_calls)]


# Tables


def to_csv(results: Sequence[VerificationResult], annotations: Iterable[Annotation] = ()) -> bytes:
    """Return one row per result: UTF-8 with a byte order mark, and CRLF.

    Global traits have a column each (`trait: NAME`, `metric: NAME / METRIC`); the questions' own share
    `question_traits`. `metric_items` holds the items behind metric traits, as JSON. False and 0 are written as such;
    an empty cell means there is nothing.

    Args:
        results: The evaluations.
        annotations: What people said about them. The last opinion of each that was not taken back is written in the
            columns `review_…`, and the number of opinions that stand beside it.
    """
    return _csv(_results_sheet(results, annotations))


def to_xlsx(results: Sequence[VerificationResult], annotations: Iterable[Annotation] = ()) -> bytes:
    """Return the table of `to_csv` as an Excel workbook; texts are cut at what a cell can hold, and say so."""
    return xlsx_bytes({"Results": _results_sheet(results, annotations)})


def frame_to_csv(frame: pd.DataFrame) -> bytes:
    """Return any table as CSV, with the same care for every cell."""
    names = [str(name) for name in frame.columns]
    plain = frame.astype(object).where(frame.notna(), None)
    rows = plain.itertuples(index=False, name=None)
    return _csv(_sheet(names, (dict(zip(names, row, strict=True)) for row in rows)))


def _csv(sheet: Sheet) -> bytes:
    return csv_text(sheet.header, sheet.rows).encode("utf-8-sig")


def _sheet(header: Sequence[str], rows: Iterable[Row]) -> Sheet:
    redact = redactor()
    cells = ([_cell(row.get(name), redact) for name in header] for row in rows)
    return Sheet([redact(name) for name in header], cells)


def _cell(value: Any, redact: Callable[[str], str]) -> Cell:
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    return value if isinstance(value, bool | int) else redact(readable(value) or "")


def _results_sheet(results: Sequence[VerificationResult], annotations: Iterable[Annotation]) -> Sheet:
    standing = [annotation for annotation in annotations if not annotation.undone]
    last, counts = latest_reviews(standing), Counter(annotation.result_id for annotation in standing)
    traits = list(dict.fromkeys(name for result in results for name, shared, _ in _trait_cells(result) if shared))
    rows = (_result_row(result, traits, last.get(result.result_id), counts[result.result_id]) for result in results)
    reviews = [f"review_{name}" for name in _REVIEW]
    return _sheet([*PATHS, *traits, "question_traits", "metric_items", "trait_errors", *reviews, "reviews"], rows)


def _result_row(result: VerificationResult, traits: Sequence[str], review: Annotation | None, reviews: int) -> Row:
    row = {name: value_at(result, path) for name, path in PATHS.items()}
    row |= {name: "; ".join(row[name]) for name in _LISTS}
    values = {name: value for name, _, value in _trait_cells(result)}
    own = {name: values.pop(name) for name in list(values) if name not in traits}
    items = {name: part.model_dump(exclude_defaults=True) for name, part in result.rubric.confusion.items()}
    row |= {**values, "question_traits": own or None, "metric_items": items or None}
    row |= {"trait_errors": result.rubric.errors or None, "reviews": reviews}
    if review is not None:
        row |= {f"review_{name}": getattr(review, name) for name in _REVIEW} | {"review_at": review.at.isoformat()}
    return row


def _trait_cells(result: VerificationResult) -> Iterator[tuple[str, bool, Cell]]:
    """Yield the column of each trait value of a result, whether the trait is for all questions, and the value."""
    for row in trait_rows(result):
        kind, metric, value = row["kind"], row["metric"], row["value"]
        shared = row["provenance"] == "global"
        if metric:
            yield f"metric: {row['trait']} / {metric}", shared, None if math.isnan(value) else float(value)
        elif kind not in ("", "metric"):
            cell = row["label"] if kind == "llm_literal" else int(value) if kind == "llm_score" else bool(value)
            yield f"trait: {row['trait']}", shared, cell
