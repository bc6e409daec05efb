"""Results and tables as CSV and Excel workbooks that open safely: there is nothing in them a program would run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from karenina_core.analysis.cells import readable, redactor
from karenina_core.analysis.traits import trait_rows
from karenina_core.schemas import Annotation, VerificationResult, latest_reviews
from karenina_core.sheets import Sheet, csv_text, xlsx_bytes

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]

COLUMNS: dict[str, str] = {
    "result_id": "result_id",
    "question_id": "question.id",
    "question": "question.question",
    "keywords": "question.keywords",
    "raw_answer": "question.raw_answer",
    "answering_model": "answering_model",
    "parsing_model": "parsing_model",
    "replicate": "replicate",
    "status": "status",
    "verdict": "verdict",
    "verify_result": "verify_result",
    "verify_granular_result": "verify_granular_result",
    "failure_category": "failure.category",
    "failure_group": "failure.group",
    "failure_stage": "failure.stage",
    "failure_reason": "failure.reason",
    "response": "answer.text",
    "finish_reason": "answer.finish_reason",
    "truncated": "answer.truncated",
    "expected": "template.expected",
    "parsed": "template.parsed",
    "field_results": "template.field_results",
    "template_id": "template.template_id",
    "similarity": "similarity.similarity",
    "abstained": "abstention.detected",
    "sufficient": "sufficiency.detected",
    "seconds": "seconds",
    "calls": "usage.calls",
    "cached_calls": "usage.cached_calls",
    "input_tokens": "usage.input_tokens",
    "output_tokens": "usage.output_tokens",
    "cost": "usage.cost",
    "timestamp": "timestamp",
    "run_name": "run_name",
    "warnings": "warnings",
}
"""The columns every export has, and where in a result their values are."""
REVIEW: dict[str, str] = {
    "review_agrees": "agrees",
    "review_cause": "cause",
    "review_note": "note",
    "review_author": "author",
    "review_at": "at",
}
"""The columns of the last review of a result, and where in it their values are; the verdict stays as it is."""
_LISTS = frozenset({"question.keywords", "warnings"})


def to_csv(results: Sequence[VerificationResult], annotations: Iterable[Annotation] = ()) -> bytes:
    """Return one row per result: UTF-8 with a byte order mark, and CRLF.

    Global traits have a column each (`trait: NAME`, `metric: NAME / METRIC`); the questions' own share
    `question_traits`. False and 0 are written as such; an empty cell means there is nothing.

    Args:
        results: The evaluations.
        annotations: What people said about them. The last opinion of each that was not taken back is written in the
            columns of `REVIEW`, and the number of opinions that stand beside it.
    """
    return _csv(_results_sheet(results, annotations))


def to_xlsx(results: Sequence[VerificationResult], annotations: Iterable[Annotation] = ()) -> bytes:
    """Return the table of `to_csv` as an Excel workbook; texts are cut at what a cell can hold, and say so."""
    return xlsx_bytes({"Results": _results_sheet(results, annotations)})


def frame_to_csv(frame: pd.DataFrame) -> bytes:
    """Return any table as CSV, with the same care for every cell."""
    return _csv(_frame_sheet(frame))


def frame_to_xlsx(frame: pd.DataFrame, title: str = "Table") -> bytes:
    """Return any table as an Excel workbook, with the same care for every cell."""
    return xlsx_bytes({title: _frame_sheet(frame)})


def _results_sheet(results: Sequence[VerificationResult], annotations: Iterable[Annotation]) -> Sheet:
    standing = [annotation for annotation in annotations if not annotation.undone]
    last, counts = latest_reviews(standing), Counter(annotation.result_id for annotation in standing)
    traits = list(dict.fromkeys(name for result in results for name in _global_traits(result)))
    rows = (
        {
            **_base_row(result),
            **_trait_row(result, traits),
            **_review_row(last.get(result.result_id)),
            "reviews": counts[result.result_id],
        }
        for result in results
    )
    return _sheet([*COLUMNS, *traits, "question_traits", "trait_errors", *REVIEW, "reviews"], rows)


def _review_row(review: Annotation | None) -> Row:
    row = {name: getattr(review, attribute, None) for name, attribute in REVIEW.items()}
    return row | {"review_at": review.at.isoformat() if review else None}


def _frame_sheet(frame: pd.DataFrame) -> Sheet:
    names = [str(name) for name in frame.columns]
    plain = frame.astype(object).where(frame.notna(), None)
    return _sheet(names, (dict(zip(names, row, strict=True)) for row in plain.itertuples(index=False, name=None)))


def _sheet(header: Sequence[str], rows: Iterable[Row]) -> Sheet:
    redact = redactor()
    cells = ([_cell(row[name], redact) for name in header] for row in rows)
    return Sheet([redact(name) for name in header], cells)


def _csv(sheet: Sheet) -> bytes:
    return csv_text(sheet.header, sheet.rows).encode("utf-8-sig")


def _cell(value: Any, redact: Callable[[str], str]) -> bool | int | float | str | None:
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    return value if isinstance(value, bool | int) else redact(readable(value) or "")


def _base_row(result: VerificationResult) -> Row:
    return {name: _at(result, path) for name, path in COLUMNS.items()}


def _at(result: VerificationResult, path: str) -> Any:
    value: Any = result
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return "; ".join(value) if path in _LISTS else value


def _global_traits(result: VerificationResult) -> list[str]:
    return [_column(row) for row in trait_rows(result, {}, {}) if row["provenance"] == "global" and _has_value(row)]


def _trait_row(result: VerificationResult, columns: Sequence[str]) -> Row:
    rows = list(trait_rows(result, {}, {}))
    values = {_column(row): _value(row) for row in rows if _has_value(row)}
    own = {name: value for name, value in values.items() if name not in columns}
    return {
        **{name: values.get(name) for name in columns},
        "question_traits": own or None,
        "trait_errors": result.rubric.errors or None,
    }


def _has_value(row: Row) -> bool:
    return "value" in row


def _column(row: Row) -> str:
    return f"metric: {row['trait']} / {row['metric']}" if row["metric"] else f"trait: {row['trait']}"


def _value(row: Row) -> bool | float | int | str | None:
    match row["kind"]:
        case "llm_literal":
            return str(row["label"])
        case "llm_score":
            return int(row["value"])
        case "metric":
            return None if math.isnan(row["value"]) else float(row["value"])
    return bool(row["value"])
