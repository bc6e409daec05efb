"""The stored answers to a question, over all runs."""

from __future__ import annotations

from typing import Any

from karenina_core.runs import Store, reverify, run_verification, stored_answers, wanted
from karenina_core.schemas import AnswerPart, FieldEvidence, TemplatePart
from karenina_core.templates import read_template
from tests.faults.openai_server import OpenAIServer
from tests.runs.elements import config_for, elements, extraction
from tests.runs.fakes import plain_result, small_benchmark, small_config

SEMANTIC = read_template(
    'class Answer(BaseAnswer):\n    reason: str = VerifiedField(description="Why", ground_truth="It binds", '
    "verify_with=SemanticMatch())\n"
).spec


def a_run(store: Store, *answers: tuple[str, dict[str, Any] | None], name: str = "Run") -> str:
    """Store a run whose repetitions gave these answers and extractions."""
    plan = wanted(small_benchmark(1), small_config(replicate_count=len(answers)), ["q1"])
    run_id = store.runs.create(plan, name)
    for number, (text, values) in enumerate(answers, 1):
        part = None if values is None else _part(values)
        result = plain_result(replicate=number, answer=AnswerPart(text=text), template=part)
        store.results.save(run_id, [result])
    return run_id


def _part(values: dict[str, Any]) -> TemplatePart:
    evidence = FieldEvidence(name="reason", expected="It binds", extracted=values.get("reason"), similarity=0.9)
    return TemplatePart(template_id="t", style="declarative", parsed=values, fields=[evidence])


def test_answers_come_with_what_was_extracted_and_where_from(store: Store) -> None:
    run_id = a_run(store, ("It binds BCL2.", {"reason": "it binds"}))
    [found] = stored_answers(store, "q1")
    assert (found.run_id, found.run_name, found.response) == (run_id, "Run", "It binds BCL2.")
    assert found.values == {"reason": "it binds"}
    assert store.results.get(run_id, found.result_id).answer == AnswerPart(text="It binds BCL2.")


def test_a_similarity_counts_for_the_truth_it_was_computed_with(store: Store) -> None:
    a_run(store, ("It binds BCL2.", {"reason": "it binds"}))
    [found] = stored_answers(store, "q1")
    known = found.known_to(SEMANTIC)
    assert known is not None and known.similarities == {"reason": 0.9}
    [field] = SEMANTIC.fields
    other = SEMANTIC.model_copy(update={"fields": [field.model_copy(update={"ground_truth": "It frees"})]})
    known = found.known_to(other)
    assert known is not None and known.similarities == {}


def test_an_answer_that_no_judge_was_asked_everything_about_is_not_usable(store: Store) -> None:
    a_run(store, ("It binds.", None), ("It binds too.", {"gene": "BCL2"}))
    assert [answer.known_to(SEMANTIC) for answer in stored_answers(store, "q1")] == [None, None]


def test_the_newest_run_comes_first_and_the_number_is_limited(store: Store) -> None:
    a_run(store, ("Old", None), name="Old")
    a_run(store, ("New", None), ("New too", None), name="New")
    assert [answer.response for answer in stored_answers(store, "q1")] == ["New", "New too", "Old"]
    assert [answer.response for answer in stored_answers(store, "q1", most=1)] == ["New"]
    assert stored_answers(store, "q2") == []


def test_a_re_verified_run_adds_nothing(store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = extraction
    run_id = str(run_verification(elements(), config_for(openai_server), run_name="First", store=store).run_id)
    before = stored_answers(store, "gold")
    new_id = reverify(store, run_id, elements())
    [after] = stored_answers(store, "gold")
    assert len(before) == 1 and after.run_id in (run_id, new_id)
    assert (after.response, after.values) == (before[0].response, before[0].values)
