"""Trying a template out: explain, near misses, what if, and the judge's view, over answers that are stored."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.benchmark import Benchmark
from karenina_core.demo import demo_benchmark
from karenina_core.templates import read_template
from pages.components import services
from tests.app.conftest import healthy
from tests.app.looking import labelled, table, texts
from tests.app.samples import TEMPLATE
from tests.app.template_page import template_page
from tests.app.test_template_editor import OWN_METHODS, press, source_of, typed

SYNONYMS = TEMPLATE.replace('["lowercase"]', '["lowercase", SynonymMap(mapping={"bcl-2": "bcl2"})]')


def trial(app: AppTest, name: str) -> AppTest:
    app.segmented_control(key="template_trial").set_value(name).run()
    return healthy(app)


def codes(app: AppTest) -> list[str]:
    return [code.value for code in app.code]


@pytest.fixture
def measured(demo_run: str) -> tuple[Benchmark, str]:
    """Return the demo, which has run, and the id of its question with a tolerance."""
    benchmark = demo_benchmark()
    found = [item.id for item in benchmark.get_all_questions() if "NumericTolerance" in (item.answer_template or "")]
    return benchmark, found[0]


def demo_page(benchmark: Benchmark, question_id: str) -> AppTest:
    """Open the editor with a question of the demo."""
    question = benchmark.get_question(question_id)
    return template_page(question.answer_template or "", question.question, question.raw_answer)


def test_every_step_of_a_value_is_shown() -> None:
    app = trial(template_page(SYNONYMS), "Explain")
    app = typed(app, "target", "Bcl-2")
    assert '"Bcl-2" → lowercase → "bcl-2" → synonym → "bcl2" ✓' in codes(app)
    assert ":green-badge[:material/check: right]" in texts(app)
    app = typed(app, "target", "MCL1")
    assert '"MCL1" → lowercase → "mcl1" ✗' in codes(app)


def test_a_blank_value_is_nothing_extracted_and_the_truth_can_be_filled_in() -> None:
    app = typed(trial(template_page(TEMPLATE), "Explain"), "Answer", "I do not know.")
    assert "The judge found nothing in the response." in texts(app)
    app = press(app, "Fill in the truth")
    assert labelled(app.text_input, "target").value == "BCL2"
    assert '"BCL2" → lowercase → "bcl2" ✓' in codes(app)


def test_before_anything_is_filled_in_nothing_is_called_wrong() -> None:
    app = trial(template_page(TEMPLATE), "Explain")
    assert "Verdict:" not in texts(app)
    assert "as soon as something is filled in" in texts(app)


def test_a_single_field_is_the_verdict_and_nothing_is_combined() -> None:
    app = typed(trial(template_page(TEMPLATE), "Explain"), "target", "BCL2")
    [verdict] = [text.value for text in app.markdown if text.value.startswith("Verdict:")]
    assert verdict.strip() == "Verdict: :green-badge[:material/check: right]"


def test_a_stored_answer_brings_its_extraction(measured: tuple[Benchmark, str]) -> None:
    benchmark, question_id = measured
    app = trial(demo_page(benchmark, question_id), "Explain")
    chooser = next(box for box in app.selectbox if box.label.startswith("Answer ("))
    chooser.select_index(1).run()
    stored = services.store().results.all(services.store().runs.all()[0].id, question_id=question_id)
    shown = labelled(app.text_area, "Answer").value
    assert shown in [result.answer.text for result in stored if result.answer]
    assert any(code.endswith(("✓", "✗")) for code in codes(app))


def test_own_code_gives_the_verdict_itself() -> None:
    app = typed(trial(template_page(OWN_METHODS), "Explain"), "target", "BCL2")
    assert "right] by the template's own code" in texts(app)


def test_a_value_that_does_not_fit_the_type_is_what_the_judge_would_be_asked_again_about() -> None:
    app = trial(template_page(OWN_METHODS.replace("target: str", "target: list[int]")), "Explain")
    app = typed(app, "target, as JSON", "one")
    assert "The judge would be asked again" in texts(app)


def test_variants_of_the_truth_pass_or_fail_in_a_table() -> None:
    app = trial(template_page(TEMPLATE), "Near misses")
    rows = {row["Variant"]: row["Verdict"] for row in table(app, "Variants of the truth").to_dict("records")}
    assert rows["the truth itself"] == "✓ passes"
    assert rows["something else"] == "✗ fails"
    app.segmented_control(key="self_test_view").set_value("Passes").run()
    assert set(table(app, "Variants of the truth")["Verdict"]) <= {"✓ passes", "✓ passes !"}


def test_a_change_that_accepts_a_variant_is_applied_by_one_click() -> None:
    app = press(trial(template_page(TEMPLATE), "Near misses"), "Drop punctuation")
    assert 'normalize=["lowercase", "remove_punctuation"]' in source_of(app)
    rows = {row["Variant"]: row["Verdict"] for row in table(app, "Variants of the truth").to_dict("records")}
    assert rows["with a full stop"] == "✓ passes"


def test_the_judge_gets_question_response_and_schema_and_no_truth() -> None:
    app = trial(template_page(TEMPLATE), "Judge's view")
    app = typed(app, "Response", "It binds a protein.")
    assert any("It binds a protein." in code for code in codes(app))
    assert "BCL2" not in app.json[0].value
    sent = [code for code in codes(app) if "Response:" in code or "You read a response" in code]
    assert len(sent) == 2 and not any("BCL2" in code for code in sent)


def test_the_view_is_what_the_judge_of_a_stored_answer_was_sent(measured: tuple[Benchmark, str]) -> None:
    benchmark, question_id = measured
    app = trial(demo_page(benchmark, question_id), "Judge's view")
    next(box for box in app.selectbox if box.label.startswith("Answer (")).select_index(1).run()
    store = services.store()
    results = store.results.all(store.runs.all()[0].id, question_id=question_id)
    calls = [result.template.calls[0] for result in results if result.template and result.template.calls]
    sent = [[message["content"] for message in call.messages] for call in calls]
    assert [code for code in codes(app) if code in {text for texts in sent for text in texts}] in sent
    assert json.loads(app.json[0].value) in [call.schema_sent for call in calls]


def test_another_setting_is_tried_on_the_stored_answers_and_taken_over(measured: tuple[Benchmark, str]) -> None:
    benchmark, question_id = measured
    app = trial(demo_page(benchmark, question_id), "What if")
    [slider] = app.select_slider
    slider.set_value(float(slider.options[-1])).run()
    assert "stored answers pass" in texts(app) and "95 % interval" in texts(app)
    before = source_of(app)
    app = press(app, "Use this value")
    assert source_of(app) != before
    rules = [item.verify_with for item in read_template(source_of(app)).spec.fields]
    assert [rule for rule in rules if rule and rule["type"] == "NumericTolerance"]


def test_without_stored_answers_there_is_nothing_to_slide_over() -> None:
    source = TEMPLATE.replace('ExactMatch(normalize=["lowercase"])', "SemanticMatch()")
    assert "No run has an answer to this question yet." in texts(trial(template_page(source), "What if"))
    assert "No rule of this template has a tolerance" in texts(trial(template_page(TEMPLATE), "What if"))
    assert "no setting can be tried" in texts(trial(template_page(OWN_METHODS), "What if"))
