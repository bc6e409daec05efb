"""The Results page: quick views, filters that live in the link, figures, and what changed since another run."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.runs import wanted
from karenina_core.runs.store.runs import new_owner
from karenina_core.schemas import Annotation, VerificationResult
from pages.components import frame, services
from pages.components.results import data as results_data
from pages.components.results import table as results_table
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, labels, metrics, press, select_row, table, texts
from tests.runs.fakes import full_result, small_benchmark, small_config

ALL = "All evaluations of this run"
CHANGED = "Results of both runs"
OPEN = "Open the answer, to edit and review it"


def result(question: str, verdict: str = "pass", replicate: int = 1, text: str = "It is 42.", **parts: Any) -> Any:
    made = full_result(question, text, replicate=replicate, verdict=verdict, **parts)
    made.question.keywords = ["odd" if question in ("q1", "q3") else "even"]
    assert made.answer is not None and made.answer.call is not None
    made.answer.call.messages = [{"role": "user", "content": made.question.question}]
    return made


def stored(*results: VerificationResult, name: str = "First", replicates: int = 1, answering: int = 1) -> str:
    config = small_config(answering, replicate_count=replicates)
    run_id = services.store().runs.create(wanted(small_benchmark(4), config), name)
    services.store().results.save(run_id, results)
    return run_id


def questions(app: AppTest) -> list[str]:
    return list(table(app, ALL)["Question"])


def test_numbers_stand_above_everything(open_page: Open) -> None:
    run_id = stored(result("q1"), result("q2", "fail"), result("q3"))
    app = open_page(frame.RESULTS, run=run_id, show="failures")  # a quick view changes no rate
    shown = {metric.label: (metric.value, metric.delta) for metric in app.metric}
    assert shown["Pass rate"] == ("67 %", "21–94 %, n = 3, too few to tell")
    assert (shown["Pass"][0], shown["Fail"][0], shown["Not evaluated"][0]) == ("2", "1", "0")


def test_a_run_that_has_not_ended_says_how_much_of_it_is_counted(open_page: Open) -> None:
    run_id = stored(result("q1"), result("q2", "fail"))
    total = services.store().runs.get(run_id).total
    app = open_page(frame.RESULTS, run=run_id)
    assert "interrupted, can be resumed · 2 of 4 done" in texts(open_page(frame.HOME))
    assert f"2 of {total} evaluations are done and counted here. The run is interrupted, can be resumed." in texts(app)
    app = labelled(app.button, "Open the monitor").click().run()
    assert app.title[0].value == "Monitor"


def under_way(*results: VerificationResult, status: str = "running") -> str:
    run_id = stored(*results)
    assert services.store().runs.claim(run_id, new_owner())
    services.store().runs.set_status(run_id, status)
    return run_id


@pytest.mark.parametrize(("status", "words"), [("running", "The run goes on."), ("queued", "The run waits to be")])
def test_a_run_under_way_says_that_it_goes_on(status: str, words: str, open_page: Open) -> None:
    app = open_page(frame.RESULTS, run=under_way(result("q1"), status=status))
    assert f"evaluations are done and counted here. {words}" in texts(app)
    assert "since this page was opened" not in texts(app)


def test_what_has_come_since_is_offered_and_shown_when_asked_for(open_page: Open) -> None:
    """The timer of the page draws this part alone."""
    run_id = under_way(result("q1"))
    script = f"from pages.components.results import table\n\ntable.more({run_id!r}, here=1)"
    look = AppTest.from_string(script, default_timeout=180).run()
    assert not texts(look)
    services.store().results.save(run_id, [result("q2")])
    assert "1 more result since this page was opened." in texts(look.run())
    services.store().runs.set_status(run_id, "cancelled")
    assert "1 more result since this page was opened. The run is cancelled." in texts(look.run())


@pytest.mark.parametrize(
    ("view", "expected"),
    [("failures", 2), ("passes", 2), ("unstable", 2), ("all", 4), ("no such view", 4)],
)
def test_a_quick_view_is_kept_in_the_link(view: str, expected: int, open_page: Open) -> None:
    run_id = stored(
        result("q1"), result("q1", "fail", 2), result("q2"), result("q3", "fail"), name="Repeats", replicates=2
    )
    assert len(questions(open_page(frame.RESULTS, run=run_id, show=view))) == expected


def test_filters_hold_for_numbers_and_list_alike(open_page: Open) -> None:
    app = open_page(frame.RESULTS, run=stored(result("q1"), result("q2", "fail"), result("q3")))
    app = healthy(labelled(app.multiselect, "Keyword").set_value(["odd"]).run())
    assert questions(app) == ["Question q1?", "Question q3?"]
    assert metrics(app)["Evaluations"] == "2"
    assert "2 of 3 evaluations shown" in texts(app)
    app = labelled(app.text_input, "Search in questions").set_value("no such question").run()
    assert metrics(healthy(app))["Pass rate"] == "–"
    assert len(questions(press(app, "Clear filters"))) == 3


def on_answer(app: AppTest, run_id: str, question: str) -> AppTest:
    """Follow a link to an answer, as the button of the drawer does; AppTest cannot click what is in a drawer."""
    app.query_params["row"] = services.store().results.rows(run_id, question_id=question)[0]["result_id"]
    return healthy(app.switch_page(frame.ANSWER).run())


def test_a_row_opens_its_answer_once(open_page: Open) -> None:
    run_id = stored(result("q1"), result("q2", text="It is BCL2."))
    app = healthy(select_row(open_page(frame.RESULTS, run=run_id), ALL, 1))
    assert OPEN in labels(app.button)
    assert "It is BCL2." in "\n".join([item.value for item in app.markdown] + [item.value for item in app.code])
    assert OPEN not in labels(healthy(app.run()).button), "it stays ticked"


def test_the_answer_page_walks_through_what_the_table_showed(open_page: Open) -> None:
    made = [result(f"q{number}", "pass" if number == 2 else "fail") for number in range(1, 5)]
    for seconds, evaluation in enumerate(made):
        evaluation.seconds = float(seconds)
    run_id = stored(*made)
    app = open_page(frame.RESULTS, run=run_id, show="failures")
    app = app.selectbox(key="order").set_value("slowest first").run()
    assert questions(app) == ["Question q4?", "Question q3?", "Question q1?"]
    app = on_answer(select_row(app, ALL, 1), run_id, "q3")
    assert "q3" in app.subheader[0].value
    assert "Evaluation 2 of 3" in [box.label for box in app.selectbox]
    app = healthy(app.button(key="answer_next").click().run())
    assert "q1" in app.subheader[0].value


def test_a_link_to_another_answer_is_not_lost_among_what_the_table_showed(open_page: Open) -> None:
    run_id = stored(result("q1"), result("q2", "fail"))
    app = on_answer(select_row(open_page(frame.RESULTS, run=run_id, show="failures"), ALL, 0), run_id, "q1")
    assert "q1" in app.subheader[0].value


def test_a_verdict_on_the_answer_as_a_whole_has_no_score_and_says_why(open_page: Open) -> None:
    whole, broken = result("q1"), result("q2", "not_evaluated")
    for evaluation in (whole, broken):
        evaluation.template = None
    app = open_page(frame.RESULTS, run=stored(whole, broken))
    assert list(table(app, ALL)["Score"]) == ["n/a", ""]
    assert "the template decides on the answer as a whole" in texts(app)


def test_many_rows_come_in_pages(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results_table, "PAGE", 2)
    app = open_page(frame.RESULTS, run=stored(*(result(f"q{number}") for number in range(1, 5))))
    assert questions(app) == ["Question q1?", "Question q2?"]
    app.session_state["table_page"] = 2
    assert questions(healthy(app.run())) == ["Question q3?", "Question q4?"]


def test_a_large_run_under_way_is_read_again_only_when_asked(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results_data, "_LARGE", 1)
    run_id = under_way(result("q1"))
    app = open_page(frame.RESULTS, run=run_id)
    services.store().results.save(run_id, [result("q2")])
    app = healthy(app.run())
    assert "1 more result since this page was opened" in texts(app)
    assert len(questions(app)) == 1
    app = healthy(labelled(app.button, "Show them").click().run())
    assert len(questions(app)) == 2


def test_flagged_and_disputed_answers_are_marked_and_can_be_shown_alone(open_page: Open) -> None:
    made = [result(f"q{number}") for number in range(1, 4)]
    made[1].answer.addresses_judge = True
    run_id = stored(*made)
    assert sorted(table(open_page(frame.RESULTS, run=run_id), ALL)["Verdict"]) == ["✓ pass", "✓ pass", "✓ pass ⚑"]
    app = open_page(frame.RESULTS, run=run_id, show="flagged")
    assert list(table(app, ALL)["Verdict"]) == ["✓ pass ⚑"]
    [first, *_] = services.store().results.rows(run_id)
    review = Annotation(run_id=run_id, result_id=first["result_id"], agrees=False, cause="rule_too_strict")
    services.store().annotations.add(review)
    app = open_page(frame.RESULTS, run=run_id, show="flagged")
    assert sorted(table(app, ALL)["Review"]) == ["", "disagrees: the rule is too strict"]


class TestWhatChanged:
    def runs(self) -> tuple[str, str]:
        before = stored(result("q1"), result("q2", "fail", text="It is 41, I think."), result("q3"), name="Before")
        after = stored(result("q1"), result("q2", text="It is 42, I know."), result("q3", "fail"), name="After")
        return before, after

    def test_the_other_run_is_kept_in_the_link(self, open_page: Open) -> None:
        before, after = self.runs()
        assert "fixed" not in texts(open_page(frame.RESULTS, run=after)), "none is chosen"
        app = open_page(frame.RESULTS, run=after, since=before)
        assert "1 fixed, 1 broken, 0 still failing, 1 still passing." in texts(app)
        causes = table(app, "Changed verdicts by cause")
        assert dict(zip(causes["What changed it"], causes["fixed"], strict=True))["the model's answer"] == 1
        assert "Both runs have the same settings." in texts(app)

    def test_choosing_a_row_shows_the_words_that_are_different(self, open_page: Open) -> None:
        before, after = self.runs()
        app = open_page(frame.RESULTS, run=after, since=before)
        app = healthy(select_row(app, CHANGED, 0))
        assert "**Before** · ✗ fail" in [item.value for item in app.markdown]
        assert any("background[**41**]" in item.value for item in app.markdown)
        assert any("background[**42**]" in item.value for item in app.markdown)

    def test_a_run_without_another_says_so(self, open_page: Open) -> None:
        app = open_page(frame.RESULTS, run=stored(result("q1")))
        assert "There is no other run of these questions to compare with." in texts(app)
