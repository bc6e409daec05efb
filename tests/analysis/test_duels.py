from __future__ import annotations

import math
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from karenina_core.analysis import pairs
from karenina_core.analysis.duels import tallies
from karenina_core.schemas import Duel


def rows(questions: int = 3, models: int = 2, verdicts: str = "") -> list[dict[str, object]]:
    made = [
        {"question_id": f"q{q}", "answering_model": f"m{m}", "parsing_model": "judge", "replicate": 1}
        for q in range(questions)
        for m in range(models)
    ]
    names = {"+": "pass", "-": "fail"}
    return [
        {**row, "result_id": f"r{n}", "verdict": names[verdicts[n]] if verdicts else "pass"}
        for n, row in enumerate(made)
    ]


def duel(left: str, right: str, winner: str) -> Duel:
    return Duel(run_id="run", left_result=left, right_result=right, winner=winner)


@given(questions=st.integers(0, 6), models=st.integers(1, 4))
def test_every_two_answers_to_a_question_meet_once(questions: int, models: int) -> None:
    met = [frozenset(pair) for pair in pairs(rows(questions, models))]
    assert len(met) == len(set(met)) == questions * models * (models - 1) // 2


def test_answers_that_met_do_not_meet_again() -> None:
    first, *others = pairs(rows())
    assert list(pairs(rows(), {frozenset(first)})) == others


def test_sides_tell_nothing_about_the_model() -> None:
    made = rows(40)
    lefts = [pair.left for pair in islice(pairs(made), 40)]
    firsts = sum(int(name[1:]) % 2 == 0 for name in lefts)
    assert 5 < firsts < 35


def test_several_judges_of_one_answer_are_one_answer() -> None:
    made = rows(1)
    again = [{**row, "result_id": f"{row['result_id']}b", "parsing_model": "other"} for row in made]
    assert len(list(pairs([*made, *again]))) == 1


def test_preferences_are_counted_whatever_the_side() -> None:
    made = rows(3)
    (tally,) = tallies([duel("r0", "r1", "left"), duel("r3", "r2", "right"), duel("r4", "r5", "tie")], made)
    assert (tally.one, tally.other, tally.wins, tally.losses, tally.ties) == ("m0", "m1", 2, 0, 1)
    assert 0 < tally.low < 1 and tally.high == 1


def test_preferring_what_the_template_fails_is_counted() -> None:
    made = rows(2, verdicts="-++-")
    (tally,) = tallies([duel("r0", "r1", "left"), duel("r2", "r3", "left")], made)
    assert (tally.against_verdict, tally.with_verdict) == (1, 1)


def test_nothing_decided_has_no_interval() -> None:
    (tally,) = tallies([duel("r0", "r1", "tie")], rows(1))
    assert math.isnan(tally.low) and math.isnan(tally.high)


def test_duels_of_results_that_are_gone_do_not_count() -> None:
    assert tallies([duel("gone", "r1", "left")], rows(1)) == []
