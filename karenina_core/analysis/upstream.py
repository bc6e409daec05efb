"""The results format 2.2 of the upstream project, in both directions; and the shapes its earlier releases wrote.

It has no place for stages, explanations, weights and prompts; our own JSON export has. What it does hold survives:
who answered what, what was extracted and expected, every verdict, trait and failure. Reviews stand in the rows, where
other readers pass over them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, get_args

from karenina_core import __version__
from karenina_core.analysis.cells import json_line, redactor, value_at
from karenina_core.analysis.frames import calls_of
from karenina_core.errors import InputError
from karenina_core.schemas import (
    Annotation,
    AnyTrait,
    CallRecord,
    Failure,
    FailureCategory,
    FieldEvidence,
    ModelConfig,
    RowKey,
    Status,
    StoredTrait,
    TemplatePart,
    Usage,
    Verdict,
    VerificationConfig,
    VerificationResult,
    VerificationResultSet,
)
from karenina_core.schemas.entities.question import now, question_id

FORMAT_VERSION = "2.2"
NO_TEMPLATE = "no_template"
_PARTS = frozenset({"metadata", "template", "rubric", "deep_judgment", "deep_judgment_rubric"})
_ROW_NAMES = frozenset({"question_id", "raw_llm_response"})  # what a row of an early release has
_BUCKETS = ("tp", "fp", "tn", "fn")
_GUARDS = ("abstention", "sufficiency")
_ID_LENGTH = 32
_MOST_WARNINGS = 50
_LONGEST_REASON = 500
# Purposes of calls here, and the stages they belong to there.
_STAGES = {
    "answer": "answer_generation",
    "parse": "parsing",
    "rubric": "rubric_evaluation",
    "metric": "rubric_evaluation",
    "abstention": "abstention_check",
    "sufficiency": "sufficiency_check",
}
# Where a value stands here, by its name there; for both directions.
_METADATA = {
    "question_id": "question.id",
    "question_text": "question.question",
    "raw_answer": "question.raw_answer",
    "keywords": "question.keywords",
    "execution_time": "seconds",
    "timestamp": "timestamp",
    "run_name": "run_name",
    "replicate": "replicate",
}
_TEMPLATE = {
    "raw_llm_response": "answer.text",
    "parsed_llm_response": "template.parsed",
    "verify_granular_result": "template.verify_granular_result",
    "composition_strategy": "template.composition_strategy",
    "embedding_check_performed": "similarity.performed",
    "embedding_similarity_score": "similarity.similarity",
    "embedding_model_used": "similarity.model",
    **{f"{name}_check_performed": f"{name}.performed" for name in _GUARDS},
    **{f"{name}_{value}": f"{name}.{value}" for name in _GUARDS for value in ("detected", "reasoning")},
}
_RUBRIC = {
    "rubric_evaluation_performed": "rubric.performed",
    "llm_trait_scores": "rubric.scores",
    "llm_trait_labels": "rubric.labels",
    "regex_trait_scores": "rubric.regex",
    "metric_trait_scores": "rubric.metrics",
    "trait_provenance": "rubric.provenance",
}
# Failures: the groups of the categories that both sides know, and how others are named there.
_KNOWN = frozenset(get_args(FailureCategory))
_AUTOFAIL = frozenset({"recursion_limit", "trace_validation", "deep_judgment", "deep_judgment_rubric"})
_ABSTAINED = frozenset({"abstention", "sufficiency"})
_GROUPS = {
    "content": "content",
    **dict.fromkeys(_AUTOFAIL, "autofail"),
    **dict.fromkeys(("timeout", "connection", "rate_limit", "server_error"), "retry"),
    **dict.fromkeys(_ABSTAINED, "abstained"),
    **dict.fromkeys(("template_validation", "parsing"), "system"),
}
_NAMES_THERE = {"no_template": "template_validation", "template_execution": "template_validation"}


# Reading


def is_upstream(document: Any) -> bool:
    """Say whether a parsed JSON document looks like results of the upstream project."""
    version = document.get("format_version", "") if isinstance(document, dict) else ""
    return next(iter(_rows(document)), None) is not None or str(version).startswith("2.")


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
    results = []
    for number, row in enumerate(_rows(document), 1):
        try:
            results.append(_result(_flat(row)))
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise InputError(f"Result {number} in the file is damaged.", why=str(error)) from error
    _number_repeats(results)
    return VerificationResultSet(results, run_id if isinstance(run_id, str) else None)


def upstream_reviews(document: Any, results: Iterable[VerificationResult]) -> list[Any]:
    """Return what `to_upstream` wrote of people's opinions, as JSON, about the results as they were read.

    Args:
        document: The parsed file.
        results: What `from_upstream` made of it.
    """
    rows = ((row.get("annotations"), result) for row, result in zip(_rows(document), results, strict=True))
    return [
        {**item, "result_id": result.result_id} if isinstance(item, dict) else item
        for items, result in rows
        for item in (items if isinstance(items, list) else ())
    ]


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
        elif isinstance(row, dict) and ("metadata" in row or row.keys() >= _ROW_NAMES):
            yield row


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return all of a row in one level, whether its release nests it or not."""
    nested = {name: value for part in _PARTS if isinstance(row.get(part), dict) for name, value in row[part].items()}
    return {name: value for name, value in row.items() if name not in _PARTS} | nested


