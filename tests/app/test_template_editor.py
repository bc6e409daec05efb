"""The Template tab: form and source in step, nothing typed is lost, nothing in the source is destroyed."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.templates import read_template
from pages.components import services
from pages.components.drafts import Draft
from pages.components.templates.state import Form
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, select_row, table, texts
from tests.app.samples import TEMPLATE, small_benchmark
from tests.app.template_page import template_page

OWN_RULE = """class Contains(VerificationPrimitive):
    \"\"\"Pass if the truth is part of the value.\"\"\"

    fold: bool = True

    def check(self, extracted: str, expected: str) -> bool:
        return expected.lower() in extracted.lower()


class Answer(BaseAnswer):
    target: str = VerifiedField(description="d", ground_truth="BCL2", verify_with=Contains(fold=False))
    named: bool = VerifiedField(description="d", ground_truth=False, verify_with=TraceContains(substring="MCL1"))
    dose: float = VerifiedField(description="d", ground_truth=4, verify_with=NumericExact())
    note: str = Field(description="d")
"""
OWN_METHODS = """class Answer(BaseAnswer):
    target: str = Field(description="d")

    def verify(self) -> bool:
        return self.target == "BCL2"
"""
REMARKED = TEMPLATE.replace("    target:", "    # Approved in 2016.\n    target:")
TWO = TEMPLATE + (
    '    phase: str = VerifiedField(description="The phase of the trial", ground_truth="III", '
    "verify_with=ExactMatch())\n"
)


def opened(source: str, **question: Any) -> AppTest:
    return template_page(source, **question)


def source_of(app: AppTest) -> str:
    return str(labelled(app.text_area, "Template source").value)


def spec_of(app: AppTest):
    return read_template(source_of(app)).spec


def names(app: AppTest) -> list[str]:
    return list(table(app, "Fields of the template")["Field"])


def typed(app: AppTest, label: str, value: Any) -> AppTest:
    widgets = [*app.text_input, *app.text_area, *app.number_input, *app.selectbox, *app.toggle, *app.multiselect]
    labelled(widgets, label).set_value(value).run()
    return healthy(app)


def press(app: AppTest, label: str) -> AppTest:
    labelled(app.button, label).click().run()
    return healthy(app)


def test_the_form_shows_what_the_source_says() -> None:
    app = opened(TEMPLATE)
    assert labelled(app.text_input, "Name").value == "target"
    assert labelled(app.selectbox, "Type").value == "str"
    assert labelled(app.text_input, "Ground truth").value == "BCL2"
    assert labelled(app.selectbox, "Rule").value == "ExactMatch"
    assert "1 · Ignore capitals" in texts(app)
    assert "built-in checks" in texts(app)


@pytest.mark.parametrize(
    ("label", "value", "written"),
    [
        ("Name", "protein", "    protein: str = VerifiedField("),
        ("What the judge looks for", "The protein bound", 'description="The protein bound"'),
        ("Ground truth", "MCL1", 'ground_truth="MCL1"'),
        ("Weight", 2.5, "weight=2.5"),
        ("Hint for the judge (optional)", "A symbol", 'extraction_hint="A symbol"'),
        ("Rule", "SemanticMatch", "verify_with=SemanticMatch()"),
        ("Add a normaliser", "casefold", 'ExactMatch(normalize=["lowercase", "casefold"])'),
    ],
)
def test_an_edit_in_the_form_is_written_into_the_source_and_nothing_else_changes(
    label: str, value: Any, written: str
) -> None:
    app = typed(opened(REMARKED), label, value)
    assert written in source_of(app)
    assert "# Approved in 2016." in source_of(app)
    assert source_of(app).startswith("from karenina.schemas.entities import BaseAnswer, VerifiedField\n")


def test_an_edit_of_the_source_fills_the_form_anew() -> None:
    app = typed(opened(TEMPLATE), "Template source", TWO.replace("target:", "protein:"))
    assert names(app) == ["protein", "phase"]
    assert labelled(app.text_input, "Name").value == "protein"


def test_a_type_brings_its_truth_and_the_suggested_rule() -> None:
    app = typed(opened(TEMPLATE.replace('"BCL2"', '"23"')), "Type", "int")
    [item] = spec_of(app).fields
    assert (item.type, item.ground_truth, item.verify_with) == ("int", 23, {"type": "NumericExact"})
    assert labelled(app.number_input, "Ground truth").value == 23
    assert labelled(app.selectbox, "Rule").value == "NumericExact"
    app = typed(app, "Rule", "NumericTolerance")
    assert labelled(app.number_input, "Tolerance").value == 0.05
    app = typed(app, "Mode", "absolute")
    assert spec_of(app).fields[0].verify_with == {"type": "NumericTolerance", "tolerance": 0.05, "mode": "absolute"}


def test_all_primitives_are_offered_and_the_natural_one_is_marked() -> None:
    options = labelled(opened(TEMPLATE).selectbox, "Rule").options
    assert len(options) == 19
    assert options[0] == "Same text (suggested)" and options[-1] == "None: it decides nothing"
    assert "Length of the response (made for yes or no)" in options


def test_widgets_show_what_other_widgets_changed() -> None:
    app = typed(opened(TEMPLATE), "Rule", "DateMatch")
    assert labelled(app.selectbox, "Type").value == "date"
    app = typed(app, "Type", "list_str")
    assert labelled(app.selectbox, "Rule").value == "SetContainment"
    assert labelled(app.text_area, "Ground truth, one a line").value == "BCL2"
    assert labelled(app.selectbox, "Mode").value == "exact"


def test_a_renamed_field_still_counts() -> None:
    app = typed(opened(TWO), "Name", "protein")
    assert labelled(app.multiselect, "Fields that count").value == ["protein", "phase"]
    app.run()
    assert spec_of(app).verify_strategy is None


def test_a_literal_keeps_its_truth_when_the_options_change() -> None:
    app = typed(opened(TEMPLATE), "Type", "literal")
    app = typed(app, "Options, one a line", "MCL1\nBCLXL")
    assert labelled(app.selectbox, "Ground truth").value == "BCL2"
    assert "is none of the options" in texts(app)
    app = typed(app, "Ground truth", "MCL1")
    [item] = spec_of(app).fields
    assert (item.ground_truth, item.literal_values) == ("MCL1", ["MCL1", "BCLXL"])


def test_fields_are_added_moved_and_removed() -> None:
    app = press(opened(TEMPLATE), "Add field")
    assert "not in the source yet" in texts(app) and source_of(app) == TEMPLATE
    app = typed(app, "What the judge looks for", "The indication the response names")
    app = typed(app, "Ground truth", "CLL")
    assert names(app) == ["target", "answer"] and "not in the source yet" not in texts(app)
    assert [item.name for item in spec_of(app).fields] == ["target", "answer"]
    app = press(app, "Move up")
    assert [item.name for item in spec_of(app).fields] == ["answer", "target"]
    app = press(app, "Remove field")
    assert source_of(app) == TEMPLATE


def test_another_row_opens_its_field() -> None:
    app = select_row(opened(TWO), "Fields of the template", 1)
    assert labelled(app.text_input, "Name").value == "phase"
    app = typed(app, "Ground truth", "II")
    assert [item.ground_truth for item in spec_of(app).fields] == ["BCL2", "II"]


def test_normalisers_are_moved_and_removed() -> None:
    app = typed(opened(TEMPLATE), "Add a normaliser", "SynonymMap")
    app = typed(app, "Synonyms of step 2: spelling = meaning, one a line", "bcl-2 = bcl2")
    assert spec_of(app).fields[0].verify_with["normalize"] == ["lowercase", {"mapping": {"bcl-2": "bcl2"}}]
    app = press(app, "Down")
    assert spec_of(app).fields[0].verify_with["normalize"][1] == "lowercase"
    app = press(app, "Remove")
    assert spec_of(app).fields[0].verify_with["normalize"] == ["lowercase"]


def test_a_composition_is_chosen_and_follows_a_renamed_field() -> None:
    app = typed(opened(TWO), "The answer is right when", "any_of")
    assert "AnyOf(conditions=[FieldCheck(field=" in source_of(app)
    app = typed(app, "Name", "protein")
    assert list(spec_of(app).verify_strategy.field_names()) == ["protein", "phase"]
    app = typed(app, "The answer is right when", "all_of")
    assert spec_of(app).verify_strategy is None


@pytest.mark.parametrize(
    ("label", "value", "said"),
    [
        ("Name", "the target", "is not a field name"),
        ("What the judge looks for", " ", "needs a description"),
        ("Rule", "TraceContains", "TraceContains cannot be built"),
        ("Type", "literal", None),
    ],
)
def test_what_makes_no_template_yet_stays_typed_and_leaves_the_source(label: str, value: str, said: str | None) -> None:
    app = typed(opened(TEMPLATE), label, value)
    if said is None:  # the truth is the first option, so this one makes a template
        assert spec_of(app).fields[0].literal_values == ["BCL2"]
        return
    assert source_of(app) == TEMPLATE
    assert said in texts(app) and "not in the source yet" in texts(app)
    widgets = [*app.text_input, *app.text_area, *app.selectbox]
    assert labelled(widgets, label).value == value


def test_a_truth_of_another_type_is_kept_and_the_linter_says_so() -> None:
    app = typed(opened(TEMPLATE), "Type", "int")
    assert labelled(app.text_input, "Ground truth").value == "BCL2"
    assert "is not a whole number" in texts(app)
    app = typed(app, "Ground truth", "23")
    assert spec_of(app).fields[0].ground_truth == 23


def test_what_is_not_in_the_source_survives_a_reload_and_can_be_taken_back() -> None:
    typed(opened(TEMPLATE), "Name", "the target")
    again = opened(TEMPLATE)
    assert labelled(again.text_input, "Name").value == "the target"
    again = press(again, "Take it back")
    assert labelled(again.text_input, "Name").value == "target"
    assert labelled(opened(TEMPLATE).text_input, "Name").value == "target"


def test_own_code_is_shown_and_not_edited() -> None:
    app = opened(OWN_RULE)
    assert "The source defines Contains itself" in texts(app)
    assert not [widget for widget in app.text_input if widget.label == "Name"]
    assert "Add field" not in [button.label for button in app.button]


@pytest.mark.parametrize(
    ("field", "truth", "rule"),
    [
        ("target", "BCL2", "Contains(fold=False), own code"),
        ("named", "False", "Words in the response: substring MCL1"),
        ("dose", "4", "Same number"),
        ("note", "–", "none, it decides nothing"),
    ],
)
def test_a_verified_field_shows_its_truth_and_rule_whoever_wrote_the_rule(field: str, truth: str, rule: str) -> None:
    rows = {row["Field"]: row for row in table(opened(OWN_RULE), "Fields of the template").to_dict("records")}
    assert rows[field]["Truth"] == truth
    assert rows[field]["Rule"].startswith(rule)


def test_a_field_that_methods_decide_has_its_truth_in_the_code() -> None:
    [row] = table(opened(OWN_METHODS), "Fields of the template").to_dict("records")
    assert (row["Truth"], row["Rule"]) == ("in the code", "own code")


def test_a_source_that_cannot_be_read_is_left_alone() -> None:
    broken = "class Answer(BaseAnswer):\n    target: str = open('x')\n"
    app = opened(broken)
    assert "Line 2" in app.error[0].proto.title
    assert "target: str = open('x')" in [code.value for code in app.code]
    assert "The form only shows this template" in texts(app)
    assert source_of(app) == broken


def test_a_skeleton_is_a_first_template() -> None:
    app = press(opened("", raw_answer="23"), "Insert a skeleton")
    assert 'ground_truth="23"' in source_of(app)


def test_a_first_template_is_drafted_from_the_reference_answer() -> None:
    app = press(opened("", question="How many pairs?", raw_answer="23"), "Draft from the reference answer")
    assert spec_of(app).fields[0].type == "int"


def test_a_first_field_takes_its_truth_from_the_reference_answer() -> None:
    app = press(opened("", raw_answer="23"), "Add field")
    assert labelled(app.number_input, "Ground truth").value == 23
    app = typed(app, "What the judge looks for", "The number of pairs of chromosomes")
    assert spec_of(app).fields[0].verify_with == {"type": "NumericExact"}


def test_the_page_of_questions_draws_the_editor(open_page: Open) -> None:
    services.store().benchmarks.save(small_benchmark())
    app = open_page("pages/questions.py")
    assert labelled(app.text_input, "Name").value == "target"
    app = typed(app, "Name", "protein")
    assert "protein: str" in source_of(app) and "Unsaved edits" in texts(app)


def test_a_widget_counts_as_there_until_a_whole_drawing_leaves_it_out() -> None:
    form = Form(Draft("a question", {}, {}, generation=1), "", {"fields": []}, generation=1)

    def draw(*widgets: str) -> None:
        for widget in widgets:
            form.bind(lambda data, value: data, widget)

    with form.drawing():
        draw("name", "rule of a text")
    with pytest.raises(RuntimeError), form.drawing():
        draw("name", "rule of a number")
        raise RuntimeError("another request came")
    assert form.shows(form.key("rule of a text")), "the browser still has it"
    assert form.shows(form.key("rule of a number")), "and this one too"
    with form.drawing():
        draw("name", "rule of a number")
    assert not form.shows(form.key("rule of a text"))
