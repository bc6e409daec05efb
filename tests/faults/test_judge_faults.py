"""A judge that cannot reply as asked: asked again, then no verdict; the paid answer stays."""

from __future__ import annotations

import pytest

from tests.faults import openai_server as provider
from tests.faults.openai_server import Reply, cut_off
from tests.faults.road import Road, always, first, honest, model, verdicts

UNUSABLE = {
    "prose": Reply("The sign is S2."),
    "malformed": Reply('{"sign": }'),
    "wrong type": Reply('{"sign": {"of": ["island"]}}'),
    "missing field": Reply('{"name": "S2"}'),
    "a list": Reply('["S2"]'),
    "cut off": cut_off('{"sign": "S'),
    "empty object": Reply("{}"),
}


@pytest.mark.parametrize("reply", UNUSABLE.values(), ids=UNUSABLE)
def test_a_judge_is_asked_once_more_and_its_second_reply_counts(road: Road, reply: Reply) -> None:
    road.server.script = first(reply, of="judge", question=2)
    assert verdicts(road.run(3)) == ["pass"] * 3
    assert road.calls.count(("judge", 2)) == 2


@pytest.mark.parametrize("reply", UNUSABLE.values(), ids=UNUSABLE)
def test_a_judge_that_never_fits_gives_no_verdict_and_the_answer_is_kept(road: Road, reply: Reply) -> None:
    road.server.script = always(reply, of="judge", question=2)
    judge = model(road.server, "judge", max_retries=1)
    results = road.run(3, parsing_models=[judge])
    assert verdicts(results) == ["pass", "parsing", "pass"]
    assert (results[1].verdict, results[1].raw_llm_response) == ("not_evaluated", "The island has the sign S2.")
    assert (road.calls.count(("judge", 2)), road.calls.count(("answerer", 2))) == (2, 1)


def test_resuming_asks_the_judge_again_but_not_the_answerer(road: Road) -> None:
    road.server.script = always(Reply("no"), of="judge", question=2)
    run_id = road.begin(3)
    road.finish(run_id)
    road.server.requests.clear()
    road.server.script = honest
    assert verdicts(road.resume(run_id)) == ["pass"] * 3
    assert road.calls == [("judge", 2)]


@pytest.mark.parametrize("reply", [provider.REFUSED, provider.NO_CONTENT, Reply("")], ids=["refusal", "none", "empty"])
def test_a_judge_that_refuses_gives_no_verdict(road: Road, reply: Reply) -> None:
    road.server.script = always(reply, of="judge", question=2)
    results = road.run(3)
    assert verdicts(results)[::2] == ["pass", "pass"]
    assert (results[1].status, results[1].verdict) == ("failed", "not_evaluated")
    assert results[1].failure is not None and results[1].failure.category in ("refused", "empty", "parsing")
    assert results[1].raw_llm_response == "The island has the sign S2."


def test_a_value_that_was_not_found_is_never_a_pass(road: Road) -> None:
    road.server.script = always(Reply('{"sign": null}'), of="judge", question=2)
    assert verdicts(road.run(3)) == ["pass", "fail", "pass"]
