from __future__ import annotations

import pytest

from karenina_core.errors import InputError
from karenina_core.models.clients.manual import ManualClient
from karenina_core.runs import answers_missing, match_answers, with_answers
from karenina_core.runs.plan import config_hash
from karenina_core.schemas import ModelConfig, VerificationConfig
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


FILE = {"elsewhere": {"q1": "42"}}


def bare_config() -> VerificationConfig:
    """Return a configuration as it is stored: the answers are gone, their digest is there."""
    model = ModelConfig(interface="manual", model_name="elsewhere", manual_traces=FILE["elsewhere"])
    config = VerificationConfig(answering_models=[model, "openai/a"], parsing_models=["openai/b"])
    return VerificationConfig.model_validate(config.model_dump(mode="json"))


def test_a_stored_configuration_says_whose_answers_it_lacks() -> None:
    assert answers_missing(bare_config()) == ("elsewhere",)
    assert answers_missing(with_answers(bare_config(), FILE)) == ()


def test_the_answers_of_the_run_complete_its_configuration() -> None:
    filled = with_answers(bare_config(), FILE)
    assert filled.answering_models[0].manual_traces == FILE["elsewhere"]
    assert config_hash(filled) == config_hash(bare_config())


def test_one_set_of_answers_may_be_called_anything() -> None:
    assert answers_missing(with_answers(bare_config(), {"manual": FILE["elsewhere"]})) == ()


@pytest.mark.parametrize("answers", [{"elsewhere": {"q1": "43"}}, {"a": {}, "b": {}}])
def test_other_answers_are_refused(answers: dict[str, dict[str, str]]) -> None:
    with pytest.raises(InputError, match="answers of 'elsewhere'"):
        with_answers(bare_config(), answers)
