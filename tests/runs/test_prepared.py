from __future__ import annotations

from karenina_core.models.manual import ManualClient
from karenina_core.runs.prepared import match_answers
from karenina_core.schemas.config import ModelConfig
from tests.runs.fakes import small_benchmark


def test_answers_are_found_by_id_and_by_text() -> None:
    match = match_answers(small_benchmark(2), {"q1": "One", "Question 2?": "Two"})
    assert match.complete
    assert match.sentence == "2 of 2 questions have an answer."


def test_everything_that_does_not_fit_is_named() -> None:
    benchmark = small_benchmark(5)
    benchmark.mark_unfinished("q5")
    answers = {"q1": "One", "Question 1?": "Uno", "q2": " ", "q5": "Five", "question 3": "Three"}
    match = match_answers(benchmark, answers)
    assert (match.matched, match.unanswered) == (("q1",), ("q3", "q4"))
    assert (match.unknown, match.twice, match.empty, match.idle) == (("question 3",), ("q1",), ("q2",), ("q5",))
    assert not match.complete
    assert match.sentence == (
        "1 of 4 questions have an answer; 1 answer is blank; 1 answer belongs to no question; "
        "1 question is answered twice, by id and by text; 1 answer is for questions that take no part."
    )


def test_only_the_chosen_questions_need_an_answer() -> None:
    match = match_answers(small_benchmark(3), {"q1": "One", "q2": "Two"}, ["q2"])
    assert (match.matched, match.unanswered, match.idle) == (("q2",), (), ("q1",))


def test_what_counts_as_matched_is_what_the_client_finds() -> None:
    """The report and the run look answers up in the same order."""
    import asyncio

    from tests.runs.fakes import answer_request

    answers = {"q1": "by id", "Question q1?": "by text", "Question q2?": "by text only"}
    client = ManualClient(ModelConfig(interface="manual", manual_traces=answers))
    replies = [asyncio.run(client.complete(answer_request(name, client.config))).text for name in ("q1", "q2")]
    assert replies == ["by id", "by text only"]
