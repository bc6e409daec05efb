"""An export of results as a table: its questions, and what the models answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from karenina_core.benchmark.tables.table import Cell, Table, TableError, from_records

FORMAT: Final = "karenina-results-"
"""What the format of this program's own exports begins with."""


def is_results(document: Any) -> bool:
    """Say whether a JSON document is an export of results, of this program or of upstream's versions 2.x."""
    return isinstance(document, dict) and (_is_own(document) or _is_upstream(document))


def _is_own(document: Mapping[str, Any]) -> bool:
    return str(document.get("format", "")).startswith(FORMAT)


def _is_upstream(document: Mapping[str, Any]) -> bool:
    return str(document.get("format_version", "")).startswith("2.") and isinstance(document.get("results"), list)


def read_results_table(document: Mapping[str, Any]) -> Table:
    """Return one row for every answer a model gave; several judges of one answer make one row.

    Raises:
        TableError: It holds no list of results, or a damaged one.
    """
    results = document.get("results")
    if not isinstance(results, list):
        raise TableError("The file holds no list of results.", next="Export the run again.", code="json")
    rows = list(_rows(results, _own_row if _is_own(document) else _upstream_row))
    notes = ["Read from an export of results: its questions, and the answers of the models."]
    if len(rows) < len(results):
        notes.append(f"{len(results)} evaluations hold {len(rows)} different answers; the verdicts are not read.")
    return from_records(rows, notes)


def _rows(
    results: list[Any], read: Callable[[Mapping[str, Any]], dict[str, Cell] | None]
) -> Iterator[tuple[int, dict[str, Cell]]]:
    seen: set[tuple[Any, ...]] = set()
    for number, result in enumerate(results, start=1):
        row = read(result) if isinstance(result, dict) else None
        if row is None:
            raise TableError("It holds no question.", next="Export the run again.", code="json", row=number)
        key = (str(row["id"]), row["answering_model"], row["response"])
        if key not in seen:
            seen.add(key)
            yield number, row


def _own_row(result: Mapping[str, Any]) -> dict[str, Cell] | None:
    question, answer = result.get("question"), result.get("answer")
    if not isinstance(question, dict):
        return None
    return {
        "id": question.get("id"),
        "question": question.get("question"),
        "raw_answer": question.get("raw_answer"),
        "keywords": question.get("keywords"),
        "answering_model": str(result.get("answering_model", "")),
        "response": answer.get("text") if isinstance(answer, dict) else None,
    }


def _upstream_row(result: Mapping[str, Any]) -> dict[str, Cell] | None:
    """Read a result with its parts, as of 2.2, or with everything side by side, as before."""
    about, answered = (_part(result, name) for name in ("metadata", "template"))
    question = about.get("question_text")
    if not isinstance(question, str):
        return None
    return {
        "id": about.get("question_id"),
        "question": question,
        "raw_answer": about.get("raw_answer"),
        "keywords": about.get("keywords"),
        "answering_model": _label(about),
        "response": answered.get("raw_llm_response"),
    }


def _part(result: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = result.get(name)
    return part if isinstance(part, dict) else result


def _label(about: Mapping[str, Any]) -> str:
    """Return the name of the answering model: as it is shown there, or made of what identifies it."""
    shown = about.get("answering_model")
    if isinstance(shown, str) and shown:
        return shown
    parts = about.get("answering")
    named = parts.get("model_name") or parts.get("name") if isinstance(parts, dict) else None
    provider = parts.get("provider") or parts.get("model_provider") if isinstance(parts, dict) else None
    return "/".join(str(part) for part in (provider, named) if part) or "model"
