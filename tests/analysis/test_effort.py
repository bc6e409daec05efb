"""Price and time beside quality."""

from __future__ import annotations

import math

import numpy as np
import pytest

from karenina_core.analysis import results_frame
from karenina_core.analysis.effort import cost_quality, latencies
from karenina_core.schemas import AnswerPart, Usage


def priced(run, call, model, verdicts, cost, seconds=1.0):
    """Return results of a model whose answers cost so much each."""
    answer = AnswerPart(text="x", call=call(usage=Usage(cost=cost, calls=1), seconds=seconds))
    return run(verdicts, model, answer=answer)


def table(results):
    return cost_quality(results_frame(results)).set_index("answering_model")


def test_a_model_that_another_beats_on_both_is_not_among_the_best(run, call):
    found = table(
        [
            *priced(run, call, "cheap", "+---", 0.001),
            *priced(run, call, "good", "+++-", 0.01),
            *priced(run, call, "poor", "++--", 0.02),
        ]
    )
    assert found["best"].to_dict() == {"cheap": True, "good": True, "poor": False}
    assert found["cost"].to_dict() == pytest.approx({"cheap": 0.001, "good": 0.01, "poor": 0.02})


def test_equal_models_are_both_among_the_best(run, call):
    found = table([*priced(run, call, "a", "+-", 0.01), *priced(run, call, "b", "+-", 0.01)])
    assert found["best"].all()


def test_a_model_without_a_price_is_not_compared(run, call):
    found = table([*priced(run, call, "a", "+-", None), *priced(run, call, "b", "--", 0.01)])
    assert found["best"].to_dict() == {"a": False, "b": True}
    assert (found.loc["a", "priced"], math.isnan(found.loc["a", "cost"])) == (0, True)


def test_an_answer_from_the_ledger_counts_with_what_its_model_charged(run, call):
    """A run that was resumed, or answered again, must not make a dear model look cheap."""
    first = {"first_call": {"source": "provider", "cost": 0.02}}
    again = AnswerPart(text="x", call=call(source="ledger", usage=Usage(cost=0.0, calls=1), provenance=first))
    found = table([*priced(run, call, "a", "+", 0.02), *run("++", "a", answer=again)])
    assert (found.loc["a", "cost"], found.loc["a", "priced"]) == (pytest.approx(0.02), 3)


def test_times_are_quantiles_of_the_calls_that_answered(run, call):
    times = [0.5, 1.0, 2.0, 4.0, 8.0]
    results = [item for seconds in times for item in priced(run, call, "a", "+", 0.01, seconds)]
    for number, item in enumerate(results, 1):
        item.replicate = number
    [row] = latencies(results_frame(results)).to_dict("records")
    assert (row["of"], row["n"], row["missing"], row["few"]) == ("answer", 5, 0, False)
    assert (row["median"], row["p90"]) == pytest.approx((2.0, np.quantile(times, 0.9)))


def test_answers_that_nobody_was_asked_for_have_no_time(run, call):
    answer = AnswerPart(text="x", call=call(source="recording", seconds=0.0))
    frame = results_frame([*run("+", "old", answer=answer), *priced(run, call, "new", "+", 0.01, 3.0)])
    rows = latencies(frame).set_index("answering_model")
    assert rows["n"].to_dict() == {"old": 0, "new": 1}
    assert rows["missing"].to_dict() == {"old": 1, "new": 0}


def test_without_times_of_calls_whole_evaluations_are_timed(run):
    frame = results_frame(run("++", seconds=2.5))
    [row] = latencies(frame).to_dict("records")
    assert (row["of"], row["median"]) == ("evaluation", 2.5)