def _result(row: dict[str, Any]) -> VerificationResult:
    failure = _failure_here(row.get("failure"), row.get("error"))
    status, verdict = _outcome(failure, row.get("verify_result"))
    parts: dict[str, dict[str, Any]] = {"": {"timestamp": ""}, "question": {"question": "", "raw_answer": ""}}
    for there, path in (_METADATA | _TEMPLATE | _RUBRIC).items():
        if row.get(there) not in (None, "", [], {}):
            part, _, name = path.rpartition(".")
            parts.setdefault(part, {})[name] = row[there]
    own, question, rubric = parts.pop(""), parts["question"], parts.setdefault("rubric", {})
    own["replicate"] = row.get("replicate") or row.get("answering_replicate") or 1
    question.setdefault("id", question_id(question["question"]))
    rubric["scores"] = {name: value for name, value in rubric.get("scores", {}).items() if isinstance(value, int)}
    rubric["confusion"] = {
        name: {bucket: items.get(bucket) or [] for bucket in _BUCKETS}
        for name, items in (row.get("metric_trait_confusion_lists") or {}).items()
    }
    for name in (*_GUARDS, "similarity"):
        if not parts.get(name, {}).get("performed"):
            parts.pop(name, None)
    template = _template_here(row, verdict, parts.pop("template", {}))
    labels = {f"{role}_model": _label(row, role) for role in ("answering", "parsing")}
    found: dict[str, Any] = {"failure": failure, "template": template, "status": status, "verdict": verdict, **labels}
    found |= {"warnings": row.get("warnings") or [], "usage": _usage_here(row)}
    return VerificationResult.model_validate({**own, **parts, **found})


def _failure_here(failure: Any, error: Any) -> Failure | None:
    """Return a failure of theirs in our form, or the message that older rows have; None where all went well."""
    if not isinstance(failure, dict):
        return Failure(category="unexpected", stage="", reason=str(error)) if error else None
    details = failure.get("details")
    own = details.get("category") if isinstance(details, dict) else None
    category = own if own in _KNOWN else failure.get("category")
    if category == "content":
        return None
    category = category if category in _KNOWN else "unexpected"
    return Failure(category=category, stage=str(failure.get("stage") or ""), reason=str(failure.get("reason") or ""))


def _outcome(failure: Failure | None, verified: bool | None) -> tuple[Status, Verdict]:
    """Return status and verdict; a failure of the machine outweighs what else a row says."""
    if failure is None:
        return "completed", "not_evaluated" if verified is None else "pass" if verified else "fail"
    if failure.category == "no_template":
        return "skipped", "not_evaluated"
    orderly = failure.category in _AUTOFAIL | _ABSTAINED
    return "completed" if orderly else "failed", "fail" if failure.category in _AUTOFAIL else "not_evaluated"


def _label(row: dict[str, Any], role: str) -> str:
    identity = row.get(role)
    if isinstance(identity, dict):
        return str(identity.get("config_id") or identity.get("model_name") or "unknown")
    return str(row.get(f"{role}_model") or "unknown")


def _template_here(row: dict[str, Any], verdict: str, known: dict[str, Any]) -> TemplatePart | None:
    template_id = row.get("template_id") or NO_TEMPLATE
    parsed, expected = row.get("parsed_llm_response"), row.get("parsed_gt_response")
    if template_id == NO_TEMPLATE and parsed is None and row.get("verify_result") is None:
        return None
    results = row.get("field_results") or {}
    fields = [
        FieldEvidence(
            name=name,
            expected=(expected or {}).get(name),
            extracted=(parsed or {}).get(name),
            result=results.get(name),
            # The format names no rules; that there was one shows in the result.
            rule={"type": "not recorded"} if name in results else None,
        )
        for name in dict.fromkeys([*results, *(parsed or {})])
    ]
    decided = {"pass": True, "fail": False}.get(verdict)
    known |= {"template_id": template_id, "style": "upstream", "parsed": parsed, "expected": expected, "fields": fields}
    return TemplatePart(**known | ({"verify_granular_result": None} if decided is None else {}), verify_result=decided)


