"""Results go to the upstream project and come back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import read_results
from karenina_core.analysis.upstream import FORMAT_VERSION, from_upstream, to_upstream
from karenina_core.errors import InputError
from karenina_core.schemas import (
    AnswerPart,
    Failure,
    GuardPart,
    ManualRubricTrait,
    VerificationConfig,
    VerificationResult,
)

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
CATEGORIES = ("timeout", "authentication", "parsing", "template_execution", "missing_recording", "unexpected")


def facts(result: VerificationResult) -> tuple[object, ...]:
    """What the format has a place for."""
    part = result.template
    return (
        result.key,
        result.question,
        result.status,
        result.verdict,
        result.failure and (result.failure.category, result.failure.stage, result.failure.reason),
        result.raw_llm_response or "",
        part and (part.parsed, part.field_results, part.verify_granular_result, part.composition_strategy),
        part and {field.name: field.expected for field in part.fields},
        result.rubric.scores,
        result.rubric.labels,
        result.rubric.regex,
        result.rubric.metrics,
        {name: (lists.tp, lists.fp, lists.fn, lists.tn) for name, lists in result.rubric.confusion.items()},
        result.abstention and (result.abstention.detected, result.abstention.reasoning),
        result.seconds,
        result.run_name,
    )


def row(**changes):
    """Return one row as release 2.2 writes it."""
    model = {"interface": "langchain", "model_name": "gpt-4o", "tools": [], "config_id": None}
    metadata = {
        "question_id": "q1",
        "template_id": "no_template",
        "failure": None,
        "question_text": "Why?",
        "raw_answer": None,
        "keywords": None,
        "answering": model,
        "parsing": model,
        "execution_time": 0.25,
        "timestamp": "2026-04-21T12:00:00+00:00",
        "result_id": "ccb35805790e357a",
        "replicate": None,
    }
    template = {"raw_llm_response": "Because.", "verify_result": True, "field_results": None}
    written = {"metadata": metadata, "template": template, "rubric": None}
    for part, values in changes.items():
        written[part] = (written[part] or {}) | values
    return written


def file(*rows):
    return json.dumps({"format_version": "2.2", "metadata": {"job_id": "job-1"}, "results": list(rows)})


def test_what_the_format_holds_survives_both_ways(mixed_run):
    assert [facts(r) for r in read_results(to_upstream(mixed_run))] == [facts(r) for r in mixed_run]


@settings(deadline=None)
@given(
    text=TEXTS.filter(bool),
    verdict=st.sampled_from(["pass", "fail", "not_evaluated"]),
    category=st.sampled_from(CATEGORIES),
    guard=st.none() | st.booleans(),
)
def test_any_answer_survives_both_ways(result, text, verdict, category, guard):
    failure = Failure(category=category, stage="parse_template", reason=text) if verdict == "not_evaluated" else None
    given_ = result(
        text,
        verdict=verdict,
        failure=failure,
        answer=AnswerPart(text=text),
        abstention=GuardPart(performed=True, detected=guard, reasoning=text),
    )
    assert facts(read_results(to_upstream([given_]))[0]) == facts(given_)


def test_the_file_says_what_it_is_and_of_whom(run):
    config = VerificationConfig(answering_models=["openai/a"], parsing_models=["openai/b"])
    trait = ManualRubricTrait(name="Cites", description="Cites a source", pattern=r"\[\d+\]")
    document = json.loads(to_upstream(run("+-0"), config, [trait]))
    assert document["format_version"] == FORMAT_VERSION == "2.2"
    assert document["metadata"]["verification_config"]["answering_models"] == [
        {"provider": "openai", "name": "a", "temperature": 0.1, "interface": "langchain"}
    ]
    assert document["metadata"]["job_summary"]["total_questions"] == 3
    assert [trait["name"] for trait in document["shared_data"]["rubric_definition"]["regex_traits"]] == ["Cites"]


def test_a_wrong_answer_is_a_failure_there_and_a_verdict_here(result):
    written = json.loads(to_upstream([result(verdict="fail")]))["results"][0]
    assert written["metadata"]["failure"]["group"] == "content"
    assert written["template"]["verify_result"] is False
    read = from_upstream({"format_version": "2.2", "results": [written]})[0]
    assert (read.status, read.verdict, read.failure) == ("completed", "fail", None)


def test_a_failed_row_has_no_verdict_although_it_claims_one():
    failure = {"category": "timeout", "stage": "generate_answer", "reason": "timeout exceeded", "group": "retry"}
    (read,) = read_results(file(row(metadata={"failure": failure})))
    assert (read.status, read.verdict) == ("failed", "not_evaluated")
    assert read.failure.category == "timeout"


def test_earlier_releases_are_read():
    old = {
        "question_id": "q1",
        "question_text": "Why?",
        "completed_without_errors": True,
        "raw_llm_response": "Because.",
        "verify_result": False,
        "answering_model": "openai/gpt-4o",
        "parsing_model": "openai/gpt-4o",
        "answering_replicate": 2,
        "execution_time": 1.0,
        "timestamp": "2025-01-01 00:00:00",
    }
    for document in (
        [old],
        {"runs": {"first": [old]}},
        {"q1_openai": old},
        {"format_version": "2.0", "results": [old]},
    ):
        (read,) = read_results(json.dumps(document))
        assert (read.answering_model, read.replicate, read.verdict) == ("openai/gpt-4o", 2, "fail")


def test_rows_that_are_not_told_apart_become_repetitions():
    results = read_results(file(row(), row(), row(metadata={"replicate": 2})))
    assert [result.replicate for result in results] == [1, 2, 3]


@pytest.mark.parametrize(
    "damage",
    [
        {"metadata": {"replicate": "many"}},
        {"metadata": {"keywords": 7}},
        {"template": {"field_results": {"a": "perhaps"}}},
        {"rubric": {"metric_trait_confusion_lists": {"D": 1}}},
    ],
)
def test_a_damaged_row_is_named(damage):
    with pytest.raises(InputError, match="Result 2"):
        read_results(file(row(), row(**damage)))


def test_no_key_reaches_the_file(result, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-secret-0123456789abcdef")
    data = to_upstream([result(answer=AnswerPart(text="it was sk-secret-0123456789abcdef"))])
    assert b"sk-secret" not in data
