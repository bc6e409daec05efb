"""Quick views and filters of a table of results."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import VIEWS, keywords_of, narrowed, results_frame


def shown(view, results):
    """Return the questions that a quick view shows."""
    frame = results_frame(results)
    return sorted(frame.loc[VIEWS[view].rows(frame), "question"].to_list())


@settings(deadline=None, max_examples=60)
@given(verdicts=st.text("+-0", max_size=30))
def test_passes_failures_and_the_rest_are_everything(run, verdicts):
    frame = results_frame(run(verdicts))
    counts = {name: int(view.rows(frame).sum()) for name, view in VIEWS.items()}
    assert counts["passes"] + counts["failures"] + counts["none"] == counts["all"] == len(verdicts)
    assert counts["errors"] <= counts["none"]


def test_an_answer_that_declined_is_no_error(result):
    declined = [result(verdict="not_evaluated", status="completed")]
    assert len(shown("none", declined)) == 1
    assert shown("errors", declined) == []


@pytest.mark.parametrize(
    ("view", "runs", "questions"),
    [
        ("unstable", [("++", {"replicate": 1}), ("+-", {"replicate": 2})], ["Question 2?"] * 2),
        ("unstable", [("+", {"replicate": 1}), ("0", {"replicate": 2})], []),
        ("differ", [("++-", {"model": "A"}), ("+--", {"model": "B"})], ["Question 2?"] * 2),
        ("differ", [("+", {"model": "A", "parsing_model": "J1"}), ("-", {"model": "B", "parsing_model": "J2"})], []),
        (
            "differ",
            [("+", {"model": "A"}), ("-", {"model": "A", "replicate": 2}), ("-", {"model": "B"})],
            [],
        ),
    ],
    ids=["repeats", "a repeat without a verdict", "models", "by two judges", "right half the time"],
)
def test_a_view_shows_what_differs(run, view, runs, questions):
    assert shown(view, [result for verdicts, parts in runs for result in run(verdicts, **parts)]) == questions


def test_a_disputed_verdict_is_flagged(run):
    frame = results_frame(run("++")).assign(disputed=[False, True])
    assert VIEWS["flagged"].rows(frame).to_list() == [False, True]


def test_filters_are_all_kept_to(result):
    first = result("Does Aspirin help?", "A")
    second = result("Does aspirin harm?", "B")
    third = result("Is water wet?", "A")
    third.question.keywords = ["physics"]
    frame = results_frame([first, second, third])
    assert len(narrowed(frame, "ASPIRIN")) == 2
    assert len(narrowed(frame, "aspirin", models=["B"])) == 1
    assert narrowed(frame, keywords=["physics"])["question"].to_list() == ["Is water wet?"]
    assert narrowed(frame, judges=["nobody"]).empty
    assert narrowed(frame) is frame


def test_keywords_are_listed_once(run):
    assert keywords_of(results_frame(run("+-0"))) == ["drugs"]
