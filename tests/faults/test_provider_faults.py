"""All a provider can do to a call: retried where that may help, else a row that says why; never a wrong answer."""

from __future__ import annotations

import pytest

from karenina_core.schemas import failure_in_words
from tests.faults import openai_server as provider
from tests.faults.openai_server import Reply, failing
from tests.faults.road import Road, always, first, honest, model, verdicts

PASSING: dict[str, tuple[Reply, str]] = {
    **{str(status): (failing(status), "server_error") for status in (500, 502, 503, 529)},
    "dropped": (provider.DROPPED, "connection"),
    "body cut off": (provider.TRUNCATED_BODY, "connection"),
    "malformed body": (provider.MALFORMED, "server_error"),
    "HTML page": (provider.HTML, "server_error"),
    "no choices": (provider.NO_CHOICES, "server_error"),
    "silence": (provider.HANGING, "timeout"),
}


def settings_for(fault: Reply) -> dict[str, float]:
    return {"request_timeout": 0.5} if fault.fault == "hang" else {}


@pytest.mark.parametrize("of", ["answerer", "judge"])
@pytest.mark.parametrize("fault", [fault for fault, _ in PASSING.values()], ids=PASSING)
def test_a_fault_that_passes_is_survived(road: Road, fault: Reply, of: str) -> None:
    road.server.script = first(fault, fault, of=of, question=2)
    assert verdicts(road.run(3, max_attempts=3, **settings_for(fault))) == ["pass"] * 3
    assert road.calls.count((of, 2)) == 3


@pytest.mark.parametrize(
    ("fault", "category"), [*PASSING.values(), (provider.rate_limited(), "rate_limit")], ids=[*PASSING, "429"]
)
def test_a_fault_that_stays_becomes_an_error_row_and_the_run_goes_on(road: Road, fault: Reply, category: str) -> None:
    road.server.script = always(fault, question=2)
    results = road.run(3, max_attempts=2, **settings_for(fault))
    assert verdicts(results) == ["pass", category, "pass"]
    assert (results[1].status, results[1].verify_result) == ("failed", None)
    assert road.calls.count(("answerer", 2)) == 2
    assert ("judge", 2) not in road.calls


def test_errors_are_tried_again_on_resume_and_nothing_else_is(road: Road) -> None:
    road.server.script = always(failing(500), question=2)
    run_id = road.begin(3, max_attempts=1)
    road.finish(run_id)
    road.server.script = honest
    road.server.requests.clear()
    assert verdicts(road.resume(run_id)) == ["pass"] * 3
    assert road.calls == [("answerer", 2), ("judge", 2)]


def test_a_missing_model_is_not_asked_for_again(road: Road) -> None:
    road.server.script = always(failing(404, "The model does not exist."), question=2)
    assert verdicts(road.run(3)) == ["pass", "not_found", "pass"]
    assert road.calls.count(("answerer", 2)) == 1


def test_an_unknown_host_is_a_connection_problem_of_that_model_alone(road: Road) -> None:
    nowhere = model("http://nowhere.invalid/v1", "nowhere")
    results = road.run(2, answering_models=[model(road.server), nowhere], max_attempts=2)
    assert verdicts(results) == ["pass", "connection", "pass", "connection"]
    assert "could not be reached" in str(results[1].failure)


def test_a_reply_of_ten_megabytes_is_cut_and_does_not_stop_the_run(road: Road) -> None:
    road.server.script = first(Reply("The island has the sign S1. " + "x" * 10_000_000), question=1)
    results = road.run(2)
    assert len(results[0].raw_llm_response) < 1_000_000
    assert results[0].warnings
    assert verdicts(results)[1] == "pass"


def test_a_judge_reply_of_ten_megabytes_is_no_verdict(road: Road) -> None:
    road.server.script = always(Reply('{"sign": "' + "x" * 10_000_000), of="judge", question=1)
    assert verdicts(road.run(2)) == ["parsing", "pass"]


@pytest.mark.parametrize(
    ("fault", "category"),
    [
        (provider.REFUSED, "refused"),
        (provider.FILTERED, "refused"),
        (provider.NO_CONTENT, "empty"),
        (Reply(""), "empty"),
        (Reply(" \n\t "), "empty"),
        (provider.cut_off(""), "truncated"),
    ],
    ids=["refusal", "filtered", "no content", "empty", "blank", "all tokens spent"],
)
def test_a_refusal_or_an_empty_answer_is_no_wrong_answer_and_is_called_what_it_is(
    road: Road, fault: Reply, category: str
) -> None:
    road.server.script = always(fault, question=2)
    results = road.run(3)
    assert verdicts(results) == ["pass", category, "pass"]
    assert ("filter" in failure_in_words(category)) == (category == "refused")
    assert road.calls.count(("answerer", 2)) == 1


def test_a_refusal_has_its_own_count(road: Road) -> None:
    road.server.script = always(provider.REFUSED, question=2)
    run_id = road.begin(3)
    seen = road.finish(run_id)
    assert (seen.passed, seen.failed, seen.not_evaluated, seen.causes) == (2, 0, 1, {"refused": 1})


def test_an_answer_cut_off_at_its_token_limit_is_kept_and_marked(road: Road) -> None:
    road.server.script = first(provider.cut_off("The island has the sign S1"), question=1)
    result = road.run(1)[0]
    assert result.answer is not None
    assert (result.answer.text, result.answer.truncated) == ("The island has the sign S1", True)
    assert [warning for warning in result.warnings if "cut off" in warning]
