"""A reader learns before any number that no model was asked."""

from __future__ import annotations

from karenina_core.analysis import Options, calls_frame
from karenina_core.analysis.provenance import provenance_sentences
from karenina_core.analysis.report import Report, as_html, as_markdown, build_report
from karenina_core.analysis.statistics import call_totals
from karenina_core.analysis.summary import cost_sentence
from karenina_core.schemas import AnswerPart

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


def test_prepared_answers_are_named(result, call):
    [sentence] = provenance_sentences([answered(result, call, source="manual")])
    assert sentence.startswith("Prepared answers")


def test_of_replies_by_a_model_nothing_is_said(result, call):
    assert provenance_sentences([answered(result, call)]) == []


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
        "A title", "", "2026-01-02T03:04:05+00:00", (build_report("Run 1", results, Options()),), ("A is better.",)
    )
    for text in (as_html(report).decode(), as_markdown(report)):
        assert 0 < text.index("Hand") < text.index("A is better") < text.index("1 of 1 right")
    [grid] = [grid for grid in report.parts[0].grids if "Sent to a provider" in grid.header]
    cells = dict(zip(grid.header, grid.rows[0], strict=True))
    assert (cells["Replies"], cells["Sent to a provider"], cells["US dollars"]) == ("1", "0", "nothing")
