"""What comes next with a benchmark, one step after the other."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from karenina_core.benchmark import Benchmark, question_states
from karenina_core.runs import DraftBatch, Outcome
from pages.components import services
from pages.components.benchmarks.choice import NextStep, next_step
from tests.app.conftest import Open
from tests.app.looking import texts
from tests.app.samples import TEMPLATE

PAGE = "pages/benchmarks.py"


def benchmark(template: str | None = None, *, finished: bool = False, questions: int = 2) -> Benchmark:
    made = Benchmark.create("Steps")
    for number in range(questions):
        made.add_question(f"What is the target of drug {number}?", "BCL2", template, finished=finished)
    return made


def after(made: Benchmark, batch: DraftBatch | None = None) -> NextStep:
    return next_step(made, question_states(made), batch)


def test_without_questions_they_come_first() -> None:
    assert after(benchmark(questions=0)).label == "Add questions"


def test_without_templates_they_are_drafted() -> None:
    assert after(benchmark()).label == "Draft 2 missing templates"


def test_with_templates_the_questions_are_finished() -> None:
    step = after(benchmark(TEMPLATE))
    assert (step.label, step.task) == ("Check and finish them", "check")


def test_finished_questions_run() -> None:
    assert after(benchmark(TEMPLATE, finished=True)).label == "Configure a run"


def test_drafts_under_way_are_looked_at() -> None:
    assert after(benchmark(), DraftBatch("b", None, "running", 2)).label == "See the drafts"


def test_what_no_rule_could_draft_is_left_to_a_person() -> None:
    made = benchmark()
    tried = tuple(Outcome(name, "none") for name in made.get_question_ids())
    assert after(made, DraftBatch("b", None, "completed", 2, tried)).label == "Open questions"


def test_the_card_leads_to_the_next_step_by_its_only_primary_button(open_page: Open) -> None:
    benchmark_id = services.store().benchmarks.save(benchmark())
    app: AppTest = open_page(PAGE, benchmark=benchmark_id)
    assert "✓ 0 ready · ○ 2 draft · ! 0 with an issue" in texts(app)
    assert [button.key for button in app.button if button.proto.type == "primary"] == ["next_step"]
    app.button(key="next_step").click().run()
    assert not app.exception and app.query_params["do"] == "draft"
