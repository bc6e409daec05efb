"""An export of results as a table: its questions, and what the models answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from karenina_core.benchmark.tables.table import Cell, Table, TableError, from_records

FORMAT: Final = "karenina-results-"


def is_results(document: Any) -> bool:
    """Say whether a JSON document is an export of results."""
    return isinstance(document, dict) and str(document.get("format", "")).startswith(FORMAT)


def read_results_table(document: Mapping[str, Any]) -> Table:
    """Return one row for every answer a model gave; several judges of one answer make one row.

    Raises:
        TableError: It holds no list of results, or a damaged one.
    """
    results = document.get("results")
    if not isinstance(results, list):
        raise TableError("The file holds no list of results.", next="Export the run again.", code="json")
    rows = list(_rows(results))
    notes = ["Read from an export of results: its questions, and the answers of the models."]
    if len(rows) < len(results):
        notes.append(f"{len(results)} evaluations hold {len(rows)} different answers; the verdicts are not read.")
    return from_records(rows, notes)


def _rows(results: list[Any]) -> Iterator[tuple[int, dict[str, Cell]]]:
    seen: set[tuple[Any, ...]] = set()
    for number, result in enumerate(results, start=1):
        question = result.get("question") if isinstance(result, dict) else None
        if not isinstance(question, dict):
            raise TableError("It holds no question.", next="Export the run again.", code="json", row=number)
        answer = result.get("answer")
        model = str(result.get("answering_model", ""))
        text = answer.get("text") if isinstance(answer, dict) else None
        key = (str(question.get("id")), model, text)
        if key in seen:
            continue
        seen.add(key)
        yield (
            number,
            {
                "id": question.get("id"),
                "question": question.get("question"),
                "raw_answer": question.get("raw_answer"),
                "keywords": question.get("keywords"),
                "answering_model": model,
                "response": text,
            },
        )
