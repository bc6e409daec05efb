"""One result as rows: its columns, its evidence, its fields and its trait values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from karenina_core.errors import StoreError
from karenina_core.runs.store.clean import clean, clean_json, clean_text
from karenina_core.schemas import CallRecord, ConfusionPart, RubricPart, VerificationResult, field_state

Row = dict[str, Any]
_SHORT = 200
_RESULT = TypeAdapter(VerificationResult)


class ResultRows(NamedTuple):
    """A result as it is stored.

    Attributes:
        run_id: The run it belongs to.
        result_id: Its identity.
        columns: All but its position.
        text: The whole result as JSON.
        fields: One row per template field.
        scores: One row per trait, for metric traits one per metric.
    """

    run_id: str
    result_id: str
    columns: Row
    text: str
    fields: list[Row]
    scores: list[Row]


def rows_of(run_id: str, result: VerificationResult) -> ResultRows:
    """Return a result as it is stored in a run."""
    return ResultRows(
        run_id,
        result.result_id,
        result_row(run_id, result),
        encode(result),
        field_rows(run_id, result),
        score_rows(run_id, result),
    )


def result_row(run_id: str, result: VerificationResult) -> Row:
    """Return the columns of a result, all but its position."""
    failure, usage, question = result.failure, result.usage, result.question
    answer_call = result.answer.call if result.answer else None
    guards = (result.abstention, result.sufficiency)
    return {
        "result_id": result.result_id,
        **_key_columns(run_id, result),
        "status": result.status,
        "verdict": result.verdict,
        "failure_category": failure.category if failure else None,
        "failure_stage": failure.stage if failure else None,
        "granular": clean(result.verify_granular_result),
        "seconds": result.seconds,
        "cost": clean(usage.cost),
        "answer_cost": clean(answer_call.usage.cost) if answer_call else None,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "timestamp": result.timestamp,
        "question": clean_text(question.question[:_SHORT]),
        "keywords": clean(question.keywords),
        "answer_seconds": _time_of(answer_call),
        "flagged": bool(result.answer and result.answer.addresses_judge),
        "unguarded": guards != (None, None) and any(guard and not guard.performed for guard in guards),
    }


def _time_of(call: CallRecord | None) -> float | None:
    """Return how long a model took; None for what no model was asked just now."""
    return call.seconds if call and call.source in ("provider", "local") else None


def _key_columns(run_id: str, result: VerificationResult) -> Row:
    """Return the identity of a result as columns."""
    return {
        "run_id": run_id,
        "question_id": clean_text(result.question.id),
        "answering_model": clean_text(result.answering_model),
        "parsing_model": clean_text(result.parsing_model),
        "replicate": result.replicate,
    }


def field_rows(run_id: str, result: VerificationResult) -> list[Row]:
    """Return one row per template field."""
    if result.template is None:
        return []
    key = _key_columns(run_id, result)
    fields = {clean_text(item.name): (item.result, field_state(result, item)) for item in result.template.fields}
    return [{**key, "name": name, "result": decided, "state": state} for name, (decided, state) in fields.items()]


def score_rows(run_id: str, result: VerificationResult) -> list[Row]:
    """Return one row per trait, for metric traits one per metric; traits without a value have none."""
    if not result.rubric.performed:
        return []
    key = _key_columns(run_id, result)
    names = ("trait", "kind", "metric", "value", "label")
    rows = {(values[0], values[2]): dict(zip(names, values, strict=True)) for values in _scores(result)}
    return [{**key, **clean(row), **_counts(result.rubric, row)} for row in rows.values()]


def _counts(rubric: RubricPart, row: Row) -> dict[str, int | None]:
    part = rubric.confusion.get(row["trait"]) if row["kind"] == "metric" else None
    return {name: len(getattr(part, name)) if part else None for name in ("tp", "fp", "tn", "fn")}


def _scores(result: VerificationResult) -> Iterator[tuple[str, str, str, float | None, str | None]]:
    rubric = result.rubric
    for trait in rubric.errors:
        yield trait, "error", "", None, None
    for trait, value in rubric.scores.items():
        label = rubric.labels.get(trait)
        kind = "binary" if isinstance(value, bool) else "literal" if label is not None else "score"
        yield trait, kind, "", float(value), label
    for trait, found in rubric.regex.items():
        yield trait, "regex", "", float(found), None
    for trait, metrics in rubric.metrics.items():
        for metric, number in metrics.items():
            yield trait, "metric", metric, number, None
    for trait, confusion in rubric.confusion.items():
        for metric in confusion.undefined:
            yield trait, "metric", metric, None, None


def encode(result: VerificationResult) -> str:
    """Return the whole result as JSON text that every database stores."""
    metrics = result.rubric.metrics
    if metrics and not all(math.isfinite(value) for values in metrics.values() for value in values.values()):
        result = result.model_copy(update={"rubric": _with_undefined_named(result.rubric)})
    return clean_json(_RESULT, result)


def _with_undefined_named(rubric: RubricPart) -> RubricPart:
    """Name metrics that are no numbers as undefined, for JSON has no NaN; read back, the result has the same rows."""
    metrics: dict[str, dict[str, float]] = {}
    confusion = dict(rubric.confusion)
    for trait, values in rubric.metrics.items():
        metrics[trait] = {name: value for name, value in values.items() if math.isfinite(value)}
        part = confusion.get(trait, ConfusionPart())
        lacking = [name for name in values if name not in metrics[trait] and name not in part.undefined]
        if lacking:
            confusion[trait] = part.model_copy(update={"undefined": [*part.undefined, *lacking]})
    return rubric.model_copy(update={"metrics": metrics, "confusion": confusion})


def decode(text: str) -> VerificationResult:
    """Read a stored result.

    Raises:
        StoreError: It is not one.
    """
    try:
        return VerificationResult.model_validate_json(text)
    except ValidationError as error:
        raise StoreError(
            "A stored result cannot be read.",
            why=f"{error.error_count()} entries do not fit, the first at {error.errors()[0]['loc']}.",
            next="It may have been written by a newer version of the workbench.",
        ) from error
