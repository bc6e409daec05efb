"""Stored answers decided again by the rules of today, and what of them can be looked at."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.errors import InputError, StoreError
from karenina_core.runs import (
    Engine,
    FlipList,
    Store,
    flips,
    preview,
    reverify,
    revisions,
    run_answers,
    run_verification,
    stored_answers,
    template_differences,
    wanted,
)
from karenina_core.schemas import AnswerPart, FieldEvidence, TemplatePart
from karenina_core.templates import read_template
from tests.faults.openai_server import OpenAIServer
from tests.runs.elements import config_for, elements, extraction, template
from tests.runs.fakes import PATIENCE, plain_result, small_benchmark, small_config

SEMANTIC = read_template(
    'class Answer(BaseAnswer):\n    reason: str = VerifiedField(description="Why", ground_truth="It binds", '
    "verify_with=SemanticMatch())\n"
).spec


@pytest.fixture
def run_id(store: Store, openai_server: OpenAIServer) -> str:
    """A run in which gold passes, iron fails because of its case, and neon is wrong."""
    openai_server.script = extraction
    return str(run_verification(elements(), config_for(openai_server), run_name="First", store=store).run_id)


def changed(changes: FlipList) -> dict[str, tuple[str, str]]:
    return {flip.key.question_id: (flip.before, flip.after) for flip in changes.flips}


def test_a_relaxed_rule_flips_verdicts_without_any_call(store: Store, run_id: str, openai_server: OpenAIServer) -> None:
    benchmark, stored, asked = elements(), store.results.all(run_id), len(openai_server.requests)
    benchmark.update_template("iron", template("Fe", ("lowercase",)))
    new_id = reverify(store, run_id, benchmark)
    assert len(openai_server.requests) == asked
    changes = flips(store, run_id, new_id)
    assert changed(changes) == {"iron": ("fail", "pass")}
    assert (changes.before.rate, changes.after.rate) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert (len(changes.improved), changes.regressed, changes.unmatched) == (1, (), 0)
    run = store.runs.get(new_id)
    assert (run.parent_run, run.name, run.status, run.done, run.calls) == (
        run_id, "First (re-verified)", "completed", 3, 0,
    )  # fmt: skip
    assert store.results.all(run_id) == stored


def test_unchanged_rules_flip_nothing(store: Store, run_id: str) -> None:
    assert flips(store, run_id, reverify(store, run_id)).flips == ()
    assert preview(store, run_id, elements(), []).before.rate is None


def test_a_stored_benchmark_gives_the_rules_of_today(store: Store) -> None:
    benchmark = small_benchmark(1)
    benchmark.add_question("Gold?", "Au", template("Au"), question_id="gold")
    benchmark_id = store.benchmarks.save(benchmark)
    stored = store.runs.create(wanted(benchmark, small_config()), benchmark_id=benchmark_id)
    benchmark.update_template("gold", template("Ag"))
    store.benchmarks.save(benchmark, benchmark_id)
    store.results.save(stored, [plain_result("q1")])
    rules = store.benchmarks.load(benchmark_id).get_template("gold")
    assert store.runs.plan(reverify(store, stored)).benchmark.get_template("gold") == rules
    assert "Ag" in str(rules)


def test_a_changed_question_to_the_judge_waits_for_the_judge(
    store: Store, run_id: str, openai_server: OpenAIServer
) -> None:
    benchmark = elements()
    benchmark.update_template("gold", template("Au", description="The chemical symbol"))
    changes = preview(store, run_id, benchmark)
    assert [key.question_id for key in changes.waiting] == ["gold"]
    assert changed(changes) == {"gold": ("pass", "not_evaluated")}
    new_id = reverify(store, run_id, benchmark)
    (waiting,) = store.results.all(new_id, status="skipped")
    assert waiting.failure is not None
    assert "judge is needed again" in waiting.failure.reason
    assert "1 row needs a model again" in store.runs.get(new_id).note
    asked = len(openai_server.requests)
    with Engine(store) as engine:
        engine.resume(new_id, config_for(openai_server))
        assert engine.wait(new_id, PATIENCE).passed == 1
    assert len(openai_server.requests) == asked + 1


def test_questions_that_are_gone_are_left_out_by_name(store: Store, run_id: str) -> None:
    benchmark = elements()
    benchmark.remove_question("neon")
    new_id = reverify(store, run_id, benchmark)
    run = store.runs.get(new_id)
    assert (run.total, run.done, run.note) == (2, 2, "Left out: 1 question not in this benchmark.")
    assert flips(store, run_id, new_id).unmatched == 1


def test_a_preview_tells_what_saving_does_and_stores_nothing(store: Store, run_id: str) -> None:
    benchmark = elements()
    benchmark.update_template("iron", template("Fe", ("lowercase",)))
    benchmark.update_template("gold", template("Ag"))
    expected = preview(store, run_id, benchmark)
    assert changed(expected) == {"gold": ("pass", "fail"), "iron": ("fail", "pass")}
    assert changed(preview(store, run_id, benchmark, ["gold"])) == {"gold": ("pass", "fail")}
    assert len(store.runs.all()) == 1
    done = flips(store, run_id, reverify(store, run_id, benchmark))
    assert (done.flips, done.before, done.after) == (expected.flips, expected.before, expected.after)


def test_a_demo_run_without_embeddings_keeps_every_verdict_under_its_own_rules(store: Store) -> None:
    from karenina_core.demo import demo_benchmark, demo_config

    config = demo_config().model_copy(update={"embedding_check_enabled": False})
    run_id = str(run_verification(demo_benchmark(), config, store=store).run_id)
    changes = preview(store, run_id, demo_benchmark())
    assert (changes.flips, changes.waiting, changes.before) == ((), (), changes.after)


def test_a_revision_that_cannot_be_stored_leaves_nothing_behind(
    store: Store, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(store.results, "save", full)
    with pytest.raises(StoreError):
        reverify(store, run_id)
    assert [run.id for run in store.runs.all()] == [run_id]


def test_an_unknown_run_is_named(store: Store, run_id: str) -> None:
    with pytest.raises(InputError, match="'nothing'"):
        flips(store, run_id, "nothing")
    with pytest.raises(InputError, match="'nothing'"):
        reverify(store, "nothing")


def test_every_revision_knows_all_revisions_and_deleted_ones_are_left_out(store: Store, run_id: str) -> None:
    second = reverify(store, run_id, elements())
    third = reverify(store, second, elements())
    store.runs.create(wanted(elements(), small_config()), "Somebody else's")
    for one in (run_id, second, third):
        assert [item.run.id for item in revisions(store, one)] == [run_id, second, third]
    names = [(item.number, item.run.name) for item in revisions(store, run_id)]
    assert names == [(1, "First"), (2, "First (re-verified)"), (3, "First (re-verified 2)")]
    store.runs.delete(second)
    assert [item.run.id for item in revisions(store, run_id)] == [run_id]


def test_changed_templates_are_shown_line_by_line_and_counted(
    store: Store, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = elements()
    assert template_differences(store, run_id, reverify(store, run_id, benchmark)) == ({}, 0)
    for question in ("iron", "gold"):
        benchmark.update_template(question, template("Fe", ("lowercase",)))
    monkeypatch.setattr("karenina_core.runs.reverification.MOST_TEMPLATES", 1)
    changes = template_differences(store, run_id, reverify(store, run_id, benchmark))
    [difference] = changes.differences.values()
    assert "+" in difference and "lowercase" in difference
    assert changes.total == 2


# Answers to look at


def answered(store: Store, *answers: tuple[str, dict[str, Any] | None], name: str = "Run") -> str:
    """Store a run whose repetitions gave these answers and extractions."""
    plan = wanted(small_benchmark(1), small_config(replicate_count=len(answers)), ["q1"])
    run_id = store.runs.create(plan, name)
    for number, (text, values) in enumerate(answers, 1):
        part = None
        if values is not None:
            field = FieldEvidence(name="reason", expected="It binds", extracted=values.get("reason"), similarity=0.9)
            part = TemplatePart(template_id="t", style="declarative", parsed=values, fields=[field])
        result = plain_result(replicate=number, answer=AnswerPart(text=text), template=part)
        store.results.save(run_id, [result])
    return run_id


def test_answers_of_a_run_come_once_each_and_are_limited(store: Store) -> None:
    run_id = store.runs.create(wanted(small_benchmark(3), small_config(1, 2)))
    texts = {f"q{number}": AnswerPart(text=f"Answer {number}") for number in (1, 2, 3)}
    store.results.save(
        run_id, [plain_result(q, parsing_model=f"lab/judge-{n}", answer=texts[q]) for q in texts for n in (1, 2)]
    )
    assert [answer.sample.response for answer in run_answers(store, run_id).answers] == [
        "Answer 1",
        "Answer 2",
        "Answer 3",
    ]
    cut = run_answers(store, run_id, ["q2", "q3"], most=1)
    assert ([answer.sample.question_id for answer in cut.answers], cut.cut) == (["q2"], True)


def test_answers_come_with_what_was_extracted_and_where_from(store: Store) -> None:
    run_id = answered(store, ("It binds BCL2.", {"reason": "it binds"}))
    [found] = stored_answers(store, "q1")
    assert (found.run.id, found.run.name, found.response) == (run_id, "Run", "It binds BCL2.")
    assert found.values == {"reason": "it binds"}
    assert store.results.get(run_id, found.result.result_id).answer == AnswerPart(text="It binds BCL2.")


def test_a_similarity_counts_for_the_truth_it_was_computed_with(store: Store) -> None:
    answered(store, ("It binds BCL2.", {"reason": "it binds"}))
    [found] = stored_answers(store, "q1")
    known = found.known_to(SEMANTIC)
    assert known is not None and known.similarities == {"reason": 0.9}
    [field] = SEMANTIC.fields
    other = SEMANTIC.model_copy(update={"fields": [field.model_copy(update={"ground_truth": "It frees"})]})
    known = found.known_to(other)
    assert known is not None and known.similarities == {}


def test_an_answer_that_no_judge_was_asked_everything_about_is_not_usable(store: Store) -> None:
    answered(store, ("It binds.", None), ("It binds too.", {"gene": "BCL2"}))
    assert [answer.known_to(SEMANTIC) for answer in stored_answers(store, "q1")] == [None, None]


def test_the_newest_run_comes_first_and_the_number_is_limited(store: Store) -> None:
    answered(store, ("Old", None), name="Old")
    answered(store, ("New", None), ("New too", None), name="New")
    assert [answer.response for answer in stored_answers(store, "q1")] == ["New", "New too", "Old"]
    assert [answer.response for answer in stored_answers(store, "q1", most=1)] == ["New"]
    assert stored_answers(store, "q2") == []


def test_a_re_verified_run_adds_no_answers(store: Store, run_id: str) -> None:
    before = stored_answers(store, "gold")
    reverify(store, run_id, elements())
    [after] = stored_answers(store, "gold")
    assert len(before) == 1
    assert (after.response, after.values) == (before[0].response, before[0].values)
