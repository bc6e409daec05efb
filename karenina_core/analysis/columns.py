"""The columns of every table: name, type and meaning, for code, column help and documentation alike."""

from __future__ import annotations

from typing import Literal, NamedTuple

FrameKind = Literal["results", "fields", "traits", "calls"]
TraitKind = Literal["llm_score", "llm_binary", "llm_literal", "regex", "metric"]


class Column(NamedTuple):
    """One column: its pandas type and what it means."""

    dtype: str
    meaning: str


ROW: dict[str, Column] = {
    "result_id": Column("str", "Sixteen hex digits that name the result in links."),
    "question_id": Column("str", "The question."),
    "question": Column("str", "Its text, cut to 80 characters."),
    "answering_model": Column("str", "The model under test."),
    "parsing_model": Column("str", "The judge."),
    "replicate": Column("int64", "Repetition, counted from 1."),
}

RESULTS: dict[str, Column] = {
    **ROW,
    "keywords": Column("object", "List of the question's keywords."),
    "status": Column("str", "completed, failed or skipped: did the machine do its work."),
    "verdict": Column("str", "pass, fail or not_evaluated: was the answer right."),
    "failure_category": Column("str", "Kind of failure, missing when there was none."),
    "failure_group": Column("str", "autofail, abstained, template, judge or provider."),
    "failure_stage": Column("str", "Pipeline stage of the failure."),
    "failure_reason": Column("str", "Why, in a sentence."),
    "granular": Column("float64", "Weighted share of right fields, 0 to 1."),
    "seconds": Column("float64", "Wall time of the evaluation, judge and rules included."),
    "answer_seconds": Column("float64", "Wall time of the call that answered; missing when no model was asked."),
    "cost": Column("float64", "US dollars of its calls, missing when no price is known."),
    "answer_cost": Column(
        "float64", "US dollars of the call that answered alone, when it was made; missing when no price is known."
    ),
    "answer_origin": Column("str", "model, ledger, recording or manual: where the answer came from in this run."),
    "input_tokens": Column("Int64", "Tokens sent."),
    "output_tokens": Column("Int64", "Tokens received."),
    "similarity": Column("float64", "Similarity of response and expected answer; never decides."),
    "flagged": Column("bool", "The answer seems to address its judge; look at it before you trust the verdict."),
}

FIELDS: dict[str, Column] = {
    **ROW,
    "field": Column("str", "Name of the template field."),
    "result": Column("boolean", "True, False, or missing when the judge found nothing or nothing was decided."),
    "state": Column("str", "right, wrong, not_found (the judge found no value) or undecided."),
    "expected": Column("str", "The ground truth as text; JSON for anything but text."),
    "extracted": Column("str", "What the judge found, as text."),
    "primitive": Column("str", "Name of the rule that compares them."),
    "weight": Column("float64", "Share in the granular score."),
    "reason": Column("str", "How the rule decided."),
}

TRAITS: dict[str, Column] = {
    **ROW,
    "trait": Column("str", "Name of the trait."),
    "kind": Column("str", "llm_score, llm_binary, llm_literal, regex or metric; empty when nothing tells."),
    "metric": Column("str", "Name of the metric for metric traits, otherwise empty."),
    "value": Column("float64", "Score, 1 or 0 for yes or no, class index, or metric; missing when there is none."),
    "label": Column("str", "The value for people: yes, no, the class, the score."),
    "provenance": Column("str", "global or question_specific."),
    "reason": Column("str", "What the judge said; of a metric trait the items, expected mistakes apart from others."),
    "error": Column("str", "Why there is no value, missing when there is one."),
    "undefined": Column("bool", "The metric is 0/0 and therefore has no value."),
    "tp": Column("Int64", "True positives of a metric trait."),
    "fp": Column("Int64", "False positives."),
    "tn": Column("Int64", "True negatives."),
    "fn": Column("Int64", "False negatives."),
    "minimum": Column("float64", "Lowest possible value, missing when not known."),
    "maximum": Column("float64", "Highest possible value."),
    "higher_is_better": Column("boolean", "Direction, missing when there is none or it is not known."),
}

CALLS: dict[str, Column] = {
    **ROW,
    "purpose": Column("str", "answer, parse, rubric, metric, abstention or sufficiency."),
    "model": Column("str", "The model that was asked."),
    "source": Column("str", "provider, ledger, recording, manual or local."),
    "key": Column("str", "Identity of the call: results that share a call share its key."),
    "finish_reason": Column("str", "Why the reply ended."),
    "input_tokens": Column("Int64", "Tokens sent."),
    "output_tokens": Column("Int64", "Tokens received."),
    "cost": Column("float64", "US dollars, missing when no price is known."),
    "seconds": Column("float64", "Wall time of the call."),
}

LONG: dict[str, Column] = {
    **ROW,
    "item": Column("str", "verdict, review, field, trait or metric: what the row is about."),
    "raw_answer": Column("str", "The reference answer of the question; with the verdict only."),
    "name": Column("str", "Name of the field or trait, `trait / metric` for metrics; empty for what is as a whole."),
    "expected": Column("str", "The ground truth of a field, as text."),
    "value": Column("str", "What was found: the verdict, agrees or disagrees, the extracted value, a score, a metric."),
    "result": Column("boolean", "Whether it is right, for verdicts and fields; for reviews whether the person agrees."),
    "number": Column("float64", "The value as a number: 1 and 0 for right and wrong or yes and no, scores, metrics."),
    "reason": Column("str", "Why; the note of a review."),
    "cause": Column("str", "What the result comes from, in the eyes of a person; reviews only."),
    "author": Column("str", "Who reviewed it."),
    "at": Column("str", "When, ISO 8601; reviews only."),
}

# Where in a result the values of columns stand; every exported table of results has these columns.
PATHS: dict[str, str] = {
    "result_id": "result_id",
    "question_id": "question.id",
    "question": "question.question",
    "keywords": "question.keywords",
    "raw_answer": "question.raw_answer",
    "author": "question.author",
    "sources": "question.sources",
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
    **{name: f"usage.{name}" for name in ("calls", "cached_calls", "input_tokens", "output_tokens", "cost")},
    "timestamp": "timestamp",
    "run_name": "run_name",
    "warnings": "warnings",
}

# A row of each table stands for: a result; a field or a trait of a result; a call.
COLUMNS: dict[FrameKind, dict[str, Column]] = {"results": RESULTS, "fields": FIELDS, "traits": TRAITS, "calls": CALLS}

# Columns that only the evidence of a result holds. Tables that are read from columns of the store go without them.
EVIDENCE_ONLY: dict[FrameKind, tuple[str, ...]] = {
    "results": ("failure_reason", "similarity"),
    "fields": ("expected", "extracted", "primitive", "weight", "reason"),
    "traits": ("provenance", "reason", "error"),
}
