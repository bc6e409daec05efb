"""Pass rates under other settings, computed from what was extracted already."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.authoring import StoredAnswer, what_if
from karenina_core.errors import InputError
from karenina_core.schemas import AnyOf, FieldCheck
from karenina_core.templates import FieldSpec, TemplateSpec, read_template, write_template
from tests.authoring.linter.cases import LOWER, day, exact, items, number, similar, trace
from tests.steps import growth, lines_run

RATIO = number(0.72, "float", type="NumericTolerance", tolerance=0.01, mode="absolute")
ANSWERS = [StoredAnswer({"amount": value}) for value in (0.72, 0.70, 0.77, 0.80, None)]


def spec(*fields: FieldSpec, **more: Any) -> TemplateSpec:
    return TemplateSpec(fields=list(fields), **more)


def test_a_wider_tolerance_lets_more_pass() -> None:
    curve = what_if(spec(RATIO), "amount", "tolerance", [0.0, 0.02, 0.05, 0.1], ANSWERS)
    assert curve.now == 1
    assert [point.passed for point in curve.points] == [1, 2, 3, 4]
    assert [point.gained for point in curve.points] == [0, 1, 2, 3]
    assert curve.rates() == [0.2, 0.4, 0.6, 0.8]


def test_settings_need_no_order_and_impossible_ones_say_why() -> None:
    curve = what_if(spec(RATIO), "amount", "tolerance", [0.1, -1, 0.0], ANSWERS)
    assert [point.passed for point in curve.points] == [4, None, 1]
    assert "tolerance" in str(curve.points[1].problem) and curve.rates()[1] is None


def test_a_normaliser_switched_off() -> None:
    answers = [StoredAnswer({"gene": text}) for text in ("BCL2", "bcl2", " BCL2")]
    curve = what_if(spec(exact(*LOWER)), "gene", "normalize", [[], ["strip"], LOWER], answers)
    assert [(point.passed, point.lost) for point in curve.points] == [(1, 2), (2, 1), (3, 0)]


def test_another_truth() -> None:
    curve = what_if(spec(RATIO), "amount", "ground_truth", [0.72, 0.8], ANSWERS)
    assert [(point.passed, point.gained, point.lost) for point in curve.points] == [(1, 0, 0), (1, 1, 1)]


def test_the_other_fields_and_the_composition_count() -> None:
    answers = [StoredAnswer({"amount": 0.75, "gene": gene}) for gene in ("BCL2", "KRAS")]
    both = what_if(spec(RATIO, exact(*LOWER)), "amount", "tolerance", [0.01, 0.05], answers)
    assert [(point.passed, point.field_passed) for point in both.points] == [(0, 0), (1, 2)]
    either = AnyOf(conditions=[FieldCheck(field_name="amount"), FieldCheck(field_name="gene")])
    one = what_if(spec(RATIO, exact(*LOWER), verify_strategy=either), "amount", "tolerance", [0.01, 0.05], answers)
    assert [point.passed for point in one.points] == [1, 2]


def test_the_length_of_a_response_also_where_it_shall_be_exceeded_not() -> None:
    answers = [StoredAnswer({}, "word " * n) for n in (5, 50, 500)]
    rule = {"type": "TraceLength", "max": 100, "unit": "words"}
    shall = what_if(spec(trace(True, **rule)), "cites", "max", [10, 100, 1000], answers)
    shall_not = what_if(spec(trace(False, **rule)), "cites", "max", [10, 100, 1000], answers)
    assert [point.passed for point in shall.points] == [1, 2, 3]
    assert [point.passed for point in shall_not.points] == [2, 1, 0]


def test_stored_similarities_answer_for_thresholds() -> None:
    answers = [StoredAnswer({"gene": "x"}, similarities={"gene": value}) for value in (0.5, 0.9)] + [StoredAnswer({})]
    curve = what_if(spec(similar()), "gene", "threshold", [0.4, 0.8, 0.95], answers)
    assert [point.passed for point in curve.points] == [2, 1, 0]


def test_no_answers_make_a_flat_curve() -> None:
    assert what_if(spec(RATIO), "amount", "tolerance", [0.1], []).rates() == [0.0]


def test_only_built_in_rules_can_be_varied() -> None:
    with pytest.raises(InputError, match="no field 'other'"):
        what_if(spec(RATIO), "other", "tolerance", [1], ANSWERS)
    source = write_template(spec(RATIO)) + "    def verify(self):\n        return True\n"
    with pytest.raises(InputError, match="own code decides"):
        what_if(source, "amount", "tolerance", [1], ANSWERS)


FIELDS = [
    (RATIO, "tolerance", st.floats(0, 2)),
    (number(0, type="NumericRange", min=0), "min", st.floats(-9, 9)),
    (items(mode="overlap"), "min_overlap", st.integers(1, 4)),
    (day(type="DateTolerance", tolerance=3), "tolerance", st.integers(0, 40)),
]


@given(st.data())
def test_every_point_is_what_the_changed_template_says(data: st.DataObject) -> None:
    item, parameter, settings = data.draw(st.sampled_from(FIELDS))
    values: dict[str, st.SearchStrategy[Any]] = {
        "amount": st.none() | st.floats(-9, 9),
        "uses": st.lists(st.sampled_from(["CLL", "SLL", "AML"])),
        "approved": st.sampled_from(["2016-04-11", "April 20, 2016", "2016", "soon"]),
    }
    answers = [StoredAnswer({item.name: value}) for value in data.draw(st.lists(values[item.name], max_size=5))]
    tried = data.draw(st.lists(settings, max_size=4))
    for point in what_if(spec(item), item.name, parameter, tried, answers).points:
        changed = item.model_copy(update={"verify_with": {**(item.verify_with or {}), parameter: point.setting}})
        template = read_template(write_template(spec(changed)))
        assert point.passed == sum(template.evaluate(answer.values, "").verdict is True for answer in answers)


def curve(answers: int = 500, settings: int = 20) -> None:
    stored = [StoredAnswer({"amount": n / answers, "gene": f"gene {n}"}) for n in range(answers)]
    what_if(spec(RATIO, exact(*LOWER)), "amount", "tolerance", [n / settings for n in range(settings)], stored)


def test_twenty_settings_cost_little_more_than_one_because_an_answer_changes_at_most_once() -> None:
    assert lines_run(curve) < 3 * lines_run(lambda: curve(settings=1))


def test_twice_as_many_answers_are_twice_the_work() -> None:
    assert growth(curve, 250) < 2.5
