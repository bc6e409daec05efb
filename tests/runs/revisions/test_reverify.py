from __future__ import annotations

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, StoreError
from karenina_core.runs import Engine, FlipList, Store, flips, preview, reverify, run_verification
from tests.faults.openai_server import OpenAIServer
from tests.runs.elements import config_for, elements, extraction, template
from tests.runs.fakes import PATIENCE


@pytest.fixture
def run_id(store: Store, openai_server: OpenAIServer) -> str:
    """A run in which gold passes, iron fails because of its case, and neon is wrong."""
    openai_server.script = extraction
    return str(run_verification(elements(), config_for(openai_server), run_name="First", store=store).run_id)


def changed(changes: FlipList) -> dict[str, tuple[str, str]]:
    return {flip.key.question_id: (flip.before, flip.after) for flip in changes.flips}


def test_a_relaxed_rule_flips_verdicts_without_any_call(store: Store, run_id: str, openai_server: OpenAIServer) -> None:
    benchmark = elements()
    benchmark.update_template("iron", template("Fe", ("lowercase",)))
    asked = len(openai_server.requests)
    new_id = reverify(store, run_id, benchmark)
    assert len(openai_server.requests) == asked
    changes = flips(store, run_id, new_id)
    assert changed(changes) == {"iron": ("fail", "pass")}
    assert (changes.before.rate, changes.after.rate) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert (len(changes.improved), changes.regressed, changes.unmatched) == (1, (), 0)


def test_the_revision_knows_its_parent_and_the_parent_stays(store: Store, run_id: str) -> None:
    before = store.results.all(run_id)
    run = store.runs.get(reverify(store, run_id, elements()))
    assert (run.parent_run, run.name, run.status, run.done, run.calls) == (
        run_id,
        "First (re-verified)",
        "completed",
        3,
        0,
    )
    assert store.results.all(run_id) == before


def test_unchanged_rules_flip_nothing(store: Store, run_id: str) -> None:
    assert flips(store, run_id, reverify(store, run_id)).flips == ()


def test_a_stored_benchmark_gives_the_rules_of_today(store: Store, openai_server: OpenAIServer) -> None:
    from karenina_core.runs import wanted

    openai_server.script = extraction
    benchmark_id = store.benchmarks.save(elements())
    config = config_for(openai_server)
    run_id = store.runs.create(wanted(elements(), config), benchmark_id=benchmark_id)
    with Engine(store) as runner:
        runner.start(run_id, config)
        runner.wait(run_id, PATIENCE)
    edited = elements()
    edited.update_template("gold", template("Ag"))
    store.benchmarks.save(edited, benchmark_id)
    assert changed(flips(store, run_id, reverify(store, run_id))) == {"gold": ("pass", "fail")}


def test_a_changed_question_to_the_judge_waits_for_the_judge(
    store: Store, run_id: str, openai_server: OpenAIServer
) -> None:
    benchmark = elements()
    benchmark.update_template("gold", template("Au", description="The chemical symbol"))
    new_id = reverify(store, run_id, benchmark)
    (waiting,) = store.results.all(new_id, status="skipped")
    assert waiting.failure is not None
    assert "judge is needed again" in waiting.failure.reason
    assert "1 row needs a model again" in store.runs.get(new_id).note
    asked = len(openai_server.requests)
    with Engine(store) as runner:
        runner.resume(new_id, config_for(openai_server))
        assert runner.wait(new_id, PATIENCE).passed == 1
    assert len(openai_server.requests) == asked + 1


def test_questions_that_are_gone_are_left_out_and_said(store: Store, run_id: str) -> None:
    benchmark = elements()
    benchmark.remove_question("neon")
    new_id = reverify(store, run_id, benchmark)
    run = store.runs.get(new_id)
    assert (run.total, run.done, run.note) == (2, 2, "Left out: 1 question not in this benchmark.")
    assert flips(store, run_id, new_id).unmatched == 1


