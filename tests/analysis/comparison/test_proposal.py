"""What is compared before anybody has chosen."""

from __future__ import annotations

from karenina_core.analysis import Arm, baselines, candidates

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
