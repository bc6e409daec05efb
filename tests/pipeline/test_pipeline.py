"""One question through all stages: the happy path, and everything that can go wrong on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import MissingDependencyError, ModelError
from karenina_core.models import ChatReply, ChatRequest
from karenina_core.schemas import ManualRubricTrait, MetricRubricTrait, Rubric, RubricTrait, VerificationResult
from karenina_core.schemas.entities import StoredTrait
from tests.pipeline.scripted import Similarities, evaluate

DECLARATIVE = """
class Answer(BaseAnswer):
    target: str = VerifiedField(
        description="The protein that the response names as target",
        ground_truth="BCL2",
        verify_with=ExactMatch(normalize=["lowercase", "strip", "remove_punctuation"]),
        extraction_hint="Give the gene symbol",
    )
"""
OWN_CODE = """
class Answer(BaseAnswer):
    target: str = Field(description="The protein target")

    def model_post_init(self, __context):
        self.correct = {"target": "BCL2"}

    def verify(self) -> bool:
        return self.target.strip().upper() == self.correct["target"]
"""
SEMANTIC = """
class Answer(BaseAnswer):
    reason: str = VerifiedField(
        description="Why the drug is given",
        ground_truth="Targets the BCL2 anti-apoptotic protein",
        verify_with=SemanticMatch(threshold=0.8),
    )
"""
TRACE_ONLY = """
class Answer(BaseAnswer):
    cites_trial: bool = VerifiedField(
        description="Whether a trial is cited", ground_truth=True, verify_with=TraceRegex(pattern=r"NCT\\d{8}")
    )
"""

Answer = Callable[[ChatRequest], Any]


def benchmark(template: str | None = DECLARATIVE, rubric: Rubric | None = None) -> Benchmark:
    made = Benchmark.create(name="Test")
    made.add_question("What does venetoclax target?", "B-cell lymphoma 2", answer_template=template, rubric=rubric)
    return made


def script(**replies: Any) -> Answer:
    """Reply by purpose; an answer is given unless the test says otherwise."""
    table = {"answer": "It targets BCL-2.", "parse": {"target": "BCL-2"}, **replies}
    return lambda request: table[request.purpose]


def run(made: Benchmark, reply: Answer, **settings: Any) -> VerificationResult:
    return asyncio.run(evaluate(made, reply, **settings))


def test_a_right_answer_passes_with_its_evidence() -> None:
    result = run(benchmark(), script())
    assert (result.status, result.verdict, result.failure) == ("completed", "pass", None)
    assert result.template is not None
    assert result.template.parsed == {"target": "BCL-2"}
    assert result.template.field_results == {"target": True}
    assert result.verify_granular_result == 1.0
    assert result.question.raw_answer == "B-cell lymphoma 2"
    assert result.usage.calls == 2
    assert [call.purpose for call in result.template.calls] == ["parse"]


@pytest.mark.parametrize(
    ("template", "value", "verdict", "found"),
    [(DECLARATIVE, "KRAS", "fail", False), (DECLARATIVE, None, "fail", None),
     (OWN_CODE, " bcl2 ", "pass", None), (OWN_CODE, "KRAS", "fail", None)],
)  # fmt: skip
def test_a_wrong_answer_fails_without_being_an_error_and_a_null_never_passes(
    template: str, value: str | None, verdict: str, found: bool | None
) -> None:
    result = run(benchmark(template), script(parse={"target": value}))
    assert (result.status, result.verdict, result.failure) == ("completed", verdict, None)
    assert result.template is not None
    assert template == OWN_CODE or result.template.field_results == {"target": found}


def test_no_judge_prompt_holds_the_truth() -> None:
    seen: list[ChatRequest] = []
    run(
        benchmark(), script(answer="It targets a protein.", parse={"target": None}), seen=seen, abstention_enabled=False
    )
    judged = [request for request in seen if request.purpose == "parse"]
    assert judged
    for request in judged:
        sent = repr(request.messages) + repr(request.schema)
        assert "BCL2" not in sent
        assert "B-cell lymphoma 2" not in sent
        assert "Give the gene symbol" in sent


def test_hints_are_left_out_on_request() -> None:
    seen: list[ChatRequest] = []
    run(benchmark(), script(), seen=seen, include_extraction_hints=False)
    assert not [request for request in seen if "Give the gene symbol" in repr(request.messages)]


def test_own_code_that_raises_is_an_error_at_its_line_not_a_wrong_answer() -> None:
    broken = OWN_CODE.replace('self.correct["target"]', 'self.correct["typo"]')
    result = run(benchmark(broken), script())
    assert (result.status, result.verdict) == ("failed", "not_evaluated")
    assert result.failure is not None
    assert (result.failure.category, result.failure.stage) == ("template_execution", "verify_template")
    assert result.failure.line == 9


def test_an_unreadable_template_costs_no_call() -> None:
    made = benchmark()
    [question_id] = made.get_question_ids()
    text = made.to_json().replace("class Answer(BaseAnswer)", "class Answer(BaseAnswer, metaclass=Evil)")
    seen: list[ChatRequest] = []
    result = run(Benchmark.from_json(text), script(), seen=seen)
    assert result.failure is not None
    assert (result.failure.category, result.status, seen) == ("template_validation", "failed", [])
    assert result.question.id == question_id


def test_a_question_with_nothing_to_decide_is_skipped_and_costs_no_call() -> None:
    seen: list[ChatRequest] = []
    result = run(benchmark(None), script(), seen=seen)
    assert (result.status, result.verdict, seen) == ("skipped", "not_evaluated", [])
    assert result.failure is not None
    assert result.failure.category == "no_template"


def test_a_judge_that_replies_junk_is_a_judge_failure_with_its_replies_kept() -> None:
    result = run(benchmark(), script(parse="I would rather not."))
    assert (result.status, result.verdict) == ("failed", "not_evaluated")
    assert result.failure is not None
    assert (result.failure.category, result.failure.group) == ("parsing", "judge")
    assert result.template is not None
    assert result.template.calls[0].reply == "I would rather not."


def test_a_provider_failure_carries_its_own_category() -> None:
    error = ModelError("The provider is overloaded.", category="rate_limit")
    result = run(benchmark(), script(answer=error))
    assert result.failure is not None
    assert (result.failure.category, result.failure.stage, result.failure.group) == (
        "rate_limit",
        "generate_answer",
        "provider",
    )
    assert result.answer is None


def test_an_empty_answer_is_not_a_wrong_answer() -> None:
    result = run(benchmark(), script(answer=ChatReply("  ")))
    assert result.verdict == "not_evaluated"
    assert result.failure is not None and result.failure.category == "empty"


def test_a_cut_off_answer_is_flagged() -> None:
    result = run(benchmark(), script(answer=ChatReply("It targets BCL2 and", finish_reason="length")))
    assert result.answer is not None and result.answer.truncated
    assert "cut off" in result.warnings[0]


def test_trace_fields_alone_need_no_judge() -> None:
    seen: list[ChatRequest] = []
    result = run(benchmark(TRACE_ONLY), script(answer="See NCT02005471."), seen=seen)
    assert result.verdict == "pass"
    assert [request.purpose for request in seen] == ["answer"]


def test_semantic_fields_are_decided_at_stage_nine() -> None:
    reply = script(parse={"reason": "It inhibits the anti-apoptotic protein BCL-2"})
    close = run(benchmark(SEMANTIC), reply, embedding_check_enabled=True, load_embedder=lambda _: Similarities(0.886))
    far = run(benchmark(SEMANTIC), reply, embedding_check=True, load_embedder=lambda _: Similarities(0.4))
    assert (close.verdict, far.verdict) == ("pass", "fail")
    assert close.template is not None and close.template.fields[0].similarity == 0.886


def test_semantic_fields_without_the_embedding_check_are_not_evaluated() -> None:
    result = run(benchmark(SEMANTIC), script(parse={"reason": "x"}))
    assert result.verdict == "not_evaluated"
    assert result.failure is not None and "embedding check is not enabled" in result.failure.reason


def test_a_verdict_that_other_fields_settle_needs_no_embedding_check() -> None:
    both = (
        SEMANTIC
        + """
    brief: bool = VerifiedField(
        description="Whether it is brief", ground_truth=True, verify_with=TraceLength(max=1, unit="words")
    )
