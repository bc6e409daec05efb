"""Configure keeps what a person puts together, runs parts of a benchmark, and checks prepared answers first."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.demo import demo_benchmark, demo_config
from karenina_core.runs import wanted
from karenina_core.schemas import FewShotConfig, ModelConfig, VerificationConfig
from pages.components import frame, services
from tests.app.conftest import Open, healthy
from tests.app.looking import press, table, texts

PROVIDER = ModelConfig(model_name="openai/gpt-4.1-mini")


@pytest.fixture
def benchmark_id() -> str:
    return services.store().benchmarks.save(demo_benchmark())


@pytest.fixture
def app(open_page: Open, benchmark_id: str) -> AppTest:
    """Configure with the models of the demo."""
    page = open_page(frame.CONFIGURE)
    page.session_state["_models_answering"] = list(demo_config().answering_models)
    page.session_state["_models_judge"] = list(demo_config().parsing_models)
    return healthy(page.run())


def newest() -> VerificationConfig:
    return services.store().runs.all()[0].config


# Nothing is lost


def test_what_is_put_together_survives_a_reload_and_a_page_switch(app: AppTest, open_page: Open) -> None:
    healthy(app.number_input(key="cfg_repeats").set_value(3).run())
    healthy(app.selectbox(key="cfg_mode").set_value("template_only").run())
    healthy(app.number_input(key="cfg_max_minutes").set_value(2.5).run())
    healthy(app.toggle(key="cfg_few_shot").set_value(True).run())
    healthy(app.button(key="remove_answering_0").click().run())
    healthy(app.switch_page(frame.HOME).run())
    switched = healthy(app.switch_page(frame.CONFIGURE).run())
    for page in (switched, open_page(frame.CONFIGURE)):
        assert "14 questions × 2 models × 3 repeats = 84 answers" in texts(page)
        assert page.selectbox(key="cfg_mode").value == "template_only"
        assert page.number_input(key="cfg_max_minutes").value == 2.5
        assert page.toggle(key="cfg_few_shot").value is True
    press(switched, "Run all 84")
    assert (newest().max_seconds, newest().few_shot_config) == (150, FewShotConfig())


def test_an_emptied_limit_stays_empty(app: AppTest, open_page: Open) -> None:
    app.session_state["_models_answering"] = [PROVIDER]
    healthy(app.run())
    healthy(app.number_input(key="cfg_max_cost").set_value(None).run())
    assert open_page(frame.CONFIGURE).number_input(key="cfg_max_cost").value is None


def test_what_an_older_version_kept_does_no_harm(open_page: Open, benchmark_id: str) -> None:
    kept = {"models": {"answering": [{"flavour": "sweet"}]}, "fields": {"mode": "sideways"}, "rest": {}}
    services.store().settings.set("configuration/own", kept)
    app = open_page(frame.CONFIGURE)
    assert "Add at least one model" in texts(app)
    assert app.selectbox(key="cfg_mode").value == "auto"


# Presets


def test_a_preset_is_saved_loaded_and_deleted_with_a_way_back(app: AppTest) -> None:
    app.number_input(key="cfg_repeats").set_value(4).run()
    app.text_input(key="preset_new").set_value("Four times").run()
    healthy(app.button(key="preset_keep").click().run())
    app.number_input(key="cfg_repeats").set_value(1).run()
    app.session_state["_models_judge"] = []
    healthy(app.run())
    healthy(app.button(key="preset_load").click().run())
    assert "× 4 repeats" in texts(app)
    healthy(app.button(key="preset_delete").click().run())
    assert services.store().settings.presets() == {}
    healthy(app.button(key="undo").click().run())
    assert list(services.store().settings.presets()) == ["Four times"]


def test_a_preset_brings_settings_along_that_have_no_field(app: AppTest) -> None:
    chosen = {"rubric_evaluation_strategy": "sequential", "max_attempts": 2, "max_seconds": 90.0}
    examples = FewShotConfig(source="both", k=2)
    config = demo_config().model_copy(update=chosen | {"few_shot_config": examples})
    services.store().settings.save_preset("Careful", config)
    healthy(app.run())
    healthy(app.button(key="preset_load").click().run())
    assert "Also set by the preset: rubric evaluation strategy, max attempts, few shot config." in texts(app)
    assert app.toggle(key="cfg_few_shot").value is True
    assert app.number_input(key="cfg_max_minutes").value == 1.5
    healthy(app.number_input(key="cfg_max_minutes").set_value(None).run())
    press(app, "Run all 42")
    assert (newest().rubric_evaluation_strategy, newest().max_attempts) == ("sequential", 2)
    assert (newest().few_shot_config, newest().max_seconds) == (examples, None)
    app = healthy(app.switch_page(frame.CONFIGURE).run())
    healthy(app.toggle(key="cfg_few_shot").set_value(False).run())
    healthy(app.button(key="preset_rest").click().run())
    press(app, "Run all 42")
    assert (newest().few_shot_config, newest().rubric_evaluation_strategy) == (None, "batch")


# Some of the questions


def field(app: AppTest, kind: str, name: str, benchmark_id: str) -> object:
    return getattr(app, kind)(key=f"cfg_{name}_{benchmark_id}")


def test_questions_are_chosen_by_search(app: AppTest, benchmark_id: str) -> None:
    healthy(field(app, "selectbox", "questions", benchmark_id).set_value("search").run())  # type: ignore[attr-defined]
    healthy(field(app, "text_input", "search", benchmark_id).set_value("no such question").run())  # type: ignore[attr-defined]
    assert "No question is left. Choose others above, or all of them." in texts(app)
    assert "run_all" not in [button.key for button in app.button]
    healthy(field(app, "text_input", "search", benchmark_id).set_value("venetoclax").run())  # type: ignore[attr-defined]
    assert "of the 14 that are ready" in texts(app)
    healthy(app.button(key="run_all").click().run())
    assert app.title[0].value == "Monitor"
    [run] = services.store().runs.all()
    services.runner().wait(run.id, 600)
    asked = {row["question"] for row in services.store().results.rows(run.id)}
    assert asked
    assert all("enetoclax" in question for question in asked)


def test_only_what_failed_in_an_earlier_run_is_run_again(open_page: Open, demo_run: str) -> None:
    from karenina_core.runs import questions_of

    store = services.store()
    run = store.runs.get(demo_run)
    failing = questions_of(store, demo_run, ("fail",))
    app = open_page(frame.CONFIGURE)
    app.session_state["_models_answering"] = list(demo_config().answering_models)
    app.session_state["_models_judge"] = list(demo_config().parsing_models)
    healthy(field(app, "selectbox", "questions", run.benchmark_id or "").set_value("run").run())  # type: ignore[attr-defined]
    assert f"{len(failing)} questions of the 14 that are ready" in texts(app)


def test_questions_that_will_not_run_are_one_click_away(app: AppTest, benchmark_id: str) -> None:
    assert "open_skipped" not in [button.key for button in app.button]
    store = services.store()
    benchmark = store.benchmarks.load(benchmark_id)
    left_out = benchmark.get_question_ids()[3]
    benchmark.mark_unfinished_batch([left_out])
    store.benchmarks.save(benchmark, benchmark_id)
    app.run()
    healthy(app.button(key="open_skipped").click().run())
    assert (app.title[0].value, app.query_params["q"]) == ("Questions", left_out)
    assert "1 of 14 shown" in texts(app)


# Prepared answers


def test_answers_that_do_not_fit_are_listed_and_found_again(app: AppTest, open_page: Open) -> None:
    answers = {"Which planet?": "Mars", demo_benchmark().get_question_ids()[0]: " "}
    app.session_state["_models_answering"] = [
        ModelConfig(id="Notes", interface="manual", model_name="notes", manual_traces=answers)
    ]
    healthy(app.run())
    assert "0 of 14 questions have an answer; 1 answer is blank; 1 answer belongs to no question." in texts(app)
    shown = table(app, "Prepared answers that do not fit")
    assert "Which planet?" in list(shown["Question"])
    assert list(shown["What"]).count("no answer") == 13
    assert "Notes: 0 of 14 questions have an answer" in texts(open_page(frame.CONFIGURE))


# More for a run that is there


def finished_try() -> str:
    benchmark = demo_benchmark()
    benchmark_id = services.store().benchmarks.save(benchmark)
    config = demo_config().model_copy(update={"embedding_check_enabled": False})
    run_id = services.start_run(benchmark_id, benchmark, config, "Try", limit=3)
    services.runner().wait(run_id, 600)
    return run_id


def test_a_finished_try_goes_on_with_the_other_questions_as_the_same_run(open_page: Open) -> None:
    run_id = finished_try()
    app = open_page(frame.MONITOR, run=run_id)
    assert "This run has 3 questions of 14." in texts(app) and "33 evaluations more." in texts(app)
    app = press(app, "Continue with the other 11 questions")
    services.runner().wait(run_id, 600)
    assert services.store().runs.get(run_id).done == 42
    assert "widen" not in [item.key for item in app.run().button]


def test_every_part_of_the_drawer_for_more_opens(open_page: Open) -> None:
    app = open_page(frame.MONITOR, run=finished_try())
    for section in ("Models", "Judges", "Repeats", "Questions"):
        app.session_state["growth_section"] = section
        healthy(app.button(key="grow").click().run())
        assert "The run has 9 evaluations. Nothing is added yet." in texts(app)


def test_a_recorded_judge_that_takes_part_is_not_offered_again(open_page: Open) -> None:
    app = open_page(frame.MONITOR, run=finished_try())
    app.session_state["growth_section"] = "Judges"
    app.session_state["kind_judge"] = "recorded"
    healthy(app.button(key="grow").click().run())
    offered = [name for box in app.selectbox if box.label == "Recorded model" for name in box.options]
    assert "demo/judge" not in offered
    assert offered or "Every recorded judge takes part already." in texts(app)


def test_failed_traits_are_offered_again(open_page: Open) -> None:
    from karenina_core.schemas import RubricPart
    from tests.runs.fakes import plain_result

    benchmark = demo_benchmark()
    trait = next(item.name for item in benchmark.all_traits() if type(item).__name__ == "RubricTrait")
    store = services.store()
    run_id = store.runs.create(wanted(benchmark, demo_config(), limit=1))
    question = store.runs.plan(run_id).question_ids[0]
    config = demo_config()
    rows = [
        plain_result(question, model.id, judge.id, rubric=RubricPart(performed=True, errors={trait: "Timed out."}))
        for model in config.answering_models
        for judge in config.parsing_models
    ]
    store.results.save(run_id, rows)
    store.runs.set_status(run_id, "completed")
    app = open_page(frame.MONITOR, run=run_id)
    assert "3 evaluations have traits that failed." in texts(app)
    healthy(app.button(key="once_more").click().run())
    services.runner().wait(run_id, 600)
    assert "traits that failed" not in texts(healthy(app.run()))
