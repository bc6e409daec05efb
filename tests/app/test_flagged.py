"""Answers that speak to their judge are marked in the table of results and can be looked at alone."""

from __future__ import annotations

from karenina_core.runs.plan import wanted
from pages.components import frame, services
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, table
from tests.runs.fakes import full_result, small_benchmark, small_config

ALL = "All evaluations of this run"


def run(*flagged: bool) -> str:
    run_id = services.store().create_run(wanted(small_benchmark(len(flagged)), small_config()), "Flags")
    results = [full_result(f"q{number}") for number in range(1, len(flagged) + 1)]
    for result, flag in zip(results, flagged, strict=True):
        assert result.answer is not None
        result.answer.addresses_judge = flag
    services.store().write_results(run_id, results)
    return run_id


def test_flagged_answers_are_marked_and_can_be_shown_alone(open_page: Open) -> None:
    app = open_page(frame.RESULTS, run=run(False, True, False))
    assert sorted(table(app, ALL)["Verdict"]) == ["✓ pass", "✓ pass", "✓ pass ⚑"]
    app = healthy(labelled(app.toggle, "Only flagged (1)").set_value(True).run())
    assert list(table(app, ALL)["Verdict"]) == ["✓ pass ⚑"]


def test_without_flags_there_is_nothing_to_switch(open_page: Open) -> None:
    app = open_page(frame.RESULTS, run=run(False, False), flagged="true")
    assert not app.toggle
    assert len(table(app, ALL)) == 2


def test_clearing_the_filters_shows_everything_again(open_page: Open) -> None:
    app = open_page(frame.RESULTS, run=run(False, True))
    app = labelled(app.toggle, "Only flagged (1)").set_value(True).run()
    app = labelled(app.text_input, "Search in questions").set_value("nothing like this").run()
    app = healthy(labelled(app.button, "Clear filters").click().run())
    assert len(table(app, ALL)) == 2