def _usage_here(row: dict[str, Any]) -> Usage:
    stages = row.get("usage_metadata") or {}
    total = stages.get("total")
    if not isinstance(total, dict):
        return Usage()
    tokens = {name: total.get(name) for name in ("input_tokens", "output_tokens")}
    return Usage(**tokens, calls=len(stages) - 1)


def _number_repeats(results: list[VerificationResult]) -> None:
    """Number repetitions that the file does not tell apart, so that each row keeps an identity of its own."""
    seen: set[RowKey] = set()
    last: dict[RowKey, int] = {}
    for result in results:
        first = result.key._replace(replicate=0)
        if result.key in seen:
            result.replicate = max(last[first], result.replicate) + 1
        seen.add(result.key)
        last[first] = max(last.get(first, 0), result.replicate)


# Writing


def to_upstream(
    results: Sequence[VerificationResult],
    config: VerificationConfig | None = None,
    traits: Iterable[AnyTrait] = (),
    annotations: Iterable[Annotation] = (),
) -> bytes:
    """Return results as a file of the upstream project's results format 2.2.

    Args:
        results: The evaluations.
        config: The configuration they came from; it tells provider and model of each label apart.
        traits: Traits of the global rubric, named in the file's head.
        annotations: What people said about the results, with what was taken back. The format has no place for it, but
            its readers pass over what else a row holds, so each row that was reviewed has a list `annotations`.
    """
    redact = redactor()
    answering, parsing = (config.answering_models, config.parsing_models) if config else ([], [])
    models = {model.id: model for model in (*answering, *parsing)}
    stamps = sorted(filter(None, (_seconds(result.timestamp) for result in results)))
    start, end = (stamps[0], stamps[-1]) if stamps else (None, None)
    completed = sum(result.status == "completed" for result in results)
    head = {
        "format_version": FORMAT_VERSION,
        "metadata": {
            "export_timestamp": now(),
            "karenina_version": f"workbench {__version__}",
            "job_id": getattr(results, "run_id", None),
            "verification_config": {
                "answering_models": list(map(_model, answering)),
                "parsing_models": list(map(_model, parsing)),
            },
            "job_summary": {
                "total_questions": len(results),
                "successful_count": completed,
                "failed_count": len(results) - completed,
                "start_time": start,
                "end_time": end,
                "total_duration": None if start is None or end is None else end - start,
                "is_complete": True,
            },
        },
        "shared_data": {"rubric_definition": _rubric_definition(traits)},
    }
    reviews: dict[str, list[Any]] = {}
    for annotation in annotations:
        reviews.setdefault(annotation.result_id, []).append(annotation.model_dump(mode="json"))
    rows = (json_line(_row(result, models, reviews.get(result.result_id)), redact) for result in results)
    opened = json_line(head, redact).removesuffix("}")
    return (opened + ', "results": [\n' + ",\n".join(rows) + "\n]}\n").encode()


def _seconds(timestamp: str) -> float | None:
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return None


def _model(model: ModelConfig) -> dict[str, Any]:
    provider, name = model.model_provider, model.model_name
    if provider is None and "/" in name:
        provider, _, name = name.partition("/")
    return {"provider": provider, "name": name, "temperature": model.temperature, "interface": _interface(model)}


def _interface(model: ModelConfig | None) -> str:
    if model is not None and model.interface == "manual":
        return "manual"
    return "openai_endpoint" if model is not None and model.endpoint_base_url else "langchain"


def _identity(label: str, models: Mapping[str, ModelConfig]) -> dict[str, Any]:
    model = models.get(label)
    name = model.model_name if model and model.model_name else label
    config_id = None if name == label else label
    return {"interface": _interface(model), "model_name": name, "tools": [], "config_id": config_id}


def _rubric_definition(traits: Iterable[AnyTrait]) -> dict[str, list[dict[str, Any]]]:
    definition: dict[str, list[dict[str, Any]]] = {}
    for trait in traits:
        if not isinstance(trait, StoredTrait):
            written = trait.model_dump(mode="json", exclude_none=True, exclude={"type"})
            definition.setdefault(f"{trait.type}_traits", []).append(written)
    return definition


