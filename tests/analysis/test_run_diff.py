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


def test_other_words_are_the_answers_doing(made):
    assert cause_of(made(), made(text="It is KRAS.", value="KRAS", passed=False)) == "answer"


def test_another_prompt_is_the_configurations_doing(made):
    assert cause_of(made(), made(text="It is KRAS.", passed=False, prompt="Be brief.")) == "config"


def test_another_reading_of_the_same_answer_is_the_extractions_doing(made):
    before, after = made(), made(value="KRAS", passed=False)
    assert cause_of(before, after) == "extraction"
    assert cause_of(before, after, {"judge"}) == "config"


def test_the_same_reading_with_another_verdict_is_the_rules_doing(made):
    assert cause_of(made(), made(passed=False, rule={"type": "ExactMatch"})) == "rule"


def test_an_error_on_one_side_is_no_change_of_the_answer(made):
    assert cause_of(made(), made(failure=True)) == "error"
    assert cause_of(made(failure=True), made()) == "error"


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
