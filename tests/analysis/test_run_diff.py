"""What changed from one run to another, and why."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import MOVED, results_frame
from karenina_core.analysis.run_diff import (
    cause_of,
    causes_of,
    changed_models,
    changed_settings,
    diff_runs,
    paired,
    sentence,
    tally,
)
from karenina_core.schemas import AnswerPart


def diff(before, after):
    return diff_runs(results_frame(before), results_frame(after))


@settings(deadline=None, max_examples=60)
@given(before=st.text("+-0", max_size=12), after=st.text("+-0", max_size=12))
def test_counts_always_add_up(run, before, after):
    found = diff(run(before), run(after))
    matched = sum(found.counts.values())
    assert matched == len(found.rows) == min(len(before), len(after))
    assert matched + found.only_before == len(before)
    assert matched + found.only_after == len(after)
    moved = sum(found.counts[change] for change in MOVED)
    assert moved == sum(first != second for first, second in zip(before, after, strict=False))


def test_every_change_has_its_name(run):
    counts = diff(run("-+-+00+-0"), run("+--+-+000")).counts
    assert counts == {
        "fixed": 1,
        "broken": 1,
        "still_failing": 1,
        "still_passing": 1,
        "decided": 2,
        "lost": 2,
        "still_undecided": 1,
    }


def test_a_sentence_says_what_changed(run):
    assert (
        sentence(diff(run("-+-"), run("++-+"))) == "1 fixed, 0 broken, 1 still failing, 1 still passing, 1 only after."
    )


def test_two_versions_of_a_model_are_compared(run):
    found = diff([*run("-", "model-1"), *run("+", "other")], [*run("+", "model-2"), *run("+", "other")])
    assert found.renamed == {"model-1": "model-2"}
    assert found.counts["fixed"] == 1


def test_models_that_cannot_be_told_apart_are_not_matched():
    assert paired(["a", "b"], ["c", "d"]) == {}
    assert paired(["a", "b"], ["a"]) == {}


@pytest.fixture
def made(result, field, call):
    """Return a function that makes a result with an answer, an extraction and a rule."""

    def make(text="It is BCL2.", value="BCL2", passed=True, rule=None, prompt="?", failure=False):
        if failure:
            return result(verdict="not_evaluated")
        rules = {"rule": rule} if rule else {}
        made = result(verdict="pass" if passed else "fail", fields=[field(passed=passed, **rules)])
        messages = [{"role": "user", "content": prompt}]
        made.answer = AnswerPart(text=text, call=call(messages=messages))
        made.template.parsed = {"target": value}
        return made

    return make


@pytest.mark.parametrize(
    ("before", "after", "changed", "cause"),
    [
        ({}, {}, (), None),
        ({}, {"text": "It is KRAS.", "value": "KRAS", "passed": False}, (), "answer"),
        ({}, {"text": "It is KRAS.", "passed": False, "prompt": "Be brief."}, (), "config"),
        ({}, {"text": "It is KRAS.", "passed": False}, {"Sample A"}, "config"),
        ({}, {"value": "KRAS", "passed": False}, (), "extraction"),
        ({}, {"value": "KRAS", "passed": False}, {"judge"}, "config"),
        ({}, {"passed": False, "rule": {"type": "ExactMatch"}}, (), "rule"),
        ({}, {"failure": True}, (), "error"),
        ({"failure": True}, {}, (), "error"),
    ],
)
def test_the_first_thing_that_is_different_is_the_cause(made, before, after, changed, cause):
    assert cause_of(made(**before), made(**after), changed) == cause


def test_a_renamed_model_is_changed():
    before, after = ({"answering_models": [{"id": name}]} for name in ("v1", "v2"))
    assert changed_models(before, after, {"v1": "v2"}) == {"v2"}


def test_causes_are_counted_by_change(made):
    before, after = [made(passed=False, value="KRAS")], [made()]
    found = diff(before, after)
    causes = causes_of(found.rows, before, after)
    assert tally(causes, found.rows) == {("fixed", "extraction"): 1}


def test_different_settings_are_named():
    before = {"replicate_count": 1, "answering_models": [{"id": "a", "temperature": 0.0}]}
    after = {"replicate_count": 3, "answering_models": [{"id": "a", "temperature": 1.0}, {"id": "b"}]}
    assert [(row.name, row.before, row.after) for row in changed_settings(before, after)] == [
        ("replicate_count", "1", "3"),
        ("answering_models a.temperature", "0.0", "1.0"),
        ("answering_models b.id", "–", "b"),
    ]
    assert changed_models(before, after, {}) == {"a", "b"}
