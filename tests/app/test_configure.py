"""Configure keeps what a person puts together, runs parts of a benchmark, and checks prepared answers first."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.demo import demo_benchmark, demo_config
from karenina_core.models import Price
from karenina_core.runs import wanted
from karenina_core.schemas import FewShotConfig, ModelConfig, VerificationConfig
from pages.components import frame, services
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, table, texts

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


def test_a_reload_finds_models_and_settings_again(app: AppTest, open_page: Open) -> None:
    healthy(app.number_input(key="cfg_repeats").set_value(3).run())
    healthy(app.selectbox(key="cfg_mode").set_value("template_only").run())
    again = open_page(frame.CONFIGURE)
    assert "14 questions × 3 models × 3 repeats = 126 answers" in texts(again)
    assert again.selectbox(key="cfg_mode").value == "template_only"


def test_a_page_switch_loses_nothing(app: AppTest) -> None:
    healthy(app.number_input(key="cfg_repeats").set_value(2).run())
    healthy(app.switch_page(frame.HOME).run())
    assert healthy(app.switch_page(frame.CONFIGURE).run()).number_input(key="cfg_repeats").value == 2


def test_a_removed_model_stays_removed(app: AppTest, open_page: Open) -> None:
    healthy(app.button(key="remove_answering_0").click().run())
    assert "14 questions × 2 models" in texts(open_page(frame.CONFIGURE))


def test_an_emptied_limit_stays_empty(app: AppTest, open_page: Open) -> None:
    app.session_state["_models_answering"] = [PROVIDER]
    healthy(app.run())
    healthy(app.number_input(key="cfg_max_cost").set_value(None).run())
    assert open_page(frame.CONFIGURE).number_input(key="cfg_max_cost").value is None


def test_prepared_answers_are_found_again(app: AppTest, open_page: Open, benchmark_id: str) -> None:
    question = demo_benchmark().get_question_ids()[0]
    notes = ModelConfig(id="Notes", interface="manual", model_name="notes", manual_traces={question: "BCL2"})
    app.session_state["_models_answering"] = [notes]
    healthy(app.run())
    assert "Notes: 1 of 14 questions have an answer." in texts(open_page(frame.CONFIGURE))


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


def test_settings_of_a_preset_without_a_field_are_said_and_used(app: AppTest) -> None:
    config = demo_config().model_copy(update={"rubric_evaluation_strategy": "sequential", "max_attempts": 2})
    services.store().settings.save_preset("Careful", config)
    healthy(app.run())
    healthy(app.button(key="preset_load").click().run())
    assert "Also set by the preset: rubric evaluation strategy, max attempts." in texts(app)
    healthy(labelled(app.button, "Run all 42").click().run())
    assert (newest().rubric_evaluation_strategy, newest().max_attempts) == ("sequential", 2)


def test_a_run_is_given_a_time(app: AppTest, open_page: Open) -> None:
    healthy(app.number_input(key="cfg_max_minutes").set_value(2.5).run())
    again = open_page(frame.CONFIGURE)
    assert again.number_input(key="cfg_max_minutes").value == 2.5
    healthy(labelled(app.button, "Run all 42").click().run())
    assert newest().max_seconds == 150


def test_a_preset_brings_its_time_along(app: AppTest) -> None:
    services.store().settings.save_preset("Short", demo_config().model_copy(update={"max_seconds": 90.0}))
    healthy(app.run())
    healthy(app.button(key="preset_load").click().run())
    assert app.number_input(key="cfg_max_minutes").value == 1.5
    assert "Also set by the preset" not in texts(app)
    healthy(app.number_input(key="cfg_max_minutes").set_value(None).run())
    healthy(labelled(app.button, "Run all 42").click().run())
    assert newest().max_seconds is None


def test_few_shot_examples_are_sent_when_they_are_switched_on(app: AppTest, open_page: Open) -> None:
    assert app.toggle(key="cfg_few_shot").value is False
    healthy(app.toggle(key="cfg_few_shot").set_value(True).run())
    assert open_page(frame.CONFIGURE).toggle(key="cfg_few_shot").value is True
    healthy(labelled(app.button, "Run all 42").click().run())
    assert newest().few_shot_config == FewShotConfig()


def test_a_preset_says_which_few_shot_examples_and_the_form_whether(app: AppTest) -> None:
    chosen = FewShotConfig(source="both", k=2)
    services.store().settings.save_preset("Examples", demo_config().model_copy(update={"few_shot_config": chosen}))
    healthy(app.run())
    healthy(app.button(key="preset_load").click().run())
    assert app.toggle(key="cfg_few_shot").value is True
    assert "Also set by the preset: few shot config." in texts(app)
    healthy(labelled(app.button, "Run all 42").click().run())
    assert newest().few_shot_config == chosen
    app = healthy(app.switch_page(frame.CONFIGURE).run())
    healthy(app.toggle(key="cfg_few_shot").set_value(False).run())
    healthy(labelled(app.button, "Run all 42").click().run())
    assert newest().few_shot_config is None


def test_a_preset_without_few_shot_examples_switches_them_off(app: AppTest) -> None:
    services.store().settings.save_preset("Bare", demo_config())
    healthy(app.toggle(key="cfg_few_shot").set_value(True).run())
    healthy(app.button(key="preset_load").click().run())
    assert app.toggle(key="cfg_few_shot").value is False


# Some of the questions


def field(app: AppTest, kind: str, name: str, benchmark_id: str) -> object:
    return getattr(app, kind)(key=f"cfg_{name}_{benchmark_id}")


def test_questions_are_chosen_by_search(app: AppTest, benchmark_id: str) -> None:
    healthy(field(app, "selectbox", "questions", benchmark_id).set_value("search").run())  # type: ignore[attr-defined]
    healthy(field(app, "text_input", "search", benchmark_id).set_value("venetoclax").run())  # type: ignore[attr-defined]
    assert "of the 14 that are ready" in texts(app)
    [start] = [button for button in app.button if button.key == "run_all"]
    healthy(start.click().run())
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


def test_choosing_nothing_says_so(app: AppTest, benchmark_id: str) -> None:
    healthy(field(app, "selectbox", "questions", benchmark_id).set_value("chosen").run())  # type: ignore[attr-defined]
    assert "No question is left. Choose others above, or all of them." in texts(app)
    assert "run_all" not in [button.key for button in app.button]


# Prepared answers


def test_answers_that_do_not_fit_are_listed(app: AppTest) -> None:
    answers = {"Which planet?": "Mars", demo_benchmark().get_question_ids()[0]: " "}
    app.session_state["_models_answering"] = [
        ModelConfig(id="Notes", interface="manual", model_name="notes", manual_traces=answers)
    ]
    healthy(app.run())
    assert "0 of 14 questions have an answer; 1 answer is blank; 1 answer belongs to no question." in texts(app)
    shown = table(app, "Prepared answers that do not fit")
    assert "Which planet?" in list(shown["Question"])
    assert list(shown["What"]).count("no answer") == 13


# What it takes


def test_known_calls_and_own_prices_are_told(app: AppTest) -> None:
    app.session_state["_models_answering"] = [ModelConfig(model_name="lab/unheard-of")]
    healthy(app.run())
    assert "About 14 calls to providers, unknown price." in texts(app)
    services.store().settings.set_prices({"lab/unheard-of": Price(1e-6, 1e-3)})
    healthy(app.run())
    assert "About 14 calls to providers, $0.70 to $14.00." in texts(app)
    assert list(table(app, "Prices")["Price of"]) == ["yours"]


# More for a run that is there


def finished_try() -> str:
    benchmark = demo_benchmark()
    benchmark_id = services.store().benchmarks.save(benchmark)
    config = demo_config().model_copy(update={"embedding_check_enabled": False})
    run_id = services.start_run(benchmark_id, benchmark, config, "Try", limit=3)
    services.runner().wait(run_id, 600)
    return run_id


def test_a_try_says_what_is_left(open_page: Open) -> None:
    app = open_page(frame.MONITOR, run=finished_try())
    assert "This run has 3 questions of 14." in texts(app)
    assert "33 evaluations more." in texts(app)


@pytest.mark.parametrize("section", ["Models", "Judges", "Repeats", "Questions"])
def test_every_part_of_the_drawer_for_more_opens(section: str, open_page: Open) -> None:
    app = open_page(frame.MONITOR, run=finished_try())
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


def test_failed_traits_are_offered_again(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
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
