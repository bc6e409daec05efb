"""One more trait for answers that are stored already, and for one response."""

from __future__ import annotations

import pytest

from karenina_core.errors import ConfigError, InputError, KareninaError, StoreError
from karenina_core.models import KeySource, Price
from karenina_core.pipeline import Sample
from karenina_core.runs import (
    Engine,
    Scorer,
    Scoring,
    ScoringProgress,
    Store,
    added_traits,
    estimate_scoring,
    estimate_trial,
    try_trait,
)
from karenina_core.runs.prices import price_name
from karenina_core.runs.store.runs import new_owner
from karenina_core.schemas import (
    AnyTrait,
    ManualRubricTrait,
    MetricRubricTrait,
    ModelConfig,
    Rubric,
    RubricPart,
    RubricTrait,
    StoredTrait,
)
from tests.faults.openai_server import OpenAIServer, Reply, failing
from tests.runs.fakes import PATIENCE, full_result, plain_result, stored_scores
from tests.runs.scored import CLARITY, assessing, finished_run, judge

PATTERN = ManualRubricTrait(name="Says q1", pattern="q1")
ITEMS = MetricRubricTrait(name="Items", metrics=["precision", "recall"], tp_instructions=["gold", "iron"])
COST = 11 * 0.01 + 7 * 0.1


@pytest.fixture
def model(openai_server: OpenAIServer) -> ModelConfig:
    return judge(openai_server)


@pytest.fixture
def run_id(store: Store, model: ModelConfig) -> str:
    return finished_run(store, [model])


def score_run(store: Store, scoring: Scoring, keys: KeySource | None = None) -> ScoringProgress:
    with Engine(store) as engine:
        scorer = Scorer(engine)
        scorer.start(scoring, keys)
        return scorer.wait(scoring.run_id, PATIENCE)


def scores(store: Store, run_id: str) -> list[int | bool | None]:
    return [result.rubric.scores.get("Clarity") for result in store.results.all(run_id)]


def test_only_the_judge_is_asked_and_results_gain_the_trait(
    store: Store, run_id: str, openai_server: OpenAIServer
) -> None:
    seen = score_run(store, Scoring(run_id, CLARITY))
    assert (seen.status, seen.total, seen.scored, seen.failed) == ("completed", 3, 3, 0)
    assert scores(store, run_id) == [4, 4, 4]
    assert {request["model"] for request in openai_server.requests} == {"judge"}
    assert [row["value"] for row in stored_scores(store, run_id)] == [4.0, 4.0, 4.0]
    assert added_traits(store, run_id) == [CLARITY]
    assert store.results.all(run_id)[0].rubric.reasons == {"Clarity": "Because."}


def test_verdicts_evidence_and_earlier_traits_stay(store: Store, model: ModelConfig) -> None:
    run_id = finished_run(store, [model], questions=1)
    before = full_result("q1", answering="lab/model-1", parsing="judge").model_copy(
        update={"rubric": RubricPart(performed=True, scores={"Polite": True}, errors={"Depth": "No value."})}
    )
    store.results.save(run_id, [before])
    counts = store.runs.get(run_id)
    score_run(store, Scoring(run_id, CLARITY))
    after = store.results.all(run_id)[0]
    assert (after.verdict, after.template, after.answer) == (before.verdict, before.template, before.answer)
    assert after.rubric.scores == {"Polite": True, "Clarity": 4}
    assert after.rubric.errors == {"Depth": "No value."}
    assert after.warnings == ["The trait 'Clarity' was scored after the run."]
    assert (store.runs.get(run_id).passed, store.runs.get(run_id).done) == (counts.passed, counts.done)


def test_nothing_is_asked_twice(store: Store, run_id: str, openai_server: OpenAIServer) -> None:
    score_run(store, Scoring(run_id, CLARITY))
    again = score_run(store, Scoring(run_id, CLARITY))
    assert (again.total, again.calls) == (0, 0)
    store.results.save(
        run_id, [result.model_copy(update={"rubric": RubricPart()}) for result in store.results.all(run_id)]
    )
    once_more = score_run(store, Scoring(run_id, CLARITY))
    assert (once_more.scored, once_more.cached) == (3, 3)
    assert len(openai_server.requests) == 3


def test_patterns_need_no_judge(store: Store, run_id: str, openai_server: OpenAIServer) -> None:
    seen = score_run(store, Scoring(run_id, PATTERN))
    assert (seen.scored, seen.calls) == (3, 0)
    assert estimate_scoring(store, Scoring(run_id, PATTERN)) is None
    assert [result.rubric.regex["Says q1"] for result in store.results.all(run_id)] == [True, False, False]
    assert openai_server.requests == []


