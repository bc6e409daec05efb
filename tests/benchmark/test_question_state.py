"""Whether each question takes part in a run."""

from __future__ import annotations

from karenina_core.benchmark import Benchmark, question_states
from karenina_core.schemas import Rubric, StoredTrait
from tests.benchmark.samples import CLARITY, TEMPLATE, small_benchmark

STORED = StoredTrait(name="Old", kind="callable", rating={"@type": "Rating", "name": "Old"})


def test_a_finished_question_with_a_template_is_ready() -> None:
    assert question_states(small_benchmark())["target"] == ("ready", "", ())


def test_an_unfinished_question_is_a_draft_and_says_so() -> None:
    assert question_states(small_benchmark())["sky"][:2] == ("draft", "It is not marked as finished.")


def test_traits_alone_are_enough_and_said() -> None:
    lungs = question_states(small_benchmark())["lungs"]
    assert lungs == ("ready", "It has no template: only traits are evaluated.", ())


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


def test_everything_that_is_in_the_way_is_said() -> None:
    benchmark = Benchmark.create("One")
    name = benchmark.add_question("How many lungs?", "2", finished=False)
    nothing, unfinished = question_states(benchmark)[name].obstacles
    assert "nothing would be decided" in nothing
    assert unfinished == "It is not marked as finished."
    benchmark.set_global_rubric(Rubric(traits=[CLARITY]))
    assert question_states(benchmark)[name].obstacles == (unfinished,)


def test_a_trait_that_hides_the_only_evaluated_one_leaves_nothing_to_decide() -> None:
    benchmark = Benchmark.create("One")
    name = benchmark.add_question("How many lungs?", "2")
    benchmark.set_global_rubric(Rubric(traits=[CLARITY]))
    benchmark.set_question_rubric(name, Rubric(traits=[STORED.model_copy(update={"name": CLARITY.name})]))
    assert question_states(benchmark)[name].state == "issue"


def test_the_same_template_is_judged_the_same_wherever_it_stands() -> None:
    benchmark = Benchmark.create("Two")
    broken = benchmark.add_question("First?", "x", TEMPLATE)
    other = benchmark.add_question("Second?", "x", TEMPLATE)
    damaged = Benchmark.from_json(benchmark.to_json().replace("self.target.strip()", "self.target.strip(("))
    errors = [problem for problem in damaged.check() if problem.code == "template"]
    assert [(problem.question_id, problem.where) for problem in errors] == [
        (broken, f"question {broken}"),
        (other, f"question {other}"),
    ]
    assert errors[0].line == errors[1].line is not None
