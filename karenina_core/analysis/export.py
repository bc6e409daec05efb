"""Results as files that can be read back: JSON with every detail and without keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import TypeAdapter

from karenina_core.analysis.cells import json_line, redactor
from karenina_core.analysis.spreadsheet import frame_to_csv, to_csv
from karenina_core.analysis.strict import check_row
from karenina_core.analysis.upstream import from_upstream, is_upstream, upstream_reviews
from karenina_core.errors import InputError
from karenina_core.files import read_json
from karenina_core.schemas import Annotation, VerificationConfig, VerificationResult, VerificationResultSet

__all__ = ["FORMAT", "frame_to_csv", "read_annotations", "read_results", "to_csv", "to_json"]

FORMAT = "karenina-results-1"
MAX_BYTES = 200 * 2**20
_ANNOTATIONS = TypeAdapter(list[Annotation])
_MAX_TEXT = 2_000_000  # a prompt holds a whole response, with quotes and line breaks escaped


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
        return from_upstream(document)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(
            "This file holds no exported results.",
            why=f"It does not say that its format is {FORMAT!r}.",
            next="Choose a JSON file exported from the results of a run.",
        )
    rows = document.get("results")
    if not isinstance(rows, list):
        raise InputError("The file holds no list of results.", next="Export the run again.")
    return VerificationResultSet([_read_row(number, row) for number, row in enumerate(rows, 1)], _run_id(document))


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
        result = VerificationResult.model_validate(row)
    except ValueError as error:
        raise InputError(f"Result {number} in the file is damaged.", why=str(error)) from error
    check_row(number, result)
    return result


def _run_id(document: dict[str, Any]) -> str | None:
    run_id = document.get("run_id")
    return run_id if isinstance(run_id, str) else None