def test_metric_traits_are_counted_from_the_judges_list(store: Store, run_id: str) -> None:
    score_run(store, Scoring(run_id, ITEMS))
    part = store.results.all(run_id)[0].rubric
    assert part.metrics["Items"] == {"precision": 1.0, "recall": 0.5}
    assert (part.confusion["Items"].tp, part.confusion["Items"].fn) == (["gold"], ["iron"])


def test_only_the_answers_to_one_question(store: Store, run_id: str) -> None:
    seen = score_run(store, Scoring(run_id, CLARITY, question_ids=("q2",)))
    assert seen.total == 1
    assert scores(store, run_id) == [None, 4, None]
    assert store.results.all(run_id)[1].rubric.provenance == {"Clarity": "question_specific"}


def test_another_judge_may_be_chosen_and_is_named(store: Store, openai_server: OpenAIServer) -> None:
    run_id = finished_run(store, [judge(openai_server, "one"), judge(openai_server, "two")], questions=1)
    score_run(store, Scoring(run_id, CLARITY, judge=judge(openai_server, "third")))
    assert scores(store, run_id) == [4, 4]
    assert len(openai_server.requests) == 1, "both rows share the call"
    assert "was scored after the run by third." in store.results.all(run_id)[0].warnings[0]


def test_every_row_is_assessed_by_its_own_judge_otherwise(store: Store, openai_server: OpenAIServer) -> None:
    run_id = finished_run(store, [judge(openai_server, "one"), judge(openai_server, "two")], questions=1)
    score_run(store, Scoring(run_id, CLARITY))
    assert sorted(request["model"] for request in openai_server.requests) == ["one", "two"]


def test_rows_without_an_answer_are_left_out(store: Store, model: ModelConfig) -> None:
    run_id = finished_run(store, [model])
    store.results.save(run_id, [plain_result("q2", parsing="judge")])
    seen = score_run(store, Scoring(run_id, CLARITY))
    assert (seen.scored, seen.left_out, seen.done) == (2, 1, 3)


def test_a_judge_that_fails_leaves_an_error_that_is_tried_again(
    store: Store, run_id: str, openai_server: OpenAIServer
) -> None:
    openai_server.script = lambda sent: failing(400, "No such thing.")
    seen = score_run(store, Scoring(run_id, CLARITY))
    assert (seen.status, seen.failed) == ("completed", 3)
    assert "No such thing." in seen.message
    assert "No such thing." in store.results.all(run_id)[0].rubric.errors["Clarity"]
    openai_server.script = assessing
    assert score_run(store, Scoring(run_id, CLARITY)).scored == 3
    assert store.results.all(run_id)[0].rubric.errors == {}


def test_money_that_is_spent_stops_it_and_more_money_goes_on(
    store: Store, run_id: str, model: ModelConfig, openai_server: OpenAIServer
) -> None:
    store.settings.set_prices({price_name(model): Price(0.01, 0.1)})
    seen = score_run(store, Scoring(run_id, CLARITY, max_cost=2 * COST - 0.01, max_concurrent=1))
    assert (seen.status, seen.scored, seen.failed) == ("stopped", 2, 0)
    assert "scoring has spent $1.62 of at most $1.61" in seen.message
    assert store.spending.today() == pytest.approx(2 * COST)
    assert store.runs.get(run_id).cost == pytest.approx(2 * COST)
    assert score_run(store, Scoring(run_id, CLARITY)).scored == 1
    assert len(openai_server.requests) == 3


def test_a_cancelled_scoring_keeps_what_it_has(store: Store, run_id: str, openai_server: OpenAIServer) -> None:
    replies = iter([Reply('{"reason": "", "value": 2}')])
    openai_server.script = lambda sent: next(replies, Reply(fault="hang"))
    with Engine(store) as engine:
        scorer = Scorer(engine)
        scorer.start(Scoring(run_id, CLARITY, max_concurrent=1))
        for _ in range(PATIENCE * 20):
            if scorer.wait(run_id, 0.05).done:
                break
        scorer.cancel(run_id)
        seen = scorer.progress(run_id)
    assert seen is not None
    assert (seen.status, seen.scored) == ("cancelled", 1)
    openai_server.script = assessing
    assert score_run(store, Scoring(run_id, CLARITY)).scored == 2
    assert scores(store, run_id) == [2, 4, 4]


def test_another_trait_of_that_name_is_refused(store: Store, run_id: str) -> None:
    score_run(store, Scoring(run_id, CLARITY))
    other = RubricTrait(name="Clarity", description="Something else")
    with pytest.raises(InputError, match="values of another trait named 'Clarity'"):
        score_run(store, Scoring(run_id, other))
    assert added_traits(store, run_id) == [CLARITY]


