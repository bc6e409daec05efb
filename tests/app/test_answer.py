"""The answer page: its cells, what if, re-verify, review, triage, relaxed rules, and the drawer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.analysis import FORMATS, ReportOptions
from karenina_core.runs import reverify, wanted
from karenina_core.schemas import Annotation, FileChange, Usage, VerificationResult
from pages.components import frame, services
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, labels, press, table, texts
from tests.faults.openai_server import OpenAIServer
from tests.runs.elements import ANSWERS, config_for, elements, extraction
from tests.runs.fakes import failure_of, full_result, plain_result, small_benchmark, small_config

PASS, FAIL = ":green-badge[:material/check: pass]", ":red-badge[:material/close: fail]"


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


@pytest.fixture
def stored(open_page: Open) -> Any:
    """Return a function that stores one result and opens it."""

    def opened(result: VerificationResult) -> AppTest:
        run_id = services.store().runs.create(wanted(small_benchmark(1), small_config()), "One")
        services.store().results.save(run_id, [result])
        return open_page(frame.ANSWER, run=run_id)

    return opened


def opened(app: AppTest, title: str) -> AppTest:
    """Open an expander that is drawn only while it is open."""
    [key] = [item.proto.id for item in app.expander if item.label == title]
    app.session_state[key.split("-", 2)[-1]] = True
    return healthy(app.run())


def relaxed(app: AppTest) -> AppTest:
    """Add the normaliser that makes the answer right."""
    app = opened(app, "Edit a rule, which takes no call")
    box = labelled(app.multiselect, "Normalisers, in their order")
    return healthy(box.set_value([*box.value, "remove_punctuation"]).run())


def review(too_strict: dict[str, Any], run_id: str, **about: Any) -> None:
    services.store().annotations.add(
        Annotation(run_id=run_id, result_id=too_strict["result_id"], agrees=False, **about)
    )


# Cells


def test_the_cells_show_where_everything_comes_from_and_what_is_wrong(answer: AppTest) -> None:
    shown = texts(answer)
    assert ":green-background[BCL-2]" in shown
    assert list(table(answer, "Extracted values")["In the answer"]) == ["✓ word for word"]
    passports = [caption.value for caption in answer.caption if caption.value.startswith("In: ")]
    assert len(passports) == 7
    assert all(" · Out: " in line and " · From: " in line and " · Cost: " in line for line in passports)
    assert "Recording: demo · Kind: sample · Written by: Karenina Workbench authors" in shown
    assert "The rule is probably too strict: to drop punctuation would let this pass." in shown
    assert "The rule is probably too strict. It would pass if one were to drop punctuation (target)." in shown
    keys = {button.label: button.proto.shortcut for button in answer.button if "review_" in str(button.key)}
    assert [keys[label] for label in ("Answer wrong", "Judge misread", "Technical")] == ["1", "2", "6"]


def test_a_pass_has_no_fault_a_yes_or_no_is_not_checked_and_a_rule_has_plain_words(
    open_page: Open, demo_run: str
) -> None:
    rows = services.store().results.rows(demo_run, verdict="pass")
    app = open_page(frame.ANSWER, run=demo_run, row=rows[0]["result_id"])
    assert "whose fault" not in texts(app)
    [heading] = [item for item in app.markdown if "Same number" in item.value]
    assert heading.help == "In the template: NumericExact."
    row = next(row for row in rows if "Food and Drug" in row["question"])
    values = table(open_page(frame.ANSWER, run=demo_run, row=row["result_id"]), "Extracted values")
    assert dict(zip(values["Field"], values["In the answer"], strict=True))["is_approved"] == "– not checked"


def test_known_replies_beside_one_of_unknown_price_do_not_make_it_free(stored: Any) -> None:
    made = full_result("q1")
    assert made.answer is not None and made.answer.call is not None
    known, unknown = Usage(cost=0.0, calls=1, cached_calls=1), Usage(input_tokens=11, output_tokens=7, calls=1)
    made.rubric.calls = [made.answer.call.model_copy(update={"usage": usage}) for usage in (known, unknown)]
    [rubric] = [item.value for item in stored(made).caption if item.value.startswith("In: the answer and the traits")]
    assert rubric.endswith("Cost: not known, 11 + 7 tokens")


def test_what_an_agent_did_is_shown_with_its_tools_and_its_files(stored: Any) -> None:
    made = full_result("q1")
    assert made.answer is not None and made.answer.call is not None
    wish = {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "read_file", "arguments": "{}"}]}
    talk = [{"role": "user", "content": "Look."}, wish, {"role": "tool", "content": "the file", "tool_call_id": "1"}]
    made.answer.earlier_calls = [made.answer.call.model_copy(update={"messages": talk[:1]})]
    made.answer.call = made.answer.call.model_copy(update={"messages": talk})
    made.answer.transcript, made.answer.limit = talk, "turns"
    made.answer.files = [FileChange(path="result.txt", change="added", sha256="0" * 64, bytes=6, text="fixed")]
    app = opened(stored(made), "What the agent did, in 2 turns")
    shown = [item.value for item in app.code]
    assert {"Look.", "read_file {}", "the file", "fixed"} <= set(shown)
    assert "The agent was stopped at its limit of turns." in [item.value for item in app.warning]
    assert r"result\.txt: added, 6 bytes" in [item.label for item in app.expander]


def test_what_arrived_of_a_broken_answer_is_shown_and_is_no_answer(stored: Any) -> None:
    broken = plain_result("q1", failure=failure_of("connection"))
    broken.partial_answer = "It is about"
    app = stored(broken)
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
def test_a_failure_says_whose_fault_it_is(stored: Any, category: str, words: str) -> None:
    app = stored(plain_result("q1", failure=failure_of(category)))
    assert f":orange-badge[:material/help: whose fault] {words}" in texts(app)


# What if


def test_an_edited_rule_decides_at_once_and_stores_nothing(answer: AppTest, too_strict: dict[str, Any]) -> None:
    app = relaxed(answer)
    assert "What if — not saved" in texts(app) and PASS in texts(app)
    assert services.store().results.get(str(app.query_params["run"]), too_strict["result_id"]).verdict == "fail"
    app = press(app, "Back to the stored result")
    assert "What if — not saved" not in texts(app) and FAIL in texts(app)


def test_a_saved_rule_shows_what_verifying_again_would_flip(answer: AppTest) -> None:
    app = press(relaxed(answer), "Save this rule in the benchmark")
    shown = texts(app)
    assert not app.toast
    assert "The rule is saved in the benchmark. This is what it changes:" in shown
    assert "64 % → 69 %, 2 verdicts flip (2 to pass, 0 from pass)" in shown
    assert list(table(app, "Verdicts that flip")["After"]) == ["✓ pass", "✓ pass"]
    assert len(services.store().runs.all()) == 1


def test_saving_makes_one_revision_shows_the_same_answer_and_the_verdicts_before_stay_readable(
    answer: AppTest, demo_run: str, too_strict: dict[str, Any]
) -> None:
    def page(run_id: str) -> None:
        from pages.components.answer.reverify import open_reverify

        open_reverify(run_id)

    app = answer.segmented_control(key="answer_view").set_value("Failures").run()
    app = press(relaxed(app), "Save this rule in the benchmark")
    dialog = AppTest.from_function(page, args=(demo_run,), default_timeout=60).run()
    dialog = press(dialog, "Save as a new revision")
    newest, first = services.store().runs.all()
    assert (newest.parent_run, newest.passed, first.parent_run, first.passed) == (demo_run, 27, None, 25)
    assert "Revision 2 holds just this." in texts(dialog.run())
    assert labels(dialog.button) == ["Open that revision"]
    app.query_params["run"] = newest.id
    app = app.run()
    for number, run_id in ((2, newest.id), (1, demo_run)):
        assert app.query_params["run"] in (run_id, [run_id])
        assert app.query_params["row"] in (too_strict["result_id"], [too_strict["result_id"]])
        assert "Venetoclax" in app.subheader[0].value
        box = labelled(app.selectbox, f"Revision {number} of 2")
        app = healthy(box.set_value(box.options[0]).run())


def test_values_typed_by_hand_are_decided_by_the_rules(answer: AppTest) -> None:
    app = opened(answer, "What if the judge had said something else")
    labelled(app.text_input, "target").set_value("bcl2")
    app = press(app, "Decide by these values")
    assert "Edited: values by hand" in texts(app) and PASS in texts(app)
    assert list(table(app, "Extracted values")["In the answer"]) == ["✓ written otherwise"]
    labelled(app.text_input, "target").set_value("EGFR")
    app = press(app, "Decide by these values")
    assert ":orange-badge[:material/warning: ungrounded] target" in texts(app)
    assert "From: a person, on this page" in texts(app)
    assert '{"target": "BCL-2"}' in "\n".join(code.value for code in app.code)


def test_another_answer_waits_for_the_judge(answer: AppTest) -> None:
    app = opened(answer, "Paste another answer")
    labelled(app.text_area, "Answer").set_value("It is *BCL2*, ![x](http://example.org/x.png).")
    app = press(app, "Use this answer")
    assert ":gray-badge[:material/remove: not evaluated]" in texts(app)
    assert "No judge has read this answer yet" in texts(app)
    assert "replays a recording and would say the same again" in texts(opened(app, "Judge again"))


def test_judging_again_asks_before_it_costs(open_page: Open, openai_server: OpenAIServer) -> None:
    openai_server.script = extraction
    store = services.store()
    run_id = services.start_run(store.benchmarks.save(elements()), elements(), config_for(openai_server), "Elements")
    services.runner().wait(run_id, 600)
    row = next(row for row in store.results.rows(run_id) if row["question_id"] == "iron")
    app = opened(open_page(frame.ANSWER, run=run_id, row=row["result_id"]), "Edit the prompt and answer again")
    assert "holds prepared answers and cannot be asked" in texts(app)
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
    assert store.results.get(run_id, row["result_id"]).raw_llm_response == ANSWERS["iron"]


# Reviews


def test_a_review_stands_beside_the_verdict_and_can_be_taken_back(
    answer: AppTest, demo_run: str, too_strict: dict[str, Any]
) -> None:
    labelled(answer.text_input, "Your name").set_value("ann")
    labelled(answer.text_input, "Note").set_value("A dash is no difference.")
    app = press(answer, "Rule too strict")
    [stored] = services.store().annotations.all(demo_run)
    assert (stored.result_id, stored.agrees, stored.cause) == (too_strict["result_id"], False, "rule_too_strict")
    assert (stored.author, stored.note) == ("ann", "A dash is no difference.")
    assert services.store().results.get(demo_run, too_strict["result_id"]).verdict == "fail"
    assert "**ann** disagrees with the verdict: the rule is too strict" in texts(app)
    assert "ann says: the rule is too strict." in texts(app)
    assert "whose fault" not in texts(app)
    assert "Reviewed **What is the approved drug target of Venetoclax?**: the rule is too strict." in texts(app)
    app = press(app, "Undo")
    assert services.store().annotations.all(demo_run) == []
    assert "taken back" in texts(app)


def test_agreeing_and_disagreeing_take_one_press_and_a_note_is_stored_once(answer: AppTest, demo_run: str) -> None:
    labelled(answer.text_input, "Note").set_value("Once.")
    press(press(answer, "Agree"), "Disagree")
    stored = services.store().annotations.all(demo_run)
    assert [(one.agrees, one.note) for one in stored] == [(True, "Once."), (False, "")]


@pytest.mark.parametrize("leave", ["Next", frame.HOME])
def test_a_review_is_offered_for_undo_until_one_leaves_it(leave: str, answer: AppTest) -> None:
    app = press(answer, "Agree")
    if leave == "Next":
        app = press(app, leave)
    else:
        healthy(app.switch_page(leave).run())
        app = healthy(app.switch_page(frame.ANSWER).run())
    assert "Undo" not in labels(app.button) and "Reviewed **" not in texts(app)


def test_reviews_of_an_earlier_revision_stay_in_sight_with_their_time_in_utc(
    open_page: Open, demo_run: str, too_strict: dict[str, Any]
) -> None:
    review(too_strict, demo_run, author="ann", at="2026-03-01T23:30:00+09:00", cause="rule_too_strict")
    store = services.store()
    app = open_page(frame.ANSWER, run=reverify(store, demo_run), row=too_strict["result_id"])
    assert "**ann** disagrees with the verdict" in texts(app)
    assert "2026-03-01 14:30 UTC" in texts(app) and "on revision 1" in texts(app)
    assert b"rule_too_strict" in FORMATS["csv"].content(store, demo_run, ReportOptions())
    assert json.loads(FORMATS["json"].content(store, demo_run, ReportOptions()))["annotations"]


# Walking through


def test_quick_views_hold_and_a_reviewed_answer_makes_room_for_the_next(answer: AppTest, demo_run: str) -> None:
    app = healthy(answer.segmented_control(key="answer_view").set_value("Failures").run())
    assert "14 of 42 evaluations" in texts(app)
    app = healthy(app.segmented_control(key="answer_view").set_value("Not reviewed").run())
    app = press(app, "Agree")
    assert "41 of 42 evaluations" in texts(app)
    app = press(app, "Undo")
    assert services.store().annotations.all(demo_run) == []
    assert "42 of 42 evaluations" in texts(app)


# Triage and relaxed rules


def test_the_board_sorts_failures_by_likely_cause(open_page: Open, demo_run: str) -> None:
    app = open_page(frame.ANSWER, run=demo_run, look="triage")
    causes = app.segmented_control(key=f"triage_cause_{demo_run}").options
    board = dict(label[:-1].rsplit(" (", 1) for label in causes)
    assert sum(map(int, board.values())) == 17
    assert int(board["The rule is too strict"]) >= 2
    assert board["The model did not answer"] == "2"
    app = press(app, "Confirm")
    assert len(services.store().annotations.all(demo_run)) == 1
    assert "1 of 17 are confirmed" in texts(app)
    [button] = [item for item in app.button if item.label.startswith("Confirm all")]
    healthy(button.click().run())
    assert len(services.store().annotations.all(demo_run)) == 1 + int(button.label.split()[-1])


def test_people_who_disagree_are_shown_on_the_board(open_page: Open, demo_run: str, too_strict: dict[str, Any]) -> None:
    review(too_strict, demo_run, author="Ann", cause="rule_too_strict")
    review(too_strict, demo_run, author="Bob", cause="judge_misread")
    app = open_page(frame.ANSWER, run=demo_run, look="triage")
    assert "People disagree about 1 result" in texts(app)
    app = healthy(app.segmented_control(key=f"triage_cause_{demo_run}").set_value("judge_misread").run())
    assert ":orange-badge[:material/group: people disagree]" in texts(app)
    assert "Ann: the rule is too strict; Bob: the judge misread it" in texts(app)


def test_a_relaxed_rule_says_what_it_lets_in_and_is_applied_with_a_way_back(open_page: Open, demo_run: str) -> None:
    app = open_page(frame.ANSWER, run=demo_run, look="rules")
    shown = texts(app)
    assert "2 failures would pass" in shown
    assert "It would also let in:" in shown or "It lets in nothing else in this run" in shown
    app = press(app, "Apply and re-verify")
    assert "verdicts flip" in texts(app)
    benchmark_id = str(services.store().runs.get(demo_run).benchmark_id)
    assert services.store().benchmarks.row(benchmark_id).revision == 2
    press(app, "Undo")
    assert services.store().benchmarks.row(benchmark_id).revision == 3
