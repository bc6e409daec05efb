"""Our results as the upstream project reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from karenina_core import __version__
from karenina_core.analysis.cells import json_line, redactor
from karenina_core.analysis.frames import calls_of
from karenina_core.analysis.upstream.failures import failure_there
from karenina_core.schemas import (
    Annotation,
    AnyTrait,
    CallRecord,
    GuardPart,
    ModelConfig,
    RubricPart,
    StoredTrait,
    TemplatePart,
    VerificationConfig,
    VerificationResult,
)
from karenina_core.schemas.entities.question import now

FORMAT_VERSION = "2.2"
NO_TEMPLATE = "no_template"
_ID_LENGTH = 32
_MOST_WARNINGS = 50
_STAGES = {
    "answer": "answer_generation",
    "parse": "parsing",
    "rubric": "rubric_evaluation",
    "metric": "rubric_evaluation",
    "abstention": "abstention_check",
    "sufficiency": "sufficiency_check",
}


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
    models = _models(config)
    head = {
        "format_version": FORMAT_VERSION,
        "metadata": _head(results, config),
        "shared_data": {"rubric_definition": _rubric_definition(traits)},
    }
    said: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        said.setdefault(annotation.result_id, []).append(annotation)
    rows = (json_line(_row(result, models) | _reviews(said.get(result.result_id)), redact) for result in results)
    opened = json_line(head, redact).removesuffix("}")
    return (opened + ', "results": [\n' + ",\n".join(rows) + "\n]}\n").encode()


def _models(config: VerificationConfig | None) -> dict[str, ModelConfig]:
    if config is None:
        return {}
    return {model.id: model for model in (*config.answering_models, *config.parsing_models)}


def _head(results: Sequence[VerificationResult], config: VerificationConfig | None) -> dict[str, Any]:
    stamps = sorted(filter(None, (_seconds(result.timestamp) for result in results)))
    start, end = (stamps[0], stamps[-1]) if stamps else (None, None)
    completed = sum(result.status == "completed" for result in results)
    return {
        "export_timestamp": now(),
        "karenina_version": f"workbench {__version__}",
        "job_id": getattr(results, "run_id", None),
        "verification_config": {
            "answering_models": [_model(model) for model in config.answering_models] if config else [],
            "parsing_models": [_model(model) for model in config.parsing_models] if config else [],
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
    }


def _seconds(timestamp: str) -> float | None:
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return None


def _model(model: ModelConfig) -> dict[str, Any]:
    provider, name = model.model_provider, model.model_name
    if provider is None and "/" in name:
        provider, _, name = name.partition("/")
    return {
        "provider": provider,
        "name": name,
        "temperature": model.temperature,
        "interface": interface(model),
    }


def interface(model: ModelConfig | None) -> str:
    """Return the upstream name of the way a model is reached."""
    if model is None:
        return "langchain"
    if model.interface == "manual":
        return "manual"
    return "openai_endpoint" if model.endpoint_base_url else "langchain"


def _identity(label: str, models: dict[str, ModelConfig]) -> dict[str, Any]:
    model = models.get(label)
    name = model.model_name if model and model.model_name else label
    return {
        "interface": interface(model),
        "model_name": name,
        "tools": [],
        "config_id": None if name == label else label,
    }


def _rubric_definition(traits: Iterable[AnyTrait]) -> dict[str, list[dict[str, Any]]]:
    definition: dict[str, list[dict[str, Any]]] = {}
    for trait in traits:
        if not isinstance(trait, StoredTrait):
            written = trait.model_dump(mode="json", exclude_none=True, exclude={"type"})
            definition.setdefault(f"{trait.type}_traits", []).append(written)
    return definition


def _row(result: VerificationResult, models: dict[str, ModelConfig]) -> dict[str, Any]:
    return {
        "metadata": _metadata(result, models),
        "template": _template(result),
        "rubric": _rubric(result.rubric) if result.rubric.performed else None,
        "deep_judgment": None,
        "deep_judgment_rubric": None,
        "evaluation_input": None,
        "used_full_trace": True,
        "trace_extraction_error": None,
    }


def _reviews(said: Sequence[Annotation] | None) -> dict[str, Any]:
    return {"annotations": [item.model_dump(mode="json") for item in said]} if said else {}


def _metadata(result: VerificationResult, models: dict[str, ModelConfig]) -> dict[str, Any]:
    template = result.template
    unscored = [f"Trait {name!r} has no value: {why}" for name, why in result.rubric.errors.items()]
    return {
        "question_id": result.question.id,
        "template_id": template.template_id[:_ID_LENGTH] if template else NO_TEMPLATE,
        "failure": failure_there(result),
        "caveats": [],
        "warnings": [*result.warnings, *unscored][:_MOST_WARNINGS],
        "partial_content": None,
        "retry_counts": None,
        "question_text": result.question.question,
        "raw_answer": result.question.raw_answer,
        "keywords": list(result.question.keywords) or None,
        "answering": _identity(result.answering_model, models),
        "parsing": _identity(result.parsing_model, models),
        "answering_system_prompt": _system_prompt(result.answer.call if result.answer else None),
        "parsing_system_prompt": _system_prompt(template.calls[-1] if template and template.calls else None),
        "execution_time": result.seconds,
        "timestamp": result.timestamp,
        "result_id": result.result_id,
        "run_name": result.run_name,
        "replicate": result.replicate,
        "evaluation_mode": None,
    }


def _system_prompt(call: CallRecord | None) -> str | None:
    messages = call.messages if call else []
    return next((message["content"] for message in messages if message.get("role") == "system"), None)


def _template(result: VerificationResult) -> dict[str, Any]:
    part = result.template
    written = {
        "raw_llm_response": result.raw_llm_response or "",
        "template_verification_performed": part is not None and result.verdict != "not_evaluated",
        "verify_result": result.verify_result,
        "verify_granular_result": result.verify_granular_result,
        "recursion_limit_reached": result.failure is not None and result.failure.category == "recursion_limit",
        "usage_metadata": _usage(result),
        **_guard("abstention", result.abstention),
        **_guard("sufficiency", result.sufficiency),
    }
    if result.similarity and result.similarity.performed:
        written["embedding_check_performed"] = True
        written["embedding_similarity_score"] = result.similarity.similarity
        written["embedding_model_used"] = result.similarity.model
    return written | (_decided(part) if part else {})


def _decided(part: TemplatePart) -> dict[str, Any]:
    decided = [field for field in part.fields if field.rule is not None]
    return {
        "parsed_gt_response": part.expected if isinstance(part.expected, dict) else _expected(part),
        "parsed_llm_response": part.parsed,
        "field_results": part.field_results or None,
        "field_scores": {f.name: None if f.result is None else float(f.result) for f in decided} or None,
        "composition_strategy": part.composition_strategy,
    }


def _expected(part: TemplatePart) -> dict[str, Any] | None:
    if part.fields:
        return {field.name: field.expected for field in part.fields}
    return None if part.expected is None else {"correct": part.expected}


def _guard(name: str, part: GuardPart | None) -> dict[str, Any]:
    if part is None or not part.performed:
        return {}
    return {
        f"{name}_check_performed": True,
        f"{name}_detected": part.detected,
        f"{name}_override_applied": False,
        f"{name}_reasoning": part.reasoning or None,
    }


def _rubric(part: RubricPart) -> dict[str, Any]:
    return {
        "rubric_evaluation_performed": True,
        "llm_trait_scores": part.scores or None,
        "llm_trait_labels": part.labels or None,
        "regex_trait_scores": part.regex or None,
        "metric_trait_scores": part.metrics or None,
        "metric_trait_confusion_lists": {
            name: {bucket: getattr(lists, bucket) for bucket in ("tp", "fp", "fn", "tn")}
            for name, lists in part.confusion.items()
        }
        or None,
        "trait_provenance": part.provenance or None,
    }


def _usage(result: VerificationResult) -> dict[str, dict[str, Any]] | None:
    stages: dict[str, dict[str, Any]] = {}
    for call in calls_of(result):
        stage = stages.setdefault(
            _STAGES.get(call.purpose, call.purpose), {"input_tokens": 0, "output_tokens": 0, "model": call.model}
        )
        stage["input_tokens"] += call.usage.input_tokens or 0
        stage["output_tokens"] += call.usage.output_tokens or 0
    if not stages:
        return None
    stages["total"] = {key: sum(stage[key] for stage in stages.values()) for key in ("input_tokens", "output_tokens")}
    for stage in stages.values():
        stage["total_tokens"] = stage["input_tokens"] + stage["output_tokens"]
    return stages