def _row(result: VerificationResult, models: Mapping[str, ModelConfig], reviews: list[Any] | None) -> dict[str, Any]:
    row = {
        "metadata": _metadata(result, models),
        "template": _template_there(result),
        "rubric": _rubric_there(result) if result.rubric.performed else None,
        **dict.fromkeys(("deep_judgment", "deep_judgment_rubric", "evaluation_input", "trace_extraction_error")),
        "used_full_trace": True,
    }
    return row | ({"annotations": reviews} if reviews else {})


def _written(result: VerificationResult, names: Mapping[str, str]) -> dict[str, Any]:
    return {there: value_at(result, path) for there, path in names.items()}


def _metadata(result: VerificationResult, models: Mapping[str, ModelConfig]) -> dict[str, Any]:
    template = result.template
    unscored = [f"Trait {name!r} has no value: {why}" for name, why in result.rubric.errors.items()]
    return _written(result, _METADATA) | {
        "template_id": template.template_id[:_ID_LENGTH] if template else NO_TEMPLATE,
        "failure": _failure_there(result),
        "caveats": [],
        "warnings": [*result.warnings, *unscored][:_MOST_WARNINGS],
        "keywords": result.question.keywords or None,
        "answering": _identity(result.answering_model, models),
        "parsing": _identity(result.parsing_model, models),
        "answering_system_prompt": _system_prompt(result.answer.call if result.answer else None),
        "parsing_system_prompt": _system_prompt(template.calls[-1] if template and template.calls else None),
        "result_id": result.result_id,
        **dict.fromkeys(("partial_content", "retry_counts", "evaluation_mode")),
    }


def _failure_there(result: VerificationResult) -> dict[str, Any] | None:
    """Return the failure of a result in their form; there a wrong answer is one too."""
    if result.failure is not None:
        own, stage, reason = result.failure.category, result.failure.stage, result.failure.reason
        category = own if own in _GROUPS else _NAMES_THERE.get(own, "unexpected_error")
        details = None if category == own else {"category": own}
    elif result.verdict == "fail":
        category, stage, details = "content", "verify_template", None
        reason = "The answer does not pass its template."
    else:
        return None
    if len(reason) > _LONGEST_REASON:
        reason = reason[: _LONGEST_REASON - 1] + "…"
    group = _GROUPS.get(category, "system")
    return {"category": category, "stage": stage, "reason": reason, "details": details, "group": group}


def _system_prompt(call: CallRecord | None) -> str | None:
    messages = call.messages if call else []
    return next((message["content"] for message in messages if message.get("role") == "system"), None)


def _template_there(result: VerificationResult) -> dict[str, Any]:
    part = result.template
    written = {name: value for name, value in _written(result, _TEMPLATE).items() if value is not None} | {
        "raw_llm_response": result.raw_llm_response or "",
        "template_verification_performed": part is not None and result.verdict != "not_evaluated",
        "verify_result": result.verify_result,
        "recursion_limit_reached": result.failure is not None and result.failure.category == "recursion_limit",
        "usage_metadata": _usage_there(result),
    }
    if part is None:
        return written
    scores = {name: None if right is None else float(right) for name, right in part.field_results.items()}
    return written | {
        "parsed_gt_response": part.expected if isinstance(part.expected, dict) else _expected(part),
        "field_results": part.field_results or None,
        "field_scores": scores or None,
    }


def _expected(part: TemplatePart) -> dict[str, Any] | None:
    if part.fields:
        return {field.name: field.expected for field in part.fields}
    return None if part.expected is None else {"correct": part.expected}


def _rubric_there(result: VerificationResult) -> dict[str, Any]:
    confusion = {
        name: {bucket: getattr(lists, bucket) for bucket in _BUCKETS} for name, lists in result.rubric.confusion.items()
    }
    written = {name: value or None for name, value in _written(result, _RUBRIC).items()}
    return written | {"metric_trait_confusion_lists": confusion or None}


def _usage_there(result: VerificationResult) -> dict[str, dict[str, Any]] | None:
    stages: dict[str, dict[str, Any]] = {}
    for call in calls_of(result):
        name = _STAGES.get(call.purpose, call.purpose)
        stage = stages.setdefault(name, {"input_tokens": 0, "output_tokens": 0, "model": call.model})
        stage["input_tokens"] += call.usage.input_tokens or 0
        stage["output_tokens"] += call.usage.output_tokens or 0
    if not stages:
        return None
    stages["total"] = {key: sum(stage[key] for stage in stages.values()) for key in ("input_tokens", "output_tokens")}
    for stage in stages.values():
        stage["total_tokens"] = stage["input_tokens"] + stage["output_tokens"]
    return stages
