"""Results of the upstream project as ours: format 2.2, and the shapes its earlier releases wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from karenina_core.analysis.strict import check_row
from karenina_core.analysis.upstream.failures import failure_here, outcome
from karenina_core.errors import InputError
from karenina_core.schemas import (
    AnswerPart,
    ConfusionPart,
    FieldEvidence,
    GuardPart,
    QuestionSnapshot,
    RowKey,
    RubricPart,
    SimilarityPart,
    TemplatePart,
    Usage,
    VerificationResult,
    VerificationResultSet,
)
from karenina_core.schemas.entities.question import question_id

_PARTS = frozenset({"metadata", "template", "rubric", "deep_judgment", "deep_judgment_rubric"})
_MARKS = frozenset({"question_id", "raw_llm_response"})


def is_upstream(document: Any) -> bool:
    """Say whether a parsed JSON document looks like results of the upstream project."""
    return next(iter(_rows(document)), None) is not None or _version(document).startswith("2.")


def from_upstream(document: Any) -> VerificationResultSet:
    """Return the results in a parsed results file of the upstream project.

    Formats 2.0, 2.1 and 2.2 are read, and bare lists, objects by result key and `{"runs": …}`. A row that failed
    there has no verdict here, whatever else it says; a wrong answer, which is a failure there, is a verdict here.

    Raises:
        InputError: It is no such document, or a row is damaged; the message names the row.
    """
    if not is_upstream(document):
        raise InputError(
            "This file holds no results of the Karenina project.",
            next="Choose a JSON file exported from its results.",
        )
    metadata = document.get("metadata") if isinstance(document, dict) else None
    run_id = metadata.get("job_id") if isinstance(metadata, dict) else None
    results = [_result(number, row) for number, row in enumerate(_rows(document), 1)]
    return VerificationResultSet(_counted(results), run_id if isinstance(run_id, str) else None)


def upstream_reviews(document: Any, results: Iterable[VerificationResult]) -> list[Any]:
    """Return what `to_upstream` wrote of people's opinions, as JSON, about the results as they were read.

    Args:
        document: The parsed file.
        results: What `from_upstream` made of it.
    """
    return [
        {**item, "result_id": result.result_id} if isinstance(item, dict) else item
        for row, result in zip(_rows(document), results, strict=True)
        for item in _list(row.get("annotations"))
    ]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _version(document: Any) -> str:
    return str(document.get("format_version", "")) if isinstance(document, dict) else ""


def _rows(document: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows, wherever this release kept them."""
    if isinstance(document, dict):
        for name in ("results", "runs"):
            if isinstance(document.get(name), list | dict):
                yield from _rows(document[name])
                return
        document = list(document.values())
    for row in document if isinstance(document, list) else ():
        if isinstance(row, list):
            yield from _rows(row)
        elif isinstance(row, dict) and ("metadata" in row or row.keys() >= _MARKS):
            yield row


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return all of a row in one level, whether its release nests it or not."""
    nested = {name: value for part in _PARTS if isinstance(row.get(part), dict) for name, value in row[part].items()}
    return {name: value for name, value in row.items() if name not in _PARTS} | nested


def _result(number: int, row: dict[str, Any]) -> VerificationResult:
    try:
        result = _evaluation(_flat(row))
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise InputError(f"Result {number} in the file is damaged.", why=str(error)) from error
    check_row(number, result)
    return result


def _evaluation(row: dict[str, Any]) -> VerificationResult:
    failure = failure_here(row.get("failure"), row.get("error"))
    status, verdict = outcome(failure, row.get("verify_result"))
    text = row.get("question_text") or ""
    return VerificationResult(
        question=QuestionSnapshot(
            id=row.get("question_id") or question_id(text),
            question=text,
            raw_answer=row.get("raw_answer") or "",
            keywords=row.get("keywords") or [],
        ),
        answering_model=_label(row, "answering"),
        parsing_model=_label(row, "parsing"),
        replicate=row.get("replicate") or row.get("answering_replicate") or 1,
        status=status,
        verdict=verdict,
        failure=failure,
        answer=AnswerPart(text=row["raw_llm_response"]) if row.get("raw_llm_response") else None,
        template=_template(row, verdict),
        similarity=_similarity(row),
        rubric=_rubric(row),
        abstention=_guard(row, "abstention"),
        sufficiency=_guard(row, "sufficiency"),
        warnings=row.get("warnings") or [],
        usage=_usage(row),
        seconds=row.get("execution_time") or 0.0,
        timestamp=row.get("timestamp") or "",
        run_name=row.get("run_name"),
    )


def _label(row: dict[str, Any], role: str) -> str:
    identity = row.get(role)
    if isinstance(identity, dict):
        return str(identity.get("config_id") or identity.get("model_name") or "unknown")
    return str(row.get(f"{role}_model") or "unknown")


def _template(row: dict[str, Any], verdict: str) -> TemplatePart | None:
    template_id = row.get("template_id") or "no_template"
    parsed, expected = row.get("parsed_llm_response"), row.get("parsed_gt_response")
    if template_id == "no_template" and parsed is None and row.get("verify_result") is None:
        return None
    return TemplatePart(
        template_id=template_id,
        style="upstream",
        parsed=parsed,
        expected=expected,
        verify_result={"pass": True, "fail": False}.get(verdict),
        verify_granular_result=row.get("verify_granular_result") if verdict != "not_evaluated" else None,
        fields=list(_fields(row, parsed or {}, expected or {})),
        composition_strategy=row.get("composition_strategy"),
    )


def _fields(row: dict[str, Any], parsed: dict[str, Any], expected: dict[str, Any]) -> Iterator[FieldEvidence]:
    results = row.get("field_results") or {}
    for name in dict.fromkeys([*results, *parsed]):
        yield FieldEvidence(
            name=name,
            expected=expected.get(name),
            extracted=parsed.get(name),
            result=results.get(name),
            # The format names no rules; that there was one shows in the result.
            rule={"type": "not recorded"} if name in results else None,
        )


def _similarity(row: dict[str, Any]) -> SimilarityPart | None:
    if not row.get("embedding_check_performed"):
        return None
    return SimilarityPart(
        performed=True, similarity=row.get("embedding_similarity_score"), model=row.get("embedding_model_used")
    )


def _guard(row: dict[str, Any], name: str) -> GuardPart | None:
    if not row.get(f"{name}_check_performed"):
        return None
    return GuardPart(performed=True, detected=row.get(f"{name}_detected"), reasoning=row.get(f"{name}_reasoning") or "")


def _rubric(row: dict[str, Any]) -> RubricPart:
    lists = row.get("metric_trait_confusion_lists") or {}
    known = {name: value for name, value in (row.get("llm_trait_scores") or {}).items() if isinstance(value, int)}
    return RubricPart(
        performed=bool(row.get("rubric_evaluation_performed")),
        scores=known,
        labels=row.get("llm_trait_labels") or {},
        regex=row.get("regex_trait_scores") or {},
        metrics=row.get("metric_trait_scores") or {},
        confusion={name: _confusion(buckets) for name, buckets in lists.items()},
        provenance=row.get("trait_provenance") or {},
    )


def _confusion(buckets: dict[str, Any]) -> ConfusionPart:
    return ConfusionPart(**{name: buckets.get(name) or [] for name in ("tp", "fp", "tn", "fn")})


def _usage(row: dict[str, Any]) -> Usage:
    total = (row.get("usage_metadata") or {}).get("total")
    if not isinstance(total, dict):
        return Usage()
    calls = len(row["usage_metadata"]) - 1
    return Usage(input_tokens=total.get("input_tokens"), output_tokens=total.get("output_tokens"), calls=calls)


def _counted(results: list[VerificationResult]) -> list[VerificationResult]:
    """Number repetitions that the file does not tell apart, so that each row keeps an identity of its own."""
    seen: set[RowKey] = set()
    last: dict[RowKey, int] = {}
    for result in results:
        if result.key in seen:
            first = result.key._replace(replicate=0)
            result.replicate = max(last.get(first, 0), result.replicate) + 1
        seen.add(result.key)
        first = result.key._replace(replicate=0)
        last[first] = max(last.get(first, 0), result.replicate)
    return results
