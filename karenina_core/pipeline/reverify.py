"""Recompute a stored result by the rules of today, without any model call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, TemplateError
from karenina_core.models import read_reply
from karenina_core.pipeline.metrics import ExtractedItems, evaluate
from karenina_core.pipeline.stage import failure_of, fitting
from karenina_core.pipeline.stages.rubric import search
from karenina_core.pipeline.stages.verification import verdict_either_way
from karenina_core.schemas import (
    CallRecord,
    ExtractedTemplate,
    Extraction,
    Failure,
    ManualRubricTrait,
    MetricRubricTrait,
    RubricPart,
    TemplatePart,
    Verdict,
    VerificationResult,
    merge_rubrics,
)
from karenina_core.templates import Evaluation, SandboxShare, Template, read_template

_STAGE = "verify_template"
_FROM_TEMPLATE = frozenset({"no_template", "template_validation", "template_execution", "embedding"})


def reverify_result(result: VerificationResult, benchmark: Benchmark) -> VerificationResult:
    """Return the result as the benchmark's present rules decide it.

    The answer and the judge's extraction stay; verdict, field results, patterns and metrics are recomputed.
    A result whose template now asks the judge for something else cannot be decided this way: its status becomes
    `skipped`, and its failure says that the judge is needed again. Failures of models are kept as they are.
    """
    if result.question.id not in benchmark:
        return result
    question = benchmark.get_question_as_object(result.question.id)
    rubric = _rubric(result, benchmark)
    if result.answer is None or _is_final(result.failure) or not question.answer_template:
        return result.model_copy(update={"rubric": rubric})
    try:
        template = read_template(question.answer_template)
        update = _verdict(result, template, benchmark.sandbox)
    except TemplateError as error:
        failure = failure_of(_STAGE, "template_execution", str(error), error.line)
        update = {"status": "failed", "verdict": "not_evaluated", "failure": failure}
    return result.model_copy(update={**update, "rubric": rubric})


def verdict_now(seen: Extraction, benchmark: Benchmark) -> Verdict | None:
    """Return the verdict that `reverify_result` would give, many times faster; None where only that can tell."""
    source = benchmark.get_question_as_object(seen.question.id).answer_template
    if seen.answer is None or _is_final(seen.failure) or not source:
        return seen.verdict
    try:
        template = read_template(source)
        if _asks_otherwise(template, seen.template):
            return "not_evaluated"
        parsed = (seen.template.parsed if seen.template else None) or {}
        right = template.verdict(parsed, seen.answer.text, sandbox=benchmark.sandbox)
    except TemplateError:
        return "not_evaluated"
    return None if right is None else "pass" if right else "fail"


def needs_judge_again(seen: Extraction, benchmark: Benchmark) -> bool:
    """Return whether `reverify_result` would leave the row to the judge, who is asked for something else now."""
    source = benchmark.get_question_as_object(seen.question.id).answer_template
    if seen.answer is None or _is_final(seen.failure) or not source:
        return False
    try:
        return _asks_otherwise(read_template(source), seen.template)
    except TemplateError:
        return False


def decide_rules(result: VerificationResult, template: Template) -> VerificationResult:
    """Return the result as the rules of a template decide it, traits left as they are; no model is asked.

    What `reverify_result` keeps or leaves to the judge, this does too.

    Raises:
        TemplateError: The template's own code failed on the values.
    """
    if result.answer is None or _is_final(result.failure):
        return result
    return result.model_copy(update=_verdict(result, template))


def decide_values(result: VerificationResult, template: Template, values: Mapping[str, Any]) -> VerificationResult:
    """Return the result as if the judge had extracted these values; no model is asked, and its calls stay.

    Args:
        result: With an answer.
        template: Whose rules decide.
        values: By field, as a judge would reply them; a missing one is a null.

    Raises:
        InputError: A value does not fit its field, or there is no answer.
        TemplateError: The template's own code failed on the values.
    """
    if result.answer is None:
        raise InputError("There is no answer to judge.", next="Answer the question first, or paste an answer.")
    typed = template.validate_reply({name: values.get(name) for name in template.judged_names})
    calls = result.template.calls if result.template else []
    return result.model_copy(update=_decided(result, template, typed, calls))


def _is_final(failure: Failure | None) -> bool:
    """Return whether a failure is the model's or the judge's, so that no rule changes it.

    That the judge is needed again is no such failure: with the earlier schema back, the rules decide again.
    """
    if failure is None or failure.category in _FROM_TEMPLATE:
        return False
    return failure.category != "parsing" or failure.stage != _STAGE


def _asks_otherwise(template: Template, stored: TemplatePart | ExtractedTemplate | None) -> bool:
    """Return whether a template asks the judge for something else than what was stored."""
    if not template.needs_judge:
        return False
    sent = stored.calls[-1].schema_sent if stored and stored.calls else None
    return stored is None or stored.parsed is None or sent != template.shared_schema


def _verdict(result: VerificationResult, template: Template, sandbox: SandboxShare | None = None) -> dict[str, object]:
    stored = result.template
    if _asks_otherwise(template, stored):
        reason = "The template now asks the judge for something else; the judge is needed again."
        return {
            "status": "skipped",
            "verdict": "not_evaluated",
            "failure": Failure(category="parsing", stage=_STAGE, reason=reason),
        }
    parsed = (stored.parsed if stored else None) or {}
    return _decided(result, template, parsed, stored.calls if stored else [], sandbox)


def _decided(
    result: VerificationResult,
    template: Template,
    parsed: dict[str, Any],
    calls: list[CallRecord],
    sandbox: SandboxShare | None = None,
) -> dict[str, object]:
    """Return what the rules say of extracted values, as changes to the result."""
    answer = result.answer.text if result.answer else ""
    evaluation = _settle(template, template.evaluate(parsed, answer, sandbox=sandbox), result.template)
    if evaluation.verdict is None:
        failure = failure_of(_STAGE, "embedding", "SemanticMatch fields changed; the embedding check is needed again.")
        return {"status": "skipped", "verdict": "not_evaluated", "failure": failure}
    part = TemplatePart(
        template_id=template.template_id,
        style=template.style,
        parsed=parsed,
        expected=evaluation.expected,
        verify_result=evaluation.verdict,
        verify_granular_result=evaluation.granular,
        fields=list(evaluation.fields),
        composition_strategy=template.composition_strategy,
        calls=calls,
    )
    verdict = "pass" if evaluation.verdict else "fail"
    return {"status": "completed", "verdict": verdict, "failure": None, "template": part}


def _settle(template: Template, evaluation: Evaluation, stored: TemplatePart | None) -> Evaluation:
    """Decide `SemanticMatch` fields by the similarities measured before, where both sides are unchanged."""
    before = {item.name: item for item in stored.fields} if stored else {}
    decided = {}
    for item in evaluation.fields:
        known = before.get(item.name)
        if item.name not in evaluation.pending or known is None or known.similarity is None or item.rule is None:
            continue
        if (known.extracted, known.expected) == (item.extracted, item.expected):
            decided[item.name] = (known.similarity >= float(item.rule["threshold"]), known.similarity)
    if decided and set(decided) == set(evaluation.pending):
        return template.complete(evaluation, decided)
    # As in a run without the embedding check: where the other fields settle the verdict, it stands.
    settled = verdict_either_way(template, evaluation) if evaluation.pending else None
    return evaluation if settled is None else replace(evaluation, verdict=settled)


def _rubric(result: VerificationResult, benchmark: Benchmark) -> RubricPart:
    if result.answer is None or not result.rubric.performed:
        return result.rubric
    part = result.rubric.model_copy(deep=True)
    traits, _ = merge_rubrics(benchmark.get_global_rubric(), benchmark.get_question_rubric(result.question.id))
    part.regex = {}
    for trait, provenance in traits:
        if isinstance(trait, ManualRubricTrait):
            part.errors.pop(trait.name, None)
            search(part, [trait], result.answer.text)
            part.provenance[trait.name] = provenance
        elif isinstance(trait, MetricRubricTrait):
            _recount(part, trait)
    return part


def _recount(part: RubricPart, trait: MetricRubricTrait) -> None:
    replies = [call.reply for call in part.calls if call.purpose == "metric" and call.part == trait.name and call.reply]
    if not replies:
        return
    try:
        reply = read_reply(replies[-1], fitting(ExtractedItems))
    except InputError:
        return
    part.metrics[trait.name], part.confusion[trait.name] = evaluate(trait, reply.items)
