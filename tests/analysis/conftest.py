"""Small factories for evaluations; every test states only what matters to it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from karenina_core.schemas import (
    AnswerPart,
    CallRecord,
    Failure,
    FieldEvidence,
    QuestionSnapshot,
    RubricPart,
    TemplatePart,
    Usage,
    VerificationResult,
)
from tests.runs.conftest import any_store, postgres_socket, postgres_url

__all__ = ["any_store", "postgres_socket", "postgres_url"]

EXACT = {"type": "ExactMatch", "normalize": ["lowercase"]}
STATUS = {"pass": "completed", "fail": "completed", "not_evaluated": "failed"}


def make_field(name: str = "target", passed: bool | None = True, **parts: Any) -> FieldEvidence:
    extracted = None if passed is None else "BCL2" if passed else "BRAF"
    return FieldEvidence(
        **{"name": name, "expected": "BCL2", "extracted": extracted, "result": passed, "rule": EXACT} | parts
    )


def make_call(purpose: str = "answer", key: str = "k1", **parts: Any) -> CallRecord:
    usage = Usage(input_tokens=100, output_tokens=20, cost=0.002, calls=1)
    given = {"model": "provider/a", "source": "provider", "messages": [], "usage": usage, "seconds": 1.5}
    return CallRecord(purpose=purpose, key=key, **given | parts)


def make_result(
    question: str = "What does venetoclax inhibit?",
    model: str = "Sample A",
    verdict: str = "pass",
    replicate: int = 1,
    fields: list[FieldEvidence] | None = None,
    **parts: Any,
) -> VerificationResult:
    """Build one evaluation; a row without a verdict failed with a time-out unless told otherwise."""
    failure = Failure(category="timeout", stage="generate_answer", reason="The model took longer than 120 s.")
    broken = verdict == "not_evaluated"
    template = TemplatePart(
        template_id="t1",
        style="declarative",
        parsed={"target": "BCL2"},
        expected={"target": "BCL2"},
        fields=[make_field(passed=verdict == "pass")] if fields is None else fields,
        verify_granular_result=1.0 if verdict == "pass" else 0.0,
    )
    given: dict[str, Any] = {
        "status": STATUS[verdict],
        "failure": failure if broken else None,
        "template": None if broken else template,
        "answer": None if broken else AnswerPart(text="It inhibits BCL2."),
    }
    return VerificationResult(
        question=QuestionSnapshot(
            id=hashlib.md5(question.encode()).hexdigest(), question=question, raw_answer="BCL2", keywords=["drugs"]
        ),
        answering_model=model,
        replicate=replicate,
        verdict=verdict,
        **{"parsing_model": "judge"} | given | parts,
    )


def make_run(verdicts: str, model: str = "Sample A", **parts: Any) -> list[VerificationResult]:
    """Build one result per letter, each for its own question: `+` pass, `-` fail, `0` not evaluated."""
    names = {"+": "pass", "-": "fail", "0": "not_evaluated"}
    return [make_result(f"Question {n}?", model, names[sign], **parts) for n, sign in enumerate(verdicts, 1)]


def make_rubric(**parts: Any) -> RubricPart:
    names = [name for kind in ("scores", "regex", "metrics", "errors") for name in parts.get(kind, {})]
    return RubricPart(**{"performed": True, "provenance": dict.fromkeys(names, "global")} | parts)


@pytest.fixture(scope="session")
def field() -> Callable[..., FieldEvidence]:
    return make_field


@pytest.fixture(scope="session")
def call() -> Callable[..., CallRecord]:
    return make_call


@pytest.fixture(scope="session")
def result() -> Callable[..., VerificationResult]:
    return make_result


@pytest.fixture(scope="session")
def run() -> Callable[..., list[VerificationResult]]:
    return make_run


@pytest.fixture(scope="session")
def rubric() -> Callable[..., RubricPart]:
    return make_rubric


@pytest.fixture
def rich_run(mixed_run: list[VerificationResult], call: Callable[..., CallRecord]) -> list[VerificationResult]:
    """The same with four more models, so that every figure has something to show."""
    answer = AnswerPart(text="It inhibits BCL2.", call=call())
    others = [
        result
        for number, verdicts in enumerate(("+++", "-+-", "+-+", "--+"))
        for result in make_run(verdicts, f"Sample {number}", answer=answer, rubric=mixed_run[0].rubric.model_copy())
    ]
    return [*mixed_run, *others]


@pytest.fixture
def mixed_run(rubric: Callable[..., RubricPart], call: Callable[..., CallRecord]) -> list[VerificationResult]:
    """Two models, three questions, every kind of trait, one broken row."""
    traits = rubric(
        scores={"Clarity": 4, "Polite": True, "Tone": 1},
        labels={"Tone": "formal"},
        regex={"Cites": False},
        metrics={"Diseases": {"precision": 2 / 3, "recall": 0.5}},
        confusion={"Diseases": {"tp": ["asthma", "bronchitis"], "fp": ["emphysema"], "fn": ["pneumonia", "pleurisy"]}},
    )
    answer = AnswerPart(text="It inhibits BCL2.", call=call())
    return [
        *make_run("+-", "Sample A", rubric=traits, answer=answer),
        *make_run("++0", "Sample B"),
    ]
