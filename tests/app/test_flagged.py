"""Answers that speak to their judge are marked in the table of results and can be looked at alone."""

from __future__ import annotations

from karenina_core.runs import wanted
from karenina_core.schemas import Annotation
from pages.components import frame, services
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, table
from tests.runs.fakes import full_result, small_benchmark, small_config

ALL = "All evaluations of this run"


def run(*flagged: bool) -> str:
    run_id = services.store().runs.create(wanted(small_benchmark(len(flagged)), small_config()), "Flags")
    results = [full_result(f"q{number}") for number in range(1, len(flagged) + 1)]
    for result, flag in zip(results, flagged, strict=True):
        assert result.answer is not None
        result.answer.addresses_judge = flag
    services.store().results.save(run_id, results)
    return run_id


def test_flagged_answers_are_marked_and_can_be_shown_alone(open_page: Open) -> None:
    run_id = run(False, True, False)
    app = open_page(frame.RESULTS, run=run_id)
    assert sorted(table(app, ALL)["Verdict"]) == ["✓ pass", "✓ pass", "✓ pass ⚑"]
    app = open_page(frame.RESULTS, run=run_id, show="flagged")
    assert list(table(app, ALL)["Verdict"]) == ["✓ pass ⚑"]


def test_a_verdict_that_a_person_disputes_is_flagged_too(open_page: Open) -> None:
    run_id = run(False, False)
    [first, _] = services.store().results.rows(run_id)
    review = Annotation(run_id=run_id, result_id=first["result_id"], agrees=False, cause="rule_too_strict")
    services.store().annotations.add(review)
    app = open_page(frame.RESULTS, run=run_id, show="flagged")
    assert list(table(app, ALL)["Review"]) == ["disagrees: the rule is too strict"]


def test_clearing_the_filters_shows_everything_again(open_page: Open) -> None:
    app = open_page(frame.RESULTS, run=run(False, True), show="flagged")
    app = labelled(app.text_input, "Search in questions").set_value("nothing like this").run()
    app = healthy(labelled(app.button, "Clear filters").click().run())
    assert len(table(app, ALL)) == 2
