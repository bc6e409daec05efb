"""Deciding stored answers again: the quick verdict, the preview and the whole result always agree."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from karenina_core.pipeline import decide_rules, decide_values, needs_judge_again, reverify_result, verdict_now
from karenina_core.runs.store.results import encode
from karenina_core.schemas import (
    NORMALIZERS,
    AnswerPart,
    CallRecord,
    Extraction,
    Failure,
    QuestionSnapshot,
    TemplatePart,
    VerificationResult,
)
from karenina_core.templates import (
    FieldSpec,
    Limits,
    Sandbox,
    SandboxShare,
    TemplateSpec,
    read_template,
    write_template,
)

TEXTS = st.sampled_from(["Fe", "fe", "FE ", "F-e", "iron", ""])
NUMBERS = st.sampled_from([0, 1, 2.0, 2.04, -3])
CHAINS = st.lists(st.sampled_from(sorted(NORMALIZERS)), unique=True, max_size=3)
EXACT = st.builds(lambda chain: {"type": "ExactMatch", "normalize": chain}, CHAINS)
TOLERANT = st.builds(
    lambda tolerance, mode: {"type": "NumericTolerance", "tolerance": tolerance, "mode": mode},
    st.sampled_from([0.01, 0.1, 1.0]),
    st.sampled_from(["absolute", "relative"]),
)
SAYS_IT = {"type": "TraceContains", "substring": "iron"}
MEANS_IT = {"type": "SemanticMatch", "threshold": 0.8}
STRATEGIES = st.sampled_from([None, "any_of", "at_least_n"])


@st.composite
def sources(draw: st.DrawFn, description: str = "What is said") -> str:
    """A template with a text, a number, something read in the answer, and sometimes something compared in meaning."""
    fields: list[dict[str, Any]] = [
        {"name": "symbol", "type": "str", "ground_truth": draw(TEXTS), "verify_with": draw(EXACT)},
        {"name": "amount", "type": "float", "ground_truth": draw(NUMBERS), "verify_with": draw(TOLERANT)},
        {"name": "named", "type": "bool", "ground_truth": draw(st.booleans()), "verify_with": SAYS_IT},
    ]
    if draw(st.booleans()):
        fields.append({"name": "gist", "type": "str", "ground_truth": "a metal", "verify_with": MEANS_IT})
    return write_template(
        TemplateSpec(
            fields=[FieldSpec.model_validate({**field, "description": description}) for field in fields],
            verify_strategy=composed(draw(STRATEGIES), [str(field["name"]) for field in fields]),
        )
    )


def composed(strategy: str | None, names: list[str]) -> Any:
    """Return a way to combine the fields, in its stored form."""
    checks = [{"type": "field_check", "field_name": name} for name in names]
    if strategy is None:
        return None
    return {"type": strategy, "conditions": checks, **({"n": 2} if strategy == "at_least_n" else {})}


def benchmark(source: str) -> Benchmark:
    made = Benchmark.create("Metals")
    made.add_question("Which metal?", "Fe", source, question_id="q")
    return made


def stored(source: str, values: dict[str, Any], answer: str = "It is iron.", **parts: Any) -> VerificationResult:
    """A result as a run with that template leaves it."""
    template = read_template(source)
    evaluation = template.evaluate(values, answer)
    call = CallRecord(
        purpose="parse", model="judge", key="k", source="provider", messages=[], schema_sent=template.judge_schema()
    )
    part = TemplatePart(
        template_id=template.template_id,
        style=template.style,
        parsed=dict(evaluation.values),
        fields=[
            item.model_copy(update={"similarity": 0.79}) if item.name in evaluation.pending else item
            for item in evaluation.fields
        ],
        calls=[call],
    )
    given = {"status": "completed", "verdict": "fail", "answer": AnswerPart(text=answer), "template": part}
    return VerificationResult(
        question=QuestionSnapshot(id="q", question="Which metal?", raw_answer="Fe"),
        answering_model="model",
        parsing_model="judge",
        **given | parts,
    )


def values(draw: st.DrawFn) -> dict[str, Any]:
    found = {
        "symbol": st.none() | TEXTS,
        "amount": st.none() | NUMBERS,
        "gist": st.none() | st.sampled_from(["a metal", "a gas"]),
    }
    return {name: draw(strategy) for name, strategy in found.items()}


@st.composite
def revised(draw: st.DrawFn) -> tuple[VerificationResult, Benchmark]:
    """A stored result, and a benchmark whose template may have changed since."""
    before = draw(sources())
    after = draw(st.just(before) | sources() | sources(description="What it says"))
    return stored(before, values(draw)), benchmark(after)


@given(revised())
def test_the_quick_verdict_is_that_of_the_whole_result(case: tuple[VerificationResult, Benchmark]) -> None:
    result, today = case
    whole = reverify_result(result, today)
    seen = Extraction.model_validate_json(encode(result))
    quick = verdict_now(seen, today)
    assert quick in (None, whole.verdict)
    needed = whole.failure is not None and whole.failure.category == "parsing"
    assert needs_judge_again(seen, today) == needed


@given(revised())
def test_deciding_twice_changes_nothing_more(case: tuple[VerificationResult, Benchmark]) -> None:
    result, today = case
    once = reverify_result(result, today)
    assert reverify_result(once, today) == once


@given(revised())
def test_rules_alone_decide_as_the_whole_does(case: tuple[VerificationResult, Benchmark]) -> None:
    result, today = case
    source = today.get_template("q")
    assert source is not None
    assert decide_rules(result, read_template(source)) == reverify_result(result, today)


@given(st.data())
def test_typed_values_decide_as_extracted_ones_do(data: st.DataObject) -> None:
    source = data.draw(sources())
    typed = values(data.draw)
    result = stored(source, typed)
    template = read_template(source)
    by_hand = decide_values(stored(source, {}), template, {name: typed.get(name) for name in template.judged_names})
    assert (by_hand.verdict, by_hand.status) == decided(decide_rules(result, template), by_hand)


def decided(result: VerificationResult, by_hand: VerificationResult) -> tuple[str, str]:
    """What the rules say; a similarity measured for other values does not count for typed ones."""
    if by_hand.failure is not None and by_hand.failure.category == "embedding":
        return by_hand.verdict, by_hand.status
    return result.verdict, result.status


def test_a_schema_that_came_back_is_decided_again() -> None:
    source = write_template(TemplateSpec(fields=[field("Fe")]))
    other = write_template(TemplateSpec(fields=[field("Fe", "Something else")]))
    result = stored(source, {"symbol": "Fe"})
    waiting = reverify_result(result, benchmark(other))
    assert (waiting.status, waiting.verdict) == ("skipped", "not_evaluated")
    assert reverify_result(waiting, benchmark(source)).verdict == "pass"


@pytest.mark.parametrize("category", ["timeout", "abstention"])
def test_what_a_model_failed_at_no_rule_decides(category: str) -> None:
    source = write_template(TemplateSpec(fields=[field("Fe")]))
    failure = Failure.model_validate({"category": category, "stage": "abstention_check", "reason": "It did."})
    failed = stored(source, {"symbol": "Fe"}, verdict="not_evaluated", failure=failure)
    assert decide_rules(failed, read_template(source)) == failed
    assert decide_values(failed, read_template(source), {"symbol": "Fe"}).verdict == "pass"


def test_a_typed_value_has_to_fit() -> None:
    template = read_template(write_template(TemplateSpec(fields=[field(1, kind="int")])))
    result = stored(template.source, {"symbol": 1})
    with pytest.raises(InputError):
        decide_values(result, template, {"symbol": "many"})
    with pytest.raises(InputError, match="no answer"):
        decide_values(result.model_copy(update={"answer": None}), template, {"symbol": 1})


def field(truth: Any, description: str = "The symbol", kind: str = "str") -> FieldSpec:
    rule = {"type": "ExactMatch", "normalize": []} if kind == "str" else {"type": "NumericExact"}
    return FieldSpec.model_validate(
        {"name": "symbol", "type": kind, "description": description, "ground_truth": truth, "verify_with": rule}
    )


def test_a_benchmark_whose_templates_loop_is_stopped_and_says_so() -> None:
    quick = """class Answer(BaseAnswer):
    symbol: str = Field(description="The symbol")

    def verify(self) -> bool:
        return True
"""
    looping = quick.replace("return True", "while True:\n            pass")
    made, result = benchmark(looping), stored(quick, {"symbol": "Fe"})
    made.sandbox = SandboxShare(Sandbox(Limits(seconds=0.2)))
    reasons = [reverify_result(result, made).failure for _ in range(4)]
    assert ["took too long" in failure.reason for failure in reasons if failure] == [True] * 4
    assert [failure is not None and "was stopped" in failure.reason for failure in reasons] == [False] * 3 + [True]
