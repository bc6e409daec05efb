"""Arms of a comparison: named, matched and proposed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import Arm, arm_labels, baselines, candidates, match, outcome, tallies
from tests.analysis.comparison.arms import arm, joined, rows

A, B = arm("A"), arm("B")
verdicts = st.lists(st.text("+-0", min_size=1, max_size=4), min_size=1, max_size=12)


def matched(a, b):
    return match(tallies(joined(rows(a, "A"), rows(b, "B"))), A, B)


def test_questions_are_matched_by_id_and_repeats_averaged():
    found = matched(["++", "+-"], ["--", "++"])
    assert found.questions["difference"].to_dict() == {"q0": -1.0, "q1": 0.5}


def test_a_question_without_a_verdict_is_left_out_and_counted():
    found = matched(["+", "0", "+0"], ["-", "+", "++"])
    assert list(found.questions.index) == ["q0", "q2"]
    assert found.undecided == ("q1",)
    assert found.left_out == 1


def test_questions_that_one_side_was_not_asked_are_listed():
    found = matched(["+", "+"], ["+", "+", "-"])
    assert (found.only_baseline, found.only_candidate) == ((), ("q2",))


@settings(deadline=None, max_examples=15)
@given(a=verdicts, b=verdicts)
def test_every_question_is_in_one_place(a, b):
    found = matched(a, b)
    places = [*found.questions.index, *found.only_baseline, *found.only_candidate, *found.undecided]
    assert sorted(places) == sorted({f"q{place}" for place in range(max(len(a), len(b)))})


@settings(deadline=None, max_examples=15)
@given(a=verdicts, b=verdicts)
def test_exchanging_the_sides_turns_the_difference_round(a, b):
    counts = tallies(joined(rows(a, "A"), rows(b, "B")))
    forth, back = match(counts, A, B), match(counts, B, A)
    assert (forth.questions["difference"] == -back.questions["difference"].reindex(forth.questions.index)).all()
    assert forth.left_out == back.left_out


def test_the_outcome_of_a_question_has_a_name():
    pairs = [(0, 1), (1, 0.5), (1, 1), (0, 0), (0.5, 0.5)]
    assert [outcome(*pair) for pair in pairs] == ["better", "worse", "both_right", "both_wrong", "both_partly"]


def test_labels_name_only_what_differs():
    assert arm_labels([A, B], {}) == {A: "A", B: "B"}
    assert arm_labels([A, arm("A", "strict")], {})[A] == "A · judged by judge"
    other = arm("A", run="r2")
    assert arm_labels([A, other], {"r1": "Before", "r2": "After"}) == {A: "A · Before", other: "A · After"}
    assert arm_labels([A, other], {"r1": "Run", "r2": "Run"}) == {A: "A · Run r1", other: "A · Run r2"}


RUNS = ("first", "revised", "again")
ONE, TWO = ({name: Arm(name, model, "judge") for name in (*RUNS, "other")} for model in ("one", "two"))
FAMILIES = [list(RUNS)]


def test_a_model_is_set_against_itself_in_the_revision():
    arms = [ONE["first"], TWO["first"], ONE["revised"], TWO["revised"]]
    assert baselines(arms, FAMILIES)[0] == ONE["first"]
    assert candidates(ONE["first"], arms, FAMILIES)[0] == ONE["revised"]
    assert candidates(TWO["first"], arms, FAMILIES)[0] == TWO["revised"]


def test_the_older_run_is_the_baseline_in_whatever_order_they_were_chosen():
    arms = [ONE["revised"], TWO["revised"], ONE["first"], TWO["first"]]
    assert baselines(arms, FAMILIES)[0] == ONE["first"]


def test_of_several_revisions_the_first_is_the_baseline_and_the_latest_the_candidate():
    arms = [ONE[name] for name in RUNS]
    assert baselines(arms[::-1], FAMILIES)[0] == ONE["first"]
    assert candidates(ONE["first"], arms, FAMILIES) == [ONE["again"], ONE["revised"]]
    assert candidates(ONE["again"], arms, FAMILIES)[0] == ONE["revised"]


def test_a_model_that_the_revision_lacks_is_not_proposed():
    arms = [TWO["first"], ONE["first"], ONE["revised"]]
    assert baselines(arms, FAMILIES)[0] == ONE["first"]


def test_the_verdicts_of_another_judge_are_another_thing():
    other_judge = Arm("revised", "one", "stricter judge")
    arms = [ONE["first"], TWO["first"], other_judge]
    assert candidates(ONE["first"], arms, FAMILIES)[0] == TWO["first"]


def test_arms_of_unrelated_runs_keep_their_order():
    arms = [TWO["first"], ONE["first"], ONE["other"], TWO["other"]]
    assert baselines(arms, []) == arms
    assert candidates(TWO["first"], arms, []) == arms[1:]