def test_a_preview_stores_nothing(store: Store, run_id: str) -> None:
    benchmark = elements()
    benchmark.update_template("iron", template("Fe", ("lowercase",)))
    benchmark.update_template("gold", template("Ag"))
    assert changed(preview(store, run_id, benchmark)) == {"gold": ("pass", "fail"), "iron": ("fail", "pass")}
    assert changed(preview(store, run_id, benchmark, ["gold"])) == {"gold": ("pass", "fail")}
    assert len(store.runs.all()) == 1


def test_a_preview_names_the_rows_that_need_the_judge_again(store: Store, run_id: str) -> None:
    benchmark = elements()
    benchmark.update_template("gold", template("Au", description="The chemical symbol"))
    changes = preview(store, run_id, benchmark)
    assert [key.question_id for key in changes.waiting] == ["gold"]
    assert changed(changes) == {"gold": ("pass", "not_evaluated")}


def test_what_a_preview_tells_is_what_saving_does(store: Store, run_id: str) -> None:
    benchmark = elements()
    benchmark.update_template("iron", template("Fe", ("lowercase",)))
    benchmark.update_template("gold", template("Au", description="The chemical symbol"))
    told = preview(store, run_id, benchmark)
    done = flips(store, run_id, reverify(store, run_id, benchmark))
    assert (done.flips, done.before, done.after) == (told.flips, told.before, told.after)


def test_a_demo_run_without_embeddings_keeps_every_verdict_under_its_own_rules(store: Store) -> None:
    from karenina_core.demo import demo_benchmark, demo_config

    config = demo_config().model_copy(update={"embedding_check_enabled": False})
    run_id = str(run_verification(demo_benchmark(), config, store=store).run_id)
    changes = preview(store, run_id, demo_benchmark())
    assert (changes.flips, changes.waiting, changes.before) == ((), (), changes.after)


def test_a_preview_of_five_thousand_answers_finds_every_flip(store: Store) -> None:
    run_id, benchmark = large_run(store)
    assert len(preview(store, run_id, benchmark).flips) == 5_000


def large_run(store: Store) -> tuple[str, Benchmark]:
    """Five thousand failures with three fields each, and a benchmark whose rules pass them all."""
    from karenina_core.runs import wanted
    from karenina_core.schemas import AnswerPart, CallRecord, TemplatePart
    from karenina_core.templates import FieldSpec, TemplateSpec, read_template, write_template
    from tests.runs.fakes import plain_result, small_config

    def source(normalize: list[str]) -> str:
        rule = {"type": "ExactMatch", "normalize": normalize}
        fields = [FieldSpec(name=n, description="A symbol", ground_truth="Fe", verify_with=rule) for n in "abc"]
        return write_template(TemplateSpec(fields=fields))

    benchmark = elements()
    benchmark.update_template("gold", source([]))
    run_id = store.runs.create(wanted(benchmark, small_config(5, replicate_count=1_000), ["gold"]))
    schema = read_template(source([])).judge_schema()
    call = CallRecord(purpose="parse", model="j", key="k", source="provider", messages=[], schema_sent=schema)
    part = TemplatePart(template_id="t", style="declarative", parsed=dict.fromkeys("abc", "FE"), calls=[call])
    answer = AnswerPart(text="It is FE. " * 50)
    rows = [
        plain_result("gold", f"lab/model-{model}", replicate=number, verdict="fail", answer=answer, template=part)
        for model in range(1, 6)
        for number in range(1, 1_001)
    ]
    for start in range(0, len(rows), 1_000):
        store.results.save(run_id, rows[start : start + 1_000])
    benchmark.update_template("gold", source(["lowercase"]))
    return run_id, benchmark


def test_a_rate_without_evaluated_rows_is_unknown(store: Store, run_id: str) -> None:
    assert preview(store, run_id, elements(), []).before.rate is None


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
