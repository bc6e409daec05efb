"""Drafting in the background: saved as it comes, never over somebody else's work, and taken back as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from karenina_core.authoring import REVIEW_PROPERTY
from karenina_core.benchmark import Benchmark
from karenina_core.errors import ConfigError, InputError, StoreError
from karenina_core.pipeline import GeneratedTemplate
from karenina_core.runs import (
    DraftBatch,
    Drafter,
    Engine,
    Store,
    clean_drafts,
    estimate_templates,
    generate_all_templates,
    undo_drafts,
)
from karenina_core.runs.drafting import CHANGED, OVERTAKEN, _store_batch, save_drafts, stored_batch
from karenina_core.schemas import ModelConfig
from tests.app.samples import TEMPLATE
from tests.faults.openai_server import OpenAIServer, Reply
from tests.runs.drafts import COST, SENTENCE, drafter_at, priced, proposal, untemplated_benchmark


@pytest.fixture
def drafter(store: Store) -> Iterator[Drafter]:
    with Engine(store) as engine, Drafter(engine) as opened:
        yield opened


@pytest.fixture
def benchmark_id(store: Store) -> str:
    return store.benchmarks.save(untemplated_benchmark())


def drafted(drafter: Drafter, benchmark_id: str, *arguments: Any, **options: Any) -> DraftBatch:
    drafter.start(benchmark_id, *arguments, **options)
    batch = drafter.wait(benchmark_id, timeout=30)
    assert batch is not None and not batch.active
    return batch


def states(batch: DraftBatch) -> dict[str, str]:
    return {outcome.question_id: outcome.state for outcome in batch.outcomes}


def contents(store: Store, benchmark_id: str) -> list[tuple[Any, ...]]:
    questions = store.benchmarks.load(benchmark_id).get_all_questions()
    return [(question.answer_template, question.finished, question.custom_metadata) for question in questions]


@pytest.fixture
def model(store: Store, openai_server: OpenAIServer) -> ModelConfig:
    return priced(store, drafter_at(openai_server, proposal()))


def test_rules_draft_what_they_can_and_say_what_they_cannot(store: Store, drafter: Drafter, benchmark_id: str) -> None:
    batch = drafted(drafter, benchmark_id)
    assert states(batch) == {"name": "checked", "number": "needs_review", "sentence": "none"}
    assert "a sentence or more" in batch.of("none")[0].why
    saved = store.benchmarks.load(benchmark_id)
    assert saved.has_template("name") and not saved.has_template("sentence")
    assert saved.get_template("own") == TEMPLATE


def test_what_needs_review_says_why_in_the_benchmark(store: Store, drafter: Drafter, benchmark_id: str) -> None:
    [outcome] = drafted(drafter, benchmark_id).of("needs_review")
    said = store.benchmarks.load(benchmark_id).get_question_custom_property("number", REVIEW_PROPERTY)
    assert said == "\n".join(outcome.reasons)


def test_a_template_is_replaced_only_when_asked_for(store: Store, drafter: Drafter, benchmark_id: str) -> None:
    batch = drafted(drafter, benchmark_id, question_ids=["own"], replace_existing=True)
    assert states(batch) == {"own": "checked"}
    assert store.benchmarks.load(benchmark_id).get_template("own") != TEMPLATE


def test_a_batch_is_taken_back_as_a_whole(store: Store, drafter: Drafter, benchmark_id: str) -> None:
    before = contents(store, benchmark_id)
    batch = drafted(drafter, benchmark_id, replace_existing=True)
    assert contents(store, benchmark_id) != before
    assert undo_drafts(store, benchmark_id, batch.outcomes) == (3, 0)
    assert contents(store, benchmark_id) == before


def test_a_template_edited_since_is_not_taken_back(store: Store, drafter: Drafter, benchmark_id: str) -> None:
    batch = drafted(drafter, benchmark_id)
    edited = store.benchmarks.load(benchmark_id)
    edited.add_answer_template("name", TEMPLATE)
    store.benchmarks.save(edited, benchmark_id)
    assert undo_drafts(store, benchmark_id, batch.outcomes) == (1, 1)
    assert store.benchmarks.load(benchmark_id).get_template("name") == TEMPLATE


def test_only_clean_drafts_may_be_finished_in_one_go(store: Store, drafter: Drafter, benchmark_id: str) -> None:
    batch = drafted(drafter, benchmark_id)
    benchmark = store.benchmarks.load(benchmark_id)
    assert clean_drafts(benchmark, batch.outcomes) == ["name"]
    benchmark.mark_finished("name")
    assert clean_drafts(benchmark, batch.outcomes) == []


@pytest.mark.parametrize(
    ("edit", "why"), [({"raw_answer": "BCL-XL"}, CHANGED), ({"answer_template": TEMPLATE}, OVERTAKEN)]
)
def test_what_was_changed_meanwhile_is_left_alone(
    store: Store, benchmark_id: str, edit: dict[str, str], why: str
) -> None:
    changed = store.benchmarks.load(benchmark_id)
    old = changed.get_question("name")
    changed.edit_question("name", keep_id=True, **edit)
    store.benchmarks.save(changed, benchmark_id)
    [outcome] = save_drafts(store, benchmark_id, [(old, GeneratedTemplate("name", TEMPLATE + "\n# another\n"))])
    assert (outcome.state, outcome.why) == ("none", why)
    assert store.benchmarks.load(benchmark_id).get_template("name") == edit.get("answer_template")


def test_a_batch_is_remembered_and_told_apart_from_one_whose_process_died(store: Store, benchmark_id: str) -> None:
    _store_batch(store, DraftBatch(benchmark_id, None, "running", 4))
    found = stored_batch(store, benchmark_id)
    assert found is not None and (found.status, found.total) == ("interrupted", 4)


def test_a_model_drafts_within_the_account_of_the_day(
    store: Store, drafter: Drafter, benchmark_id: str, model: ModelConfig
) -> None:
    batch = drafted(drafter, benchmark_id, model)
    assert states(batch)["name"] == "checked"
    assert batch.of("checked")[0].why == "It must name the protein."
    assert batch.calls == 3
    assert batch.cost == pytest.approx(3 * (11 * 0.01 + 7 * 0.1)) == store.spending.today()


def test_what_failed_is_tried_again_and_joins_the_batch(
    store: Store, drafter: Drafter, benchmark_id: str, model: ModelConfig, openai_server: OpenAIServer
) -> None:
    def breaks(sent: dict[str, Any]) -> Reply:
        return Reply("no", status=400) if "How does it work" in json.dumps(sent) else Reply(proposal())

    openai_server.script = breaks
    first = drafted(drafter, benchmark_id, model)
    assert first.failed == ["sentence"]
    openai_server.script = lambda sent: Reply(proposal(SENTENCE))
    second = drafted(drafter, benchmark_id, model, question_ids=first.failed, continues=True)
    assert list(states(second)) == ["name", "number", "sentence"]
    assert second.failed == []
    assert undo_drafts(store, benchmark_id, second.outcomes) == (3, 0)


def test_cancelling_stops_the_calls_and_keeps_what_is_there(
    store: Store, drafter: Drafter, benchmark_id: str, model: ModelConfig, openai_server: OpenAIServer
) -> None:
    openai_server.script = lambda sent: Reply(
        proposal(),
        fault="" if "venetoclax" in json.dumps(sent) else "hang",  # type: ignore[arg-type]
    )
    drafter.start(benchmark_id, model)
    while (batch := drafter.batch(benchmark_id)) is not None and not batch.done:
        assert batch.active
    drafter.cancel(benchmark_id)
    ended = drafter.batch(benchmark_id)
    assert ended is not None and (ended.status, states(ended)) == ("cancelled", {"name": "checked"})
    assert store.benchmarks.load(benchmark_id).has_template("name")


def test_there_is_one_batch_of_a_benchmark_at_a_time(
    drafter: Drafter, benchmark_id: str, model: ModelConfig, openai_server: OpenAIServer
) -> None:
    openai_server.script = lambda sent: Reply("", fault="hang")
    drafter.start(benchmark_id, model)
    with pytest.raises(InputError, match="being drafted already"):
        drafter.start(benchmark_id)
    drafter.cancel(benchmark_id)


def test_a_draft_made_alone_leaves_the_batch_as_it_is(store: Store, drafter: Drafter, benchmark_id: str) -> None:
    drafted(drafter, benchmark_id, question_ids=["name"])
    drafter.start(benchmark_id, question_ids=["number"], alone=True)
    alone = drafter.wait(benchmark_id, "number", timeout=30)
    assert alone is not None and states(alone) == {"number": "needs_review"}
    kept = drafter.batch(benchmark_id)
    assert kept is not None and states(kept) == {"name": "checked"}


def test_a_model_that_cannot_be_asked_is_refused_before_anything_begins(drafter: Drafter, benchmark_id: str) -> None:
    with pytest.raises(ConfigError, match="no model file"):
        drafter.start(benchmark_id, ModelConfig(interface="local", model_name="nowhere.gguf"))
    assert drafter.batch(benchmark_id) is None


def test_the_history_names_who_had_the_templates_drafted(store: Store, drafter: Drafter, benchmark_id: str) -> None:
    drafter.start(benchmark_id, question_ids=["name"], author="ada@example.org")
    batch = drafter.wait(benchmark_id)
    assert batch is not None
    assert store.benchmarks.versions(benchmark_id, "name")[0].author == "ada@example.org"
    undo_drafts(store, benchmark_id, batch.outcomes, author="bob@example.org")
    assert store.benchmarks.versions(benchmark_id, "name")[0].author == "bob@example.org"


def test_a_batch_of_an_earlier_version_is_read(store: Store, drafter: Drafter, benchmark_id: str) -> None:
    drafted(drafter, benchmark_id, question_ids=["name"])
    name = f"drafting/{benchmark_id}"
    kept = store.settings.get(name)
    assert kept is not None
    kept["outcomes"][0]["state"] = "ready"
    store.settings.set(name, kept)
    batch = stored_batch(store, benchmark_id)
    assert batch is not None and states(batch) == {"name": "checked"}


def test_a_question_named_twice_is_drafted_once(store: Store, drafter: Drafter, benchmark_id: str) -> None:
    batch = drafted(drafter, benchmark_id, question_ids=["name", "name"])
    assert (batch.total, [outcome.question_id for outcome in batch.outcomes]) == (1, ["name"])


def test_drafts_are_saved_beside_somebody_who_saves_all_the_time(
    store: Store, drafter: Drafter, benchmark_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, others = store.benchmarks.save, iter(range(8))

    def late(benchmark: Benchmark, name: str | None = None, **more: Any) -> str:
        if next(others, None) is not None:
            save(store.benchmarks.load(benchmark_id), benchmark_id)
        return save(benchmark, name, **more)

    monkeypatch.setattr(store.benchmarks, "save", late)
    batch = drafted(drafter, benchmark_id, question_ids=["name"])
    assert (batch.status, states(batch)) == ("completed", {"name": "checked"})


def test_a_batch_that_cannot_be_saved_says_why_also_later(
    store: Store, drafter: Drafter, benchmark_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: Any, **more: Any) -> str:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(store.benchmarks, "save", refused)
    drafter.start(benchmark_id, question_ids=["name"])
    drafter.wait(benchmark_id)
    kept = stored_batch(store, benchmark_id)
    assert kept is not None and (kept.status, kept.message) == ("failed", "The disk is full.")


def test_a_batch_of_a_later_version_is_passed_over(store: Store, benchmark_id: str) -> None:
    store.settings.set(f"drafting/{benchmark_id}", {"status": "resting"})
    assert stored_batch(store, benchmark_id) is None


# In one call


SYMBOL = proposal("Au", "The symbol that is named", "symbol")


@pytest.fixture
def symbol_model(openai_server: OpenAIServer) -> ModelConfig:
    return drafter_at(openai_server, SYMBOL)


@pytest.fixture
def priced_model(store: Store, symbol_model: ModelConfig) -> ModelConfig:
    return priced(store, symbol_model)


def untemplated(questions: int = 4) -> Benchmark:
    benchmark = Benchmark.create("Symbols")
    for number in range(questions):
        benchmark.add_question(f"Which symbol has element {number}?", "Au", question_id=f"q{number}")
    return benchmark


def test_every_question_gets_a_template_and_the_day_its_account(store: Store, priced_model: ModelConfig) -> None:
    benchmark = untemplated()
    made = generate_all_templates(benchmark, priced_model, store=store)
    assert all(item.success for item in made.values())
    assert all(benchmark.has_template(name) for name in made)
    assert store.spending.today() == pytest.approx(4 * COST)


def test_drafting_stops_at_its_limit_and_keeps_what_it_has(store: Store, priced_model: ModelConfig) -> None:
    benchmark = untemplated()
    made = generate_all_templates(benchmark, priced_model, store=store, max_cost=2 * COST - 0.01, max_concurrent=1)
    assert [item.success for item in made.values()] == [True, True, False, False]
    assert "drafting has spent $1.62 of at most $1.61" in str(made["q2"].error)


def test_benchmarks_draft_within_the_budget_themselves(priced_model: ModelConfig, openai_server: OpenAIServer) -> None:
    made = untemplated(1).generate_all_templates(priced_model, max_cost=5.0)
    assert made["q0"].success


def test_the_estimate_counts_what_would_be_asked(store: Store, priced_model: ModelConfig) -> None:
    benchmark = untemplated()
    before = estimate_templates(benchmark, priced_model, store=store)
    assert before is not None
    assert (before.calls, before.cached) == (4, 0)
    generate_all_templates(benchmark, priced_model, store=store, question_ids=["q0", "q1", "q2"])
    one = estimate_templates(benchmark, priced_model, store=store)
    again = estimate_templates(benchmark, priced_model, store=store, force_regenerate=True)
    assert one is not None and again is not None
    assert (one.calls, one.cached, one.low) == (1, 0, pytest.approx(COST))
    assert (again.calls, again.cached) == (1, 3)


def test_a_model_on_this_computer_costs_nothing() -> None:
    assert estimate_templates(untemplated(), ModelConfig(interface="local")) is None
