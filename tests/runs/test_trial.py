"""Asking again about a stored result: what is sent, what it costs, and that the run stays as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from karenina_core.errors import ConfigError, InputError
from karenina_core.runs import Store, Trial, carry_out, estimate, pasted, run_verification, trial_plan
from karenina_core.schemas import ModelConfig, VerificationConfig, VerificationResult
from tests.faults.openai_server import OpenAIServer, Reply, failing
from tests.runs.elements import config_for, elements, extraction, template


def both(request: dict[str, Any]) -> Reply:
    """Answer questions, and extract whatever symbol the answer states."""
    text = "\n".join(message["content"] for message in request["messages"])
    if request["model"] == "student":
        return Reply("It is Au." if "precious" in text else "It is FE.")
    return Reply(json.dumps({"value": "Au" if "Au" in text else "Na" if "Na" in text else "FE"}))


@pytest.fixture
def asked(store: Store, openai_server: OpenAIServer) -> VerificationResult:
    """An answer of a provider to the question about gold, which is wrong."""
    openai_server.script = both
    models = {
        name: ModelConfig(id=name, interface="openai_endpoint", model_name=name, endpoint_base_url=openai_server.url)
        for name in ("student", "judge")
    }
    config = VerificationConfig(answering_models=[models["student"]], parsing_models=[models["judge"]])
    results = run_verification(elements(), config, ["gold"], store=store)
    openai_server.requests.clear()
    return results[0]


def run_of(store: Store) -> str:
    return store.runs.all()[0].id


def tried(store: Store, result: VerificationResult, trial: Trial, anew: bool = False) -> VerificationResult:
    return carry_out(store, trial_plan(store, run_of(store), result, trial), result, anew=anew)


def test_another_prompt_is_answered_and_judged(
    store: Store, asked: VerificationResult, openai_server: OpenAIServer
) -> None:
    made = tried(store, asked, Trial(question="Which symbol has the precious metal?", system_prompt="Be brief."))
    assert (asked.verdict, made.verdict, made.raw_llm_response) == ("fail", "pass", "It is Au.")
    assert [request["model"] for request in openai_server.requests] == ["student", "judge"]
    sent = openai_server.requests[0]["messages"]
    assert [(item["role"], item["content"]) for item in sent] == [
        ("system", "Be brief."),
        ("user", "Which symbol has the precious metal?"),
    ]


def test_the_run_stays_as_it_is(store: Store, asked: VerificationResult) -> None:
    before = store.results.all(run_of(store))
    made = tried(store, asked, Trial(question="Which symbol has the precious metal?"))
    assert store.results.all(run_of(store)) == before
    assert (made.result_id, made.run_name) == (asked.result_id, asked.run_name)


def test_a_pasted_answer_is_judged_with_one_call(
    store: Store, asked: VerificationResult, openai_server: OpenAIServer
) -> None:
    assert asked.answer is not None and pasted(asked, asked.answer.text) is asked
    with pytest.raises(InputError, match="empty"):
        pasted(asked, "  ")
    waiting = pasted(asked, "Surely Au.")
    assert (waiting.verdict, waiting.template) == ("not_evaluated", None)
    made = tried(store, waiting, Trial(answer="Surely Au."))
    assert made.verdict == "pass"
    assert [request["model"] for request in openai_server.requests] == ["judge"]
    assert made.answer is not None and made.answer.call is None


def test_judging_the_same_again_is_answered_by_the_ledger_unless_asked_anew(
    store: Store, asked: VerificationResult, openai_server: OpenAIServer
) -> None:
    assert asked.answer is not None
    same = Trial(answer=asked.answer.text)
    assert tried(store, asked, same).verdict == asked.verdict
    assert openai_server.requests == []
    made = tried(store, asked, same, anew=True)
    assert len(openai_server.requests) == 1
    assert made.replicate == asked.replicate
    assert made.answer == asked.answer


def test_another_template_counts(store: Store, asked: VerificationResult) -> None:
    assert asked.answer is not None
    made = tried(store, asked, Trial(answer=asked.answer.text, template=template("fe", ("lowercase",))))
    assert made.verdict == "pass"


def test_what_it_takes_is_told_before(store: Store, asked: VerificationResult) -> None:
    plan = trial_plan(store, run_of(store), asked, Trial(answer="Surely Au."))
    found = estimate(plan, store)
    assert found is not None and (found.calls, found.cached) == (1, 0)
    assert asked.answer is not None
    known = estimate(trial_plan(store, run_of(store), asked, Trial(answer=asked.answer.text)), store)
    assert known is not None and (known.calls, known.cached) == (0, 1)


def test_what_was_spent_counts_for_the_day(
    store: Store, asked: VerificationResult, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from karenina_core.models import Price

    store.settings.set_prices({f"openai/judge at {openai_server.url}": Price(0.5, 0.5)})
    before = store.spending.today()
    tried(store, asked, Trial(answer="Surely Au."))
    assert store.spending.today() > before
    monkeypatch.setenv("KARENINA_DAILY_BUDGET", "0.1")
    made = tried(store, asked, Trial(answer="Surely Na."))
    assert made.failure is not None and made.failure.category == "cancelled"


def test_a_failing_provider_is_part_of_the_result(
    store: Store, asked: VerificationResult, openai_server: OpenAIServer
) -> None:
    openai_server.script = [failing(401)]
    made = tried(store, asked, Trial(answer="Surely Au."))
    assert made.failure is not None and made.failure.category == "authentication"


def test_prepared_answers_cannot_be_asked_anew(store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = extraction
    result = run_verification(elements(), config_for(openai_server), ["gold"], store=store)[0]
    with pytest.raises(ConfigError, match="prepared answers"):
        trial_plan(store, run_of(store), result, Trial(question="Another?"))