def test_a_trait_of_the_runs_own_benchmark_is_known_by_its_definition(store: Store, model: ModelConfig) -> None:
    scored = RubricPart(performed=True, scores={"Clarity": 1})
    run_id = finished_run(store, [model], 2, Rubric(traits=[CLARITY]), rubric_part=scored)
    with pytest.raises(InputError, match="another trait"):
        score_run(store, Scoring(run_id, CLARITY.model_copy(update={"max_score": 9})))
    assert score_run(store, Scoring(run_id, CLARITY)).total == 0


@pytest.mark.parametrize(
    ("trait", "judge", "message"),
    [
        (CLARITY, ModelConfig(interface="manual", manual_traces={"q1": "x"}), "cannot be asked"),
        (CLARITY, ModelConfig.parse("recorded:demo/judge"), "would say the same again"),
        (StoredTrait(name="Old", kind="callable", rating={}), None, "not evaluated"),
    ],
    ids=["prepared answers", "recording", "trait that is only kept"],
)
def test_what_cannot_be_scored_is_refused(
    store: Store, run_id: str, trait: AnyTrait, judge: ModelConfig | None, message: str
) -> None:
    with pytest.raises(KareninaError, match=message):
        score_run(store, Scoring(run_id, trait, judge=judge))


def test_a_run_that_somebody_works_on_is_left_alone(store: Store, run_id: str) -> None:
    assert store.runs.claim(run_id, new_owner())
    with pytest.raises(StoreError, match="being worked on"):
        score_run(store, Scoring(run_id, CLARITY))


def test_a_run_under_way_is_refused(store: Store, run_id: str) -> None:
    store.runs.set_status(run_id, "running")
    store.runs.claim(run_id, "elsewhere/1/a")
    with pytest.raises(InputError, match="under way"):
        score_run(store, Scoring(run_id, CLARITY))


def test_the_estimate_counts_what_is_not_known_and_shared_calls_once(store: Store, openai_server: OpenAIServer) -> None:
    run_id = finished_run(store, [judge(openai_server, "one"), judge(openai_server, "two")])
    shared = Scoring(run_id, CLARITY, judge=judge(openai_server, "third"))
    found = estimate_scoring(store, shared)
    assert found is not None
    assert (found.calls, found.cached) == (3, 0)
    assert openai_server.requests == []
    score_run(store, Scoring(run_id, CLARITY, question_ids=("q1",), judge=shared.judge))
    store.results.save(
        run_id, [result.model_copy(update={"rubric": RubricPart()}) for result in store.results.all(run_id)]
    )
    again = estimate_scoring(store, shared)
    assert again is not None
    assert (again.calls, again.cached) == (2, 1)


def test_a_key_of_the_session_reaches_the_judge(
    store: Store, run_id: str, model: ModelConfig, openai_server: OpenAIServer
) -> None:
    keyed = model.model_copy(update={"api_key_env": "OWN_API_KEY"})
    score_run(store, Scoring(run_id, CLARITY, judge=keyed), {"OWN_API_KEY": "sk-of-this-session"}.get)
    assert openai_server.headers[0]["Authorization"] == "Bearer sk-of-this-session"


# One response


SAMPLE = Sample("Which metal?", "It is gold.")


@pytest.fixture
def priced(store: Store, model: ModelConfig) -> ModelConfig:
    """Every call costs 81 cents."""
    store.settings.set_prices({price_name(model): Price(0.01, 0.1)})
    return model


def test_the_outcome_comes_with_its_call(store: Store, priced: ModelConfig) -> None:
    part = try_trait(store, CLARITY, SAMPLE, priced)
    assert (part.scores, len(part.calls)) == ({"Clarity": 4}, 1)


def test_it_keeps_to_the_budget_of_the_day(
    store: Store, priced: ModelConfig, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARENINA_DAILY_BUDGET", "0.5")
    try_trait(store, CLARITY, SAMPLE, priced)
    part = try_trait(store, CLARITY, Sample("Which metal?", "It is iron."), priced)
    assert "today" in part.errors["Clarity"]
    assert len(openai_server.requests) == 1


def test_patterns_take_nothing(store: Store, priced: ModelConfig, openai_server: OpenAIServer) -> None:
    trait = ManualRubricTrait(name="Gold", pattern="gold")
    assert estimate_trial(store, trait, SAMPLE, priced) is None
    assert try_trait(store, trait, SAMPLE).regex == {"Gold": True}
    assert openai_server.requests == []


def test_a_judge_has_to_be_one_that_can_be_asked(store: Store) -> None:
    with pytest.raises(ConfigError, match="needs a judge"):
        try_trait(store, CLARITY, SAMPLE)
    with pytest.raises(ConfigError, match="cannot judge"):
        try_trait(store, CLARITY, SAMPLE, ModelConfig(interface="manual"))
