"""Sentences about a run, and what its numbers rest on."""

from __future__ import annotations

import pytest

from karenina_core.analysis import (
    ReportOptions,
    as_html,
    as_markdown,
    calls_frame,
    field_sign,
    judge_sentences,
    left_out_sentences,
    model_sentences,
    percent,
)
from karenina_core.analysis.report.build import Report, build_part
from karenina_core.analysis.statistics import call_totals
from karenina_core.analysis.summary import cost_sentence, provenance_sentences
from karenina_core.schemas import AnswerPart, SimilarityPart, TemplatePart


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        ("++++++++----0", "8 of 12 right (67 %, 95 % interval 39–86 %), 1 not evaluated (1 error)"),
        ("----0", "0 of 4 right (0 %, 95 % interval 0–49 %, too few to tell), 1 not evaluated (1 error)"),
        ("00", "none of 2 evaluated (2 errors)"),
    ],
)
def test_a_model_is_told_with_its_interval_and_what_was_left_out(run, verdicts, sentence):
    assert model_sentences(run(verdicts)) == [f"Sample A: {sentence}"]


def test_judges_and_repeats_are_told_apart(run):
    results = [*run("+++++", parsing_model="J1"), *run("-----", parsing_model="J2")]
    names = [sentence.split(":")[0] for sentence in model_sentences(results)]
    assert names == ["Sample A, judged by J1", "Sample A, judged by J2"]
    [sentence] = model_sentences([*run("+++++"), *run("+++++", replicate=2)])
    assert sentence == "Sample A: 10 of 10 right (100 %, 95 % interval 57–100 %, 5 questions repeated)"
    assert model_sentences([]) == [] and left_out_sentences([]) == []


def test_what_was_left_out_is_said_with_an_example(run, result):
    rubric_only = result("Other?", verdict="not_evaluated", failure=None)
    assert left_out_sentences([*run("00+"), rubric_only]) == [
        "2 × the model took too long: The model took longer than 120 s.",
        "1 × only the rubric was evaluated",
    ]


def test_one_of_several_reasons_is_told_as_an_example(result):
    failures = [{"category": "abstention", "stage": "abstention_check", "reason": f"Reason {n}."} for n in (1, 2)]
    results = [result(f"Q{n}?", verdict="not_evaluated", failure=failure) for n, failure in enumerate(failures)]
    assert left_out_sentences(results) == ["2 × the model declined to answer; for example: Reason 1."]


def test_a_model_that_judged_itself_is_named(run):
    results = [*run("++", "Sample A", parsing_model="Sample A"), *run("++", "Sample B", parsing_model="Sample A")]
    assert judge_sentences(results) == ["Sample A: this model judged itself, so its mistakes may go unnoticed."]


def test_the_demo_judge_is_named(result, call):
    by_demo = call(provenance={"note": "demo judge, 13 of 20 extractions right"})
    part = TemplatePart(template_id="t", style="declarative", calls=[by_demo])
    [sentence] = judge_sentences([result("Q?", parsing_model="local", template=part)])
    assert sentence.startswith("local: the demo judge")


def test_what_a_run_took_is_said(result, call):
    priced, free = call(), call(key="k2", usage={"input_tokens": 2_000})
    results = [result(f"Q{n}?", answer=AnswerPart(text="x", call=one)) for n, one in enumerate((priced, free))]
    assert cost_sentence(results) == "2 model calls, 2,100 tokens in, 20 out, $0.0020 and 1 call of unknown price"
    assert cost_sentence(results[1:]).endswith("cost not known")
    assert cost_sentence([]) == "No model was called."


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0 %"), (0.001, "<1 %"), (0.5, "50 %"), (0.994, "99 %"), (0.999, ">99 %"), (1, "100 %")]
)
def test_rounding_never_claims_all_or_none(share, text):
    assert percent(share) == text


SAMPLE = {"source": "recording", "usage": {"cost": 0.0}, "provenance": {"recording": "demo", "kind": "sample"}}


def answered(result, call, **parts):
    return result("Q?", answer=AnswerPart(text="x", call=call(model="Sample A", **parts)))


def test_hand_written_samples_are_named_as_such(result, call):
    [sentence] = provenance_sentences([answered(result, call, **SAMPLE)])
    assert sentence.startswith("Hand-written samples: the replies come from the recording 'demo'.")
    assert sentence.endswith("say nothing about any model. This holds for Sample A.")


def test_what_models_once_said_is_a_recording_also_when_the_ledger_held_it(result, call):
    once = {"source": "ledger", "provenance": {"recording": "smollm2", "kind": "recording"}}
    [sentence] = provenance_sentences([answered(result, call, **once)])
    assert sentence.startswith("Recorded replies")


def test_a_recorded_reply_is_no_call_and_went_to_no_provider(result, call):
    recorded = [answered(result, call, **SAMPLE)]
    assert cost_sentence(recorded) == "No model was called: 1 recorded or prepared reply."
    assert list(call_totals(calls_frame(recorded), [])["asked"]) == [0]
    both = [*recorded, answered(result, call, key="k2")]
    assert cost_sentence(both).startswith("1 model call, ")
    assert cost_sentence(both).endswith("; besides, 1 recorded or prepared reply")


def test_a_report_says_it_before_its_first_number(result, call):
    results = [answered(result, call, **SAMPLE)]
    report = Report(
        "A title", "", "2026-01-02T03:04:05+00:00", (build_part("Run 1", results, ReportOptions()),), ("A is better.",)
    )
    for text in (as_html(report).decode(), as_markdown(report)):
        assert 0 < text.index("Hand") < text.index("A is better") < text.index("1 of 1 right")
    [grid] = [grid for grid in report.parts[0]["grids"] if "Sent to a provider" in grid.header]
    cells = dict(zip(grid.header, grid.rows[0], strict=True))
    assert (cells["Replies"], cells["Sent to a provider"], cells["US dollars"]) == ("1", "0", "nothing")


SEMANTIC = {"type": "SemanticMatch", "threshold": 0.85}


@pytest.mark.parametrize(
    ("passed", "parts", "sign"),
    [
        (True, {}, "✓ right"),
        (False, {}, "✗ wrong"),
        (None, {}, "– nothing found"),
        (None, {"rule": None}, ""),
        (None, {"extracted": "BCL2"}, "– not decided"),
        (None, {"extracted": "BCL2", "rule": SEMANTIC}, "– not decided: the embedding check was off"),
        (None, {"rule": SEMANTIC}, "– nothing found"),
        (False, {"rule": SEMANTIC}, "✗ wrong"),
    ],
)
def test_a_field_says_what_became_of_it(result, field, passed, parts, sign: str) -> None:
    item = field(passed=passed, **parts)
    assert field_sign(result(fields=[item]), item) == sign


def test_an_embedding_check_that_failed_was_not_off(result, field) -> None:
    item = field(passed=None, extracted="BCL2", rule=SEMANTIC)
    failed = SimilarityPart(performed=False, reason="The model could not be loaded.")
    assert field_sign(result(fields=[item], similarity=failed), item) == "– not decided: the embedding check failed"
