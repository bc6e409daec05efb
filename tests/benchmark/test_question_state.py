"""Whether each question takes part in a run."""

from __future__ import annotations

from karenina_core.benchmark import Benchmark, question_states
from karenina_core.schemas import Rubric
from karenina_core.schemas.entities.rubric import StoredTrait
from tests.benchmark.samples import CLARITY, TEMPLATE, small_benchmark

STORED = StoredTrait(name="Old", kind="callable", rating={"@type": "Rating", "name": "Old"})


def test_a_finished_question_with_a_template_is_ready() -> None:
    assert question_states(small_benchmark())["target"] == ("ready", "")


def test_an_unfinished_question_is_a_draft_and_says_so() -> None:
    assert question_states(small_benchmark())["sky"] == ("draft", "It is not marked as finished.")


def test_traits_alone_are_enough_and_said() -> None:
    assert question_states(small_benchmark())["lungs"] == ("ready", "It has no template: only traits are evaluated.")


def test_a_question_that_nothing_decides_has_an_issue() -> None:
    benchmark = Benchmark.create("One")
    name = benchmark.add_question("How many lungs?", "2")
    assert question_states(benchmark)[name].state == "issue"
    benchmark.set_global_rubric(Rubric(traits=[STORED]))
    assert "nothing would be decided" in question_states(benchmark)[name].reason
    benchmark.set_global_rubric(Rubric(traits=[CLARITY]))
    assert question_states(benchmark)[name].state == "ready"


def test_an_unreadable_template_is_an_issue_even_of_a_draft() -> None:
    benchmark = small_benchmark()
    broken = Benchmark.from_json(benchmark.to_json().replace("self.target.strip()", "self.target.strip(("))
    assert TEMPLATE not in [question.answer_template for question in broken]
    states = question_states(broken)
    assert (states["target"].state, states["sky"].state) == ("issue", "issue")
    assert "template cannot be read" in states["sky"].reason
