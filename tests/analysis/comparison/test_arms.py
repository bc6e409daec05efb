from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import arm_labels, match, outcome, tallies
from tests.analysis.comparison.arms import arm, joined, rows

A, B = arm("A"), arm("B")
verdicts = st.lists(st.text("+-0", min_size=1, max_size=4), min_size=1, max_size=12)


def matched(a, b):
    return match(tallies(joined(rows(a, "A"), rows(b, "B"))), A, B)


def test_questions_are_matched_by_id_and_repeats_averaged():
    found = matched(["++", "+-"], ["--", "++"])
    assert found.questions["difference"].to_dict() == {"q0": -1.0, "q1": 0.5}
    assert (found.better, found.worse, found.repeated) == (1, 1, True)


def test_a_question_without_a_verdict_is_left_out_and_counted():
    found = matched(["+", "0", "+0"], ["-", "+", "++"])
    assert list(found.questions.index) == ["q0", "q2"]
    assert found.undecided == ("q1",)
    assert found.left_out == 1


def test_questions_that_one_side_was_not_asked_are_listed():
    found = matched(["+", "+"], ["+", "+", "-"])
    assert (found.only_baseline, found.only_candidate) == ((), ("q2",))


def test_an_arm_that_was_asked_nothing_matches_nothing():
    found = match(tallies(rows(["+", "-"])), A, arm("nobody"))
    assert found.questions.empty
    assert found.only_baseline == ("q0", "q1")


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
    assert (forth.better, forth.worse) == (back.worse, back.better)
    assert forth.left_out == back.left_out
    assert forth.better + forth.worse <= len(forth.questions)


def test_the_outcome_of_a_question_has_a_name():
    pairs = [(0, 1), (1, 0.5), (1, 1), (0, 0), (0.5, 0.5)]
    assert [outcome(*pair) for pair in pairs] == ["better", "worse", "both_right", "both_wrong", "both_partly"]


def test_labels_name_only_what_differs():
    assert arm_labels([A, B], {}) == {A: "A", B: "B"}
    assert arm_labels([A, arm("A", "strict")], {})[A] == "A · judged by judge"
    other = arm("A", run="r2")
    assert arm_labels([A, other], {"r1": "Before", "r2": "After"}) == {A: "A · Before", other: "A · After"}
    assert arm_labels([A, other], {"r1": "Run", "r2": "Run"}) == {A: "A · Run r1", other: "A · Run r2"}


def test_every_arm_has_an_id_of_its_own_that_stays():
    assert len({item.id for item in (A, B, arm("A", "strict"), arm("A", run="r2"))}) == 4
    assert A.id == arm("A").id
