"""The answer page: what if, re-verify, review, triage, relaxed rules, and the drawer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.runs import wanted
from karenina_core.schemas import Annotation, Usage
from pages.components import frame, services
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, table, texts
from tests.faults.openai_server import OpenAIServer
from tests.runs.elements import ANSWERS, config_for, elements, extraction
from tests.runs.fakes import failure_of, full_result, plain_result, small_benchmark, small_config


@pytest.fixture
def too_strict(demo_run: str) -> dict[str, Any]:
    """The failure whose rule is too strict: it says BCL-2, and the truth is BCL2."""
    return next(
        row
        for row in services.store().results.rows(demo_run, verdict="fail")
        if "Venetoclax" in row["question"] and row["answering_model"] == "demo/thorough"
    )


@pytest.fixture
def answer(open_page: Open, demo_run: str, too_strict: dict[str, Any]) -> AppTest:
    return open_page(frame.ANSWER, run=demo_run, row=too_strict["result_id"])


def press(app: AppTest, label: str) -> AppTest:
    return healthy(labelled(app.button, label).click().run())


def opened(app: AppTest, title: str) -> AppTest:
    """Open an expander that is drawn only while it is open."""
    [key] = [item.proto.id for item in app.expander if item.label == title]
    name = key.split("-", 2)[-1]
    app.session_state[name] = True
    return healthy(app.run())


def gentle(app: AppTest) -> AppTest:
    """Add the normaliser that makes the answer right."""
    app = opened(app, "Edit a rule, which takes no call")
    [box] = [item for item in app.multiselect if item.label == "Normalisers, in their order"]
    return healthy(box.set_value([*box.value, "remove_punctuation"]).run())


def test_evidence_is_marked_in_the_answer(answer: AppTest) -> None:
    assert ":green-background[BCL-2]" in texts(answer)
    assert list(table(answer, "Extracted values")["In the answer"]) == ["✓ word for word"]


def test_a_yes_or_no_is_said_to_be_not_checked_against_the_answer(open_page: Open, demo_run: str) -> None:
    row = next(
        row for row in services.store().results.rows(demo_run, verdict="pass") if "Food and Drug" in row["question"]
    )
    values = table(open_page(frame.ANSWER, run=demo_run, row=row["result_id"]), "Extracted values")
    assert dict(zip(values["Field"], values["In the answer"], strict=True))["is_approved"] == "– not checked"


def test_every_cell_says_where_it_comes_from_and_what_it_cost(answer: AppTest) -> None:
    passports = [caption.value for caption in answer.caption if caption.value.startswith("In: ")]
    assert len(passports) == 7
    assert all(" · Out: " in line and " · From: " in line and " · Cost: " in line for line in passports)


def test_known_replies_beside_one_of_unknown_price_do_not_make_it_free(open_page: Open) -> None:
    run_id = services.store().runs.create(wanted(small_benchmark(1), small_config()), "Half known")
    made = full_result("q1")
    assert made.answer is not None and made.answer.call is not None
    known, unknown = Usage(cost=0.0, calls=1, cached_calls=1), Usage(input_tokens=11, output_tokens=7, calls=1)
    made.rubric.calls = [made.answer.call.model_copy(update={"usage": usage}) for usage in (known, unknown)]
    services.store().results.save(run_id, [made])
    passports = [caption.value for caption in open_page(frame.ANSWER, run=run_id).caption]
    [rubric] = [line for line in passports if line.startswith("In: the answer and the traits")]
    assert rubric.endswith("Cost: not known, 11 + 7 tokens")


def test_where_a_sample_comes_from_is_told_in_words(answer: AppTest) -> None:
    assert "Recording: demo · Kind: sample · Written by: Karenina Workbench authors" in texts(answer)


def test_an_edited_rule_decides_at_once_and_stores_nothing(answer: AppTest, too_strict: dict[str, Any]) -> None:
    app = gentle(answer)
    shown = texts(app)
    assert "What if — not saved" in shown
    assert ":green-badge[:material/check: pass]" in shown
    assert services.store().results.get(str(app.query_params["run"]), too_strict["result_id"]).verdict == "fail"
    app = press(app, "Back to the stored result")
    assert "What if — not saved" not in texts(app)
    assert ":red-badge[:material/close: fail]" in texts(app)


def test_a_saved_rule_offers_to_verify_again_and_shows_what_flips(answer: AppTest) -> None:
    app = press(gentle(answer), "Save this rule in the benchmark")
    shown = texts(app)
    assert "64 % → 69 %, 2 verdicts flip (2 to pass, 0 from pass)" in shown
    assert list(table(app, "Verdicts that flip")["After"]) == ["✓ pass", "✓ pass"]
    assert len(services.store().runs.all()) == 1


def test_saving_makes_a_revision_and_the_verdicts_before_stay_readable(demo_run: str, open_page: Open) -> None:
    def page(run_id: str) -> None:
        from pages.components.answer.reverify import open_reverify

        open_reverify(run_id)

    press(AppTest.from_function(page, args=(demo_run,), default_timeout=60).run(), "Save as a new revision")
    newest = services.store().runs.all()[0]
    assert (newest.parent_run, newest.passed) == (demo_run, 25)
    assert services.store().runs.get(demo_run).parent_run is None
    app = open_page(frame.ANSWER, run=newest.id)
    assert "Revision 2 of 2" in [box.label for box in app.selectbox]
    [box] = [box for box in app.selectbox if box.label == "Revision 2 of 2"]
    app = healthy(box.set_value(box.options[0]).run())
    assert app.query_params["run"] == demo_run


def test_values_typed_by_hand_are_decided_by_the_rules(answer: AppTest) -> None:
    app = opened(answer, "What if the judge had said something else")
    labelled(app.text_input, "target").set_value("bcl2")
    app = press(app, "Decide by these values")
    shown = texts(app)
    assert "Edited: values by hand" in shown
    assert ":green-badge[:material/check: pass]" in shown
    assert list(table(app, "Extracted values")["In the answer"]) == ["✓ written otherwise"]


def test_a_value_that_was_not_found_has_the_same_name_in_the_table_and_in_the_verdict(open_page: Open) -> None:
    run_id = services.store().runs.create(wanted(small_benchmark(1), small_config()), "Nothing found")
    made = full_result("q1")
    assert made.template is not None
    made.template.parsed = {item.name: None for item in made.template.fields}
    for item in made.template.fields:
        item.extracted, item.result = None, None
    services.store().results.save(run_id, [made])
    app = open_page(frame.ANSWER, run=run_id)
    assert set(table(app, "Extracted values")["Value"]) == {"nothing"}
    shown = [block.value for block in app.code]
    assert "nothing" in shown
    assert "null" not in shown


def test_an_invented_value_is_called_ungrounded(answer: AppTest) -> None:
    app = opened(answer, "What if the judge had said something else")
    labelled(app.text_input, "target").set_value("EGFR")
    app = press(app, "Decide by these values")
    shown = texts(app)
    assert ":orange-badge[:material/warning: ungrounded] target" in shown
    assert "From: a person, on this page" in shown
    assert '{"target": "BCL-2"}' in "\n".join(code.value for code in app.code)


def test_another_answer_waits_for_the_judge(answer: AppTest) -> None:
    app = opened(answer, "Paste another answer")
    labelled(app.text_area, "Answer").set_value("It is *BCL2*, ![x](http://example.org/x.png).")
    app = press(app, "Use this answer")
    shown = texts(app)
    assert ":gray-badge[:material/remove: not evaluated]" in shown
    assert "No judge has read this answer yet" in shown
    app = opened(app, "Judge again")
    assert "replays a recording and would say the same again" in texts(app)


@pytest.fixture
def provider_run(openai_server: OpenAIServer) -> str:
    """A run whose answers were prepared and whose judge is a provider."""
    openai_server.script = extraction
    store = services.store()
    benchmark_id = store.benchmarks.save(elements())
    run_id = services.start_run(benchmark_id, elements(), config_for(openai_server), "Elements")
    services.runner().wait(run_id, 600)
    return run_id


def test_judging_again_asks_before_it_costs(open_page: Open, provider_run: str, openai_server: OpenAIServer) -> None:
    row = next(row for row in services.store().results.rows(provider_run) if row["question_id"] == "iron")
    app = open_page(frame.ANSWER, run=provider_run, row=row["result_id"])
    app = opened(app, "Paste another answer")
    labelled(app.text_area, "Answer").set_value(ANSWERS["gold"])
    app = opened(press(app, "Use this answer"), "Judge again")
    asked = len(openai_server.requests)
    assert "About 1 call to providers" in texts(app)
    assert labelled(app.button, "Judge again").disabled
    agreed = next(box for box in app.checkbox if box.label.startswith("I have read this"))
    app = press(healthy(agreed.check().run()), "Judge again")
    assert len(openai_server.requests) == asked + 1
    assert "What if — not saved" in texts(app)
    assert list(table(app, "Extracted values")["Value"]) == ["Au"]
    stored = services.store().results.get(provider_run, row["result_id"])
    assert stored.raw_llm_response == ANSWERS["iron"]


def test_a_prepared_answer_cannot_be_asked_for_again(open_page: Open, provider_run: str) -> None:
    app = opened(open_page(frame.ANSWER, run=provider_run), "Edit the prompt and answer again")
    assert "holds prepared answers and cannot be asked" in texts(app)


def test_a_review_stands_beside_the_verdict_and_can_be_taken_back(
    answer: AppTest, demo_run: str, too_strict: dict[str, Any]
) -> None:
    labelled(answer.text_input, "Your name").set_value("ann")
    labelled(answer.text_input, "Note").set_value("A dash is no difference.")
    app = press(answer, "Rule too strict")
    [review] = services.store().annotations.all(demo_run)
    assert (review.result_id, review.agrees, review.cause) == (too_strict["result_id"], False, "rule_too_strict")
    assert (review.author, review.note) == ("ann", "A dash is no difference.")
    assert services.store().results.get(demo_run, too_strict["result_id"]).verdict == "fail"
    assert "**ann** disagrees with the verdict: the rule is too strict" in texts(app)
    app = press(app, "Undo")
    assert services.store().annotations.all(demo_run) == []
    assert "taken back" in texts(app)


def test_agreeing_and_disagreeing_take_one_press(answer: AppTest, demo_run: str) -> None:
    press(press(answer, "Agree"), "Disagree")
    assert [review.agrees for review in services.store().annotations.all(demo_run)] == [True, False]


def test_a_note_is_stored_once(answer: AppTest, demo_run: str) -> None:
    labelled(answer.text_input, "Note").set_value("Once.")
    app = press(answer, "Agree")
    press(app, "Disagree")
    assert [review.note for review in services.store().annotations.all(demo_run)] == ["Once.", ""]


def test_causes_have_the_keys_one_to_six(answer: AppTest) -> None:
    keys = {button.label: button.proto.shortcut for button in answer.button if "review_" in str(button.key)}
    assert [keys[label] for label in ("Answer wrong", "Judge misread", "Technical")] == ["1", "2", "6"]


def test_one_walks_through_failures_only(answer: AppTest) -> None:
    app = healthy(answer.segmented_control(key="answer_view").set_value("Failures").run())
    assert "14 of 42 evaluations" in texts(app)
    assert "Evaluation 1 of 14" in " ".join(box.label for box in app.selectbox) or "of 14" in " ".join(
        box.label for box in app.selectbox
    )


def test_what_a_table_showed_can_be_walked_through(open_page: Open, demo_run: str, too_strict: dict[str, Any]) -> None:
    app = open_page(frame.HOME)
    app.session_state["_answer_ids"] = (demo_run, [too_strict["result_id"]])
    app.query_params["run"] = demo_run
    app = healthy(app.switch_page(frame.ANSWER).run())
    assert "1 of 42 evaluations" in texts(app)
    assert "Evaluation 1 of 1" in [box.label for box in app.selectbox]


def test_reviews_of_an_earlier_revision_stay_in_sight(
    open_page: Open, demo_run: str, too_strict: dict[str, Any]
) -> None:
    from karenina_core.runs import reverify

    store = services.store()
    store.annotations.add(Annotation(run_id=demo_run, result_id=too_strict["result_id"], agrees=False, author="ann"))
    app = open_page(frame.ANSWER, run=reverify(store, demo_run), row=too_strict["result_id"])
    assert "**ann** disagrees with the verdict" in texts(app)
    assert "on revision 1" in texts(app)


def test_a_reviewed_answer_makes_room_for_the_next(answer: AppTest) -> None:
    app = healthy(answer.segmented_control(key="answer_view").set_value("Not reviewed").run())
    app = press(app, "Agree")
    assert "41 of 42 evaluations" in texts(app)


def test_the_board_sorts_failures_by_likely_cause(open_page: Open, demo_run: str) -> None:
    app = open_page(frame.ANSWER, run=demo_run, look="triage")
    board = dict(label[:-1].rsplit(" (", 1) for label in app.segmented_control(key=f"triage_cause_{demo_run}").options)
    assert sum(map(int, board.values())) == 17
    assert int(board["The rule is too strict"]) >= 2
    assert board["The model did not answer"] == "2"
    labelled(app.button, "Confirm").click()
    app = healthy(app.run())
    assert len(services.store().annotations.all(demo_run)) == 1
    assert "1 of 17 are confirmed" in texts(app)


def test_people_who_disagree_are_shown_on_the_board(open_page: Open, demo_run: str, too_strict: dict[str, Any]) -> None:
    about = {"run_id": demo_run, "result_id": too_strict["result_id"], "agrees": False}
    services.store().annotations.add(Annotation(**about, author="Ann", cause="rule_too_strict"))
    services.store().annotations.add(Annotation(**about, author="Bob", cause="judge_misread"))
    app = open_page(frame.ANSWER, run=demo_run, look="triage")
    assert "People disagree about 1 result" in texts(app)
    app = healthy(app.segmented_control(key=f"triage_cause_{demo_run}").set_value("judge_misread").run())
    assert ":orange-badge[:material/group: people disagree]" in texts(app)
    assert "Ann: the rule is too strict; Bob: the judge misread it" in texts(app)


def test_a_field_that_fails_by_a_hair_says_so_in_its_verdict(answer: AppTest) -> None:
    assert "The rule is probably too strict: to drop punctuation would let this pass." in texts(answer)


def test_the_time_of_a_review_is_told_in_utc(open_page: Open, demo_run: str, too_strict: dict[str, Any]) -> None:
    about = {"run_id": demo_run, "result_id": too_strict["result_id"], "agrees": False}
    services.store().annotations.add(Annotation(**about, at="2026-03-01T23:30:00+09:00"))
    app = open_page(frame.ANSWER, run=demo_run, row=too_strict["result_id"])
    assert "2026-03-01 14:30 UTC" in texts(app)


def test_a_relaxed_rule_says_what_it_would_let_in(open_page: Open, demo_run: str) -> None:
    said = texts(open_page(frame.ANSWER, run=demo_run, look="rules"))
    assert "It would also let in:" in said or "It lets in nothing else in this run" in said
    assert "(normaliser" not in said


def test_a_whole_column_is_confirmed_at_once(open_page: Open, demo_run: str) -> None:
    app = open_page(frame.ANSWER, run=demo_run, look="triage")
    [button] = [item for item in app.button if item.label.startswith("Confirm all")]
    app = healthy(button.click().run())
    assert len(services.store().annotations.all(demo_run)) == int(button.label.split()[-1])


def test_a_relaxed_rule_is_applied_and_shows_what_flips(open_page: Open, demo_run: str) -> None:
    app = open_page(frame.ANSWER, run=demo_run, look="rules")
    assert "2 failures would pass" in texts(app)
    app = press(app, "Apply and re-verify")
    assert "verdicts flip" in texts(app)
    benchmark_id = services.store().runs.get(demo_run).benchmark_id
    assert services.store().benchmarks.row(str(benchmark_id)).revision == 2
    press(app, "Undo")
    assert services.store().benchmarks.row(str(benchmark_id)).revision == 3


def test_the_drawer_shows_the_cells_and_leads_to_the_page(demo_run: str, too_strict: dict[str, Any]) -> None:
    def page(run_id: str, result_id: str) -> None:
        from pages.components.answer.drawer import open_drawer

        open_drawer(run_id, result_id)

    app = healthy(AppTest.from_function(page, args=(demo_run, too_strict["result_id"]), default_timeout=60).run())
    shown = texts(app)
    for cell in ("1 · Prompt", "5 · Verdict", "7 · Review"):
        assert cell in shown
    assert "Open the answer, to edit and review it" in [button.label for button in app.button]


def test_reviews_are_in_the_downloads(demo_run: str, too_strict: dict[str, Any]) -> None:
    from karenina_core.analysis import FORMATS
    from karenina_core.analysis.formats import Options

    store = services.store()
    store.annotations.add(
        Annotation(run_id=demo_run, result_id=too_strict["result_id"], agrees=False, cause="rule_too_strict")
    )
    assert b"rule_too_strict" in FORMATS["csv"].content(store, demo_run, Options())
    assert json.loads(FORMATS["json"].content(store, demo_run, Options()))["annotations"]


def test_what_arrived_of_a_broken_answer_is_shown_and_is_no_answer(open_page: Open) -> None:
    run_id = services.store().runs.create(wanted(small_benchmark(1), small_config()), "Broken")
    broken = plain_result("q1", failure=failure_of("connection"))
    broken.partial_answer = "It is about"
    services.store().results.save(run_id, [broken])
    app = open_page(frame.ANSWER, run=run_id)
    assert "There is no answer." in texts(app)
    assert [item.value for item in app.code if item.value == "It is about"]


@pytest.mark.parametrize(
    ("category", "words"),
    [
        ("connection", "The provider of the model is probably at fault, or the way to it"),
        ("template_execution", "The template is at fault, not the answer."),
        ("parsing", "The judge is at fault, not the answer"),
    ],
)
def test_a_failure_says_whose_fault_it_is(open_page: Open, category: str, words: str) -> None:
    run_id = services.store().runs.create(wanted(small_benchmark(1), small_config()), "Broken")
    services.store().results.save(run_id, [plain_result("q1", failure=failure_of(category))])
    assert f":orange-badge[:material/help: whose fault] {words}" in texts(open_page(frame.ANSWER, run=run_id))


def test_a_strict_rule_and_a_wrong_answer_are_told_apart_at_the_top(
    open_page: Open, demo_run: str, answer: AppTest
) -> None:
    assert "The rule is probably too strict. It would pass if one were to drop punctuation (target)." in texts(answer)
    wrong = next(
        row for row in services.store().results.rows(demo_run, verdict="fail") if "chromosomes" in row["question"]
    )
    assert "The answer is probably wrong. " in texts(open_page(frame.ANSWER, run=demo_run, row=wrong["result_id"]))


def test_a_person_who_named_the_cause_is_quoted_instead(
    open_page: Open, demo_run: str, too_strict: dict[str, Any]
) -> None:
    about = {"run_id": demo_run, "result_id": too_strict["result_id"], "agrees": False, "author": "Ann"}
    services.store().annotations.add(Annotation(**about, cause="judge_misread"))
    said = texts(open_page(frame.ANSWER, run=demo_run, row=too_strict["result_id"]))
    assert "Ann says: the judge misread it." in said
    assert "whose fault" not in said


def test_a_pass_has_no_fault_and_its_rule_plain_words(open_page: Open, demo_run: str) -> None:
    right = services.store().results.rows(demo_run, verdict="pass")[0]
    app = open_page(frame.ANSWER, run=demo_run, row=right["result_id"])
    assert "whose fault" not in texts(app)
    [heading] = [item for item in app.markdown if "Same number" in item.value]
    assert heading.help == "In the template: NumericExact."


def test_a_review_says_which_answer_it_is_of_until_one_leaves_it(answer: AppTest) -> None:
    app = press(answer, "Judge misread")
    assert "Reviewed **What is the approved drug target of Venetoclax?**: the judge misread it." in texts(app)
    assert "Somebody says: the judge misread it." in texts(app)
    app = press(app, "Next")
    assert "Reviewed **" not in texts(app)


def test_a_review_that_sends_the_answer_off_the_list_can_still_be_taken_back(answer: AppTest, demo_run: str) -> None:
    app = healthy(answer.segmented_control(key="answer_view").set_value("Not reviewed").run())
    app = press(press(app, "Agree"), "Undo")
    assert services.store().annotations.all(demo_run) == []
    assert "42 of 42 evaluations" in texts(app)


def test_a_review_is_not_offered_for_undo_after_another_page(answer: AppTest) -> None:
    app = press(answer, "Agree")
    app = healthy(app.switch_page(frame.HOME).run())
    assert "Undo" not in [button.label for button in healthy(app.switch_page(frame.ANSWER).run()).button]


def test_a_saved_rule_is_told_in_the_dialog_it_opens(answer: AppTest) -> None:
    app = press(gentle(answer), "Save this rule in the benchmark")
    assert not app.toast
    assert "The rule is saved in the benchmark. This is what it changes:" in texts(app)
