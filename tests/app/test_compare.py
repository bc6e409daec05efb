"""The Compare page: who is better, question by question, and whether the judges agree."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.differences import Piece
from karenina_core.runs import wanted
from karenina_core.schemas import Annotation
from pages.components import frame, services
from pages.components.answer.side_by_side import marked_up
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, labels, press, select_row, table, texts
from tests.runs.fakes import full_result, small_benchmark, small_config

NAMES = {"+": "pass", "-": "fail", "0": "not_evaluated"}


def run(verdicts: Sequence[str], judges: Sequence[Sequence[str]] = (), name: str = "Models", repeats: int = 1) -> str:
    """Store a run: a text per model, a letter per question and repeat; or, per judge, such texts."""
    by_judge = judges or [verdicts]
    models, length = len(by_judge[0]), len(by_judge[0][0]) // repeats
    config = small_config(models, len(by_judge), replicate_count=repeats)
    run_id = services.store().runs.create(wanted(small_benchmark(length), config), name)
    results = []
    for judge, per_model in enumerate(by_judge, 1):
        for model, letters in enumerate(per_model, 1):
            for place, letter in enumerate(letters):
                result = full_result(
                    f"q{place // repeats + 1}",
                    f"Model {model} says {place}.",
                    answering_model=f"lab/model-{model}",
                    parsing_model=f"lab/judge-{judge}",
                    replicate=place % repeats + 1,
                )
                result.verdict = NAMES[letter]
                results.append(result)
    services.store().results.save(run_id, results)
    return run_id


def view(app: AppTest, name: str) -> AppTest:
    app.session_state["compare"] = name
    return healthy(app.run())


def charts(app: AppTest) -> list[dict[str, object]]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def revision(run_id: str) -> str:
    store = services.store()
    plan = store.runs.plan(run_id)
    revised = store.runs.create(plan, "Revised", parent_run=run_id)
    store.results.save(revised, store.results.all(run_id))
    store.runs.set_status(revised, "completed")
    return revised


def test_without_anything_to_compare_the_page_leads_on(open_page: Open) -> None:
    app = open_page(frame.COMPARE)
    assert "Nothing has run yet" in texts(app)
    assert press(app, "Go to the demo").title[0].value != "Compare"
    empty = open_page(
        frame.COMPARE, runs=services.store().runs.create(wanted(small_benchmark(2), small_config()), "No")
    )
    assert "no results yet" in texts(empty)
    assert labelled(empty.button, "Open the monitor")
    app = open_page(frame.COMPARE, runs=run(["++-"]))
    assert "a comparison takes two" in texts(app)
    assert press(app, "Add a model to this run").title[0].value == "Monitor"
    app = view(open_page(frame.COMPARE, runs=run(["++-", "+--"])), "Judges")
    assert "All answers were judged by lab/judge-1, and nobody has reviewed one." in texts(app)
    assert {"Add a judge to this run", "Review answers"} <= set(labels(app.button))
    assert "A run in this link is not in this workspace" in texts(open_page(frame.COMPARE, runs="gone"))


def test_a_revision_that_joins_its_run_is_proposed_instead_of_the_models_compared_before(open_page: Open) -> None:
    original = run(["++-", "+--"])
    revised = revision(original)
    words = "lab/model-1 · Revised and lab/model-1 · Models do equally well on all 3"
    assert words in texts(open_page(frame.COMPARE, runs=f"{revised},{original}"))
    app = open_page(frame.COMPARE, runs=original)
    assert "Too few disagreements to tell lab/model-2 from lab/model-1" in texts(app)
    app = healthy(labelled(app.multiselect, "Runs").select(revised).run())
    assert words in texts(app)


def test_a_run_of_its_own_that_joins_leaves_the_models_that_are_compared(open_page: Open) -> None:
    first, other = run(["++-", "+--"], name="First"), run(["+++", "+-+"], name="Other")
    app = open_page(frame.COMPARE, runs=first)
    app = healthy(app.button(key="compare_swap").click().run())
    app = healthy(labelled(app.multiselect, "Runs").select(other).run())
    assert "Too few disagreements to tell lab/model-1 · First from lab/model-2 · First" in texts(app)


def test_a_revision_on_the_monitor_says_why_nothing_can_be_added_and_leads_to_the_original(open_page: Open) -> None:
    original = run(["++-"])
    app = open_page(frame.MONITOR, run=revision(original))
    assert "takes no answers of its own" in texts(app)
    assert healthy(app.button(key="grow_original").click().run()).query_params["run"] in (original, [original])


def test_the_page_says_in_one_sentence_who_is_better_and_the_link_brings_it_back(open_page: Open) -> None:
    run_id = run(["-" * 8 + "++", "+" * 10])
    app = open_page(frame.COMPARE, runs=run_id)
    words = texts(app)
    assert "lab/model-2 is better than lab/model-1: right on 10 against 2 of 10 matched questions, +80 percent" in words
    assert "exact McNemar test, p = 0.008" in words
    assert len(charts(app)) == 1
    a, b = app.query_params["a"], app.query_params["b"]
    app = healthy(app.button(key="compare_swap").click().run())
    assert "lab/model-1 is worse than lab/model-2" in texts(app)
    assert (app.query_params["a"], app.query_params["b"]) == (b, a)
    assert "lab/model-1 is worse than lab/model-2" in texts(open_page(frame.COMPARE, runs=run_id, a=b, b=a))


def test_nothing_is_claimed_of_few_questions_and_what_is_left_out_is_listed(open_page: Open) -> None:
    app = open_page(frame.COMPARE, runs=run(["+0--", "+++-"]))
    assert "Too few disagreements to tell lab/model-2 from lab/model-1" in texts(app)
    assert "Left out: 1 question without a verdict on one side at least." in texts(app)
    app.session_state["compare_missing"] = True
    assert len(table(healthy(app.run()), "Without a verdict on one side at least")) == 1


def test_several_models_are_ranked_in_groups(open_page: Open) -> None:
    app = open_page(frame.COMPARE, runs=run(["-" * 12, "+" * 12, "+" * 11 + "-"]))
    assert "Who is ahead, and who cannot be told apart?" in texts(app)
    assert "Every question was answered once" in texts(app)
    board = str(charts(app)[1])
    assert "group a" in board and "group b" in board


def test_repeats_show_what_trying_again_does_and_are_looked_at_one_by_one(open_page: Open) -> None:
    app = open_page(frame.COMPARE, runs=run(["++--", "+--+"], repeats=2))
    assert "at least one of k tries is right (pass@k)" in texts(app)
    assert len(charts(app)) == 2
    app = healthy(select_row(view(app, "Questions"), "Questions compared", 0))
    assert ":orange-background[**1**]" in texts(app)


def test_only_questions_that_differ_are_listed_and_open_side_by_side(open_page: Open) -> None:
    app = view(open_page(frame.COMPARE, runs=run(["++-", "+-+"])), "Questions")
    assert "2 of 3 matched questions shown" in texts(app)
    assert list(table(app, "Questions compared")["Baseline"]) == ["✓ right", "✗ wrong"]
    app = healthy(select_row(app, "Questions compared", 0))
    words = texts(app)
    assert "**Baseline** · lab/model-1" in words
    assert ":orange-background[**1**]" in words and ":blue-background[**2**]" in words
    assert len(table(app, "Fields of candidate"))
    assert "Open the answer, to edit and review it" in labels(press(app, "Open this answer").button)


def test_keywords_and_fields_have_tables_of_their_own(open_page: Open) -> None:
    app = view(open_page(frame.COMPARE, runs=run(["++-", "+-+"])), "Keywords and fields")
    assert list(table(app, "Which facts does one get right and the other not?")["From questions"]) == [3]
    assert "On which subjects do they differ?" in texts(app)
    assert "Questions that share a field are taken together" in texts(app)


def test_judges_are_compared_and_lead_to_the_answers_behind(open_page: Open) -> None:
    app = view(open_page(frame.COMPARE, runs=run((), judges=[["+++-", "--++"], ["++--", "--+0"]])), "Judges")
    assert "2 judges taken together: Krippendorff's alpha" in texts(app)
    assert "2 answers on which they differ" in texts(app)
    met = "How often which verdict of one met which of the other"
    cells = table(app, met)
    assert cells["Answers"].sum() == 8
    app = healthy(select_row(app, met, list(cells[""]).index("differ")))
    assert "1 answer behind this cell" in texts(app)
    app = healthy(select_row(app, "The answers behind", 0))
    app = healthy(app.button(key="compare_open_b_result").click().run())
    assert "Open the answer, to edit and review it" in labels(app.button)


def test_reviews_of_people_are_one_more_judge(open_page: Open) -> None:
    run_id = run(["++-"])
    for row in services.store().results.rows(run_id)[:2]:
        review = Annotation(run_id=run_id, result_id=row["result_id"], agrees=False, author="ann")
        services.store().annotations.add(review)
    app = view(open_page(frame.COMPARE, runs=run_id), "Judges")
    assert "lab/judge-1 and People" in str(app.selectbox(key="compare_pair").options)
    assert "2 answers on which they differ" in texts(app)


@pytest.mark.parametrize("level", ["Verdicts", "Fields"])
def test_both_levels_of_agreement_can_be_drawn(level: str, open_page: Open) -> None:
    app = open_page(frame.COMPARE, runs=run((), judges=[["++-"], ["+--"]]))
    app.session_state["level"] = level
    assert len(charts(view(app, "Judges"))) == 1


def test_words_of_an_answer_are_shown_and_not_rendered() -> None:
    pieces = [Piece("same", "a *b*\n"), Piece("added", "![x](http://x)\n\n  # c ")]
    shown = marked_up(pieces, "blue")
    assert "![x]" not in shown
    assert shown.count(":blue-background[**") == 2