"""
    )
    result = run(benchmark(both), script(parse={"reason": "x"}))
    assert (result.status, result.verdict) == ("completed", "fail")
    assert result.template is not None and result.template.field_results == {"reason": None, "brief": False}
    assert "settle the verdict" in result.warnings[-1]


def test_whole_answer_similarity_changes_no_verdict() -> None:
    reply = script(parse={"target": "KRAS"})
    result = run(benchmark(), reply, embedding_check_enabled=True, load_embedder=lambda _: Similarities(0.99))
    assert result.verdict == "fail"
    assert result.similarity is not None and result.similarity.similar


def test_a_missing_embedding_model_is_said_and_everything_else_still_runs() -> None:
    def missing(name: str) -> Any:
        raise MissingDependencyError("The embedding model is not installed.")

    result = run(benchmark(), script(), embedding_check_enabled=True, load_embedder=missing)
    assert result.verdict == "pass"
    assert result.similarity is not None and not result.similarity.performed


QUALITY = Rubric(
    name="Quality",
    traits=[
        RubricTrait(name="Conciseness", kind="score"),
        RubricTrait(name="Polite", kind="binary"),
        RubricTrait(name="Register", kind="literal", classes={"lay": "plain words", "expert": "jargon"}),
        ManualRubricTrait(name="Mentions BCL", pattern="bcl", case_sensitive=False),
        ManualRubricTrait(name="No hedging", pattern="maybe", invert=True),
        MetricRubricTrait(name="Targets", metrics=["precision", "recall"], tp_instructions=["BCL-2", "BCL-XL"]),
        StoredTrait(name="Callable", kind="callable", rating={"@type": "Rating"}),
    ],
)
SCORES = {
    "conciseness": {"reason": "Short.", "value": 5},
    "polite": {"reason": "Neutral.", "value": True},
    "register": {"reason": "A symbol.", "value": "expert"},
}
ITEMS = {"items": [{"item": "BCL-2", "matches": "BCL-2"}]}


def test_all_kinds_of_traits_are_evaluated() -> None:
    result = run(benchmark(rubric=QUALITY), script(rubric=SCORES, metric=ITEMS))
    assert result.rubric_scores == {"Conciseness": 5, "Polite": True, "Register": 1}
    assert result.rubric.labels == {"Register": "expert"}
    assert result.manual_rubric_results == {"Mentions BCL": True, "No hedging": True}
    assert result.metric_rubric_results == {"Targets": {"precision": 1.0, "recall": 0.5}}
    assert "never loaded" in result.rubric.errors["Callable"]
    assert set(result.rubric.provenance.values()) == {"question_specific"}


def test_patterns_survive_a_failing_judge() -> None:
    down = ModelError("Down.", category="server_error")
    result = run(benchmark(rubric=QUALITY), script(rubric=down, metric=down))
    assert result.manual_rubric_results == {"Mentions BCL": True, "No hedging": True}
    assert set(result.rubric.errors) == {"Conciseness", "Polite", "Register", "Targets", "Callable"}
    assert result.verdict == "pass"


def test_traits_are_evaluated_though_the_template_could_not_be_filled() -> None:
    result = run(benchmark(rubric=QUALITY), script(parse="junk", rubric=SCORES, metric=ITEMS))
    assert result.verdict == "not_evaluated"
    assert result.rubric_scores["Conciseness"] == 5


def test_only_traits_the_judge_left_out_are_asked_for_again() -> None:
    seen: list[ChatRequest] = []

    def reply(request: ChatRequest) -> Any:
        if request.purpose == "rubric":
            return (
                {"value": True, "reason": "Yes."}
                if request.subject.part
                else {k: SCORES[k] for k in ("conciseness", "register")}
            )
        return script(metric=ITEMS)(request)

    result = run(benchmark(rubric=QUALITY), reply, seen=seen)
    assert [request.subject.part for request in seen if request.purpose == "rubric"] == ["", "Polite"]
    assert result.rubric_scores["Polite"] is True


@pytest.mark.parametrize(
    ("value", "complaint"),
    [(7, "outside 1 to 5"), ("high", "whole number"), (True, "whole number"), (2.5, "whole number")],
)
def test_a_score_out_of_range_is_refused_not_clamped(value: object, complaint: str) -> None:
    rubric = Rubric(traits=[RubricTrait(name="Conciseness")])
    result = run(benchmark(rubric=rubric), script(rubric={"conciseness": {"reason": "", "value": value}}))
    assert result.rubric_scores == {}
    assert complaint in result.rubric.errors["Conciseness"]


def test_the_questions_own_trait_replaces_the_global_one() -> None:
    made = benchmark(rubric=Rubric(traits=[ManualRubricTrait(name="Mention", pattern="BCL")]))
    made.set_global_rubric(Rubric(traits=[ManualRubricTrait(name="Mention", pattern="never there")]))
    result = run(made, script())
    assert result.manual_rubric_results == {"Mention": True}
    assert result.rubric.provenance == {"Mention": "question_specific"}
    assert "replaces the global one" in result.warnings[0]


TWO_TRAITS = Rubric(traits=[RubricTrait(name="A"), RubricTrait(name="B")])


@pytest.mark.parametrize(
    ("rubric", "settings", "asked"),
    [(TWO_TRAITS, {"rubric_evaluation_strategy": "sequential"}, ["answer", "parse", "A", "B"]),
     (QUALITY, {"evaluation_mode": "rubric_only"}, ["answer", "rubric", "Targets"]),
     (QUALITY, {"evaluation_mode": "template_only"}, ["answer", "parse"]),
     (QUALITY, {"rubric_trait_names": ["No hedging"]}, ["answer", "parse"])],
    ids=["one by one", "traits only", "template only", "named traits"],
)  # fmt: skip
def test_only_what_is_wanted_is_asked_for(rubric: Rubric, settings: dict[str, Any], asked: list[str]) -> None:
    seen: list[ChatRequest] = []
    scores = SCORES if rubric is QUALITY else {"reason": "", "value": 3}
    result = run(benchmark(rubric=rubric), script(rubric=scores, metric=ITEMS), seen=seen, **settings)
    assert [request.subject.part or request.purpose for request in seen] == asked
    assert result.status == "completed"
    assert result.verdict == ("pass" if "parse" in asked else "not_evaluated")


def test_a_hostile_pattern_is_an_error_of_its_trait() -> None:
    rubric = Rubric(
        traits=[ManualRubricTrait(name="Evil", pattern=r"(a|aa)+$"), ManualRubricTrait(name="Fine", pattern="b")]
    )
    result = run(benchmark(rubric=rubric), script(answer="a" * 60 + "b"))
    assert "took too long" in result.rubric.errors["Evil"] or result.manual_rubric_results.get("Evil") is False
    assert result.manual_rubric_results["Fine"] is True
