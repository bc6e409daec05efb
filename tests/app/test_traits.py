"""One trait: tried over texts, over stored answers, by hand and with a judge; and its form values."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from karenina_core.schemas import ManualRubricTrait, MetricRubricTrait, ModelConfig, Rubric, RubricTrait
from pages.components import services
from pages.components.traits.form import NEW, trait_of, values_of, yields
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, table, texts
from tests.app.samples import small_benchmark
from tests.app.test_rubrics import fill
from tests.faults.openai_server import OpenAIServer, Reply, failing

BH3 = ManualRubricTrait(name="BH3", description="Names BH3", pattern="BH3")
CLARITY = RubricTrait(name="Clarity", description="How clear?")
LUNGS = MetricRubricTrait(
    name="Lungs",
    metrics=["precision", "recall"],
    tp_instructions=["asthma", "bronchitis", "pneumonia", "pleurisy"],
    fp_instructions=["emphysema"],
)
CLASSES = LUNGS.model_copy(update={"tn_instructions": ["emphysema", "sarcoidosis"], "evaluation_mode": "full_matrix"})


def opened(open_page: Open, *traits: ManualRubricTrait | MetricRubricTrait | RubricTrait) -> AppTest:
    """Open the first of the traits."""
    benchmark = small_benchmark()
    benchmark.set_global_rubric(Rubric(traits=list(traits)))
    return open_page("pages/rubrics.py", benchmark=services.store().benchmarks.save(benchmark))


def judging(app: AppTest, server: OpenAIServer, reply: object) -> AppTest:
    """Let a server on this computer be the judge."""
    server.script = lambda sent: Reply(json.dumps(reply))
    model = ModelConfig(id="court", interface="openai_endpoint", model_name="court", endpoint_base_url=server.url)
    app.session_state["_models_judge"] = [model]
    return healthy(app.run())


def ask(app: AppTest, answer: str) -> AppTest:
    fill(app, "Answer to try it on", answer)
    agree(app)
    return healthy(app.button(key="trait_try_ask").click().run())


def agree(app: AppTest) -> None:
    assert app.button(key="trait_try_ask").disabled, "a provider is asked only after a yes"
    healthy(app.checkbox[0].check().run())


def test_foreign_text_is_shown_character_for_character(open_page: Open) -> None:
    app = opened(open_page, BH3)
    fill(app, "Try it on a text", "![x](http://evil) BH3 **bold**")
    shown = next(item.value for item in app.markdown if ":orange-background[BH3]" in item.value)
    assert r"\!\[x\]\(http:small{}\:\/\/evil\)" in shown
    assert r"\*\*bold\*\*" in shown


def test_a_pattern_that_hangs_is_stopped_and_says_so(open_page: Open) -> None:
    app = opened(open_page, BH3.model_copy(update={"pattern": "(a|a)+$"}))
    fill(app, "Try it on a text", "a" * 40 + "b")
    assert "The search was stopped" in texts(app)
    assert "without nested repetition" in texts(app)


def test_without_runs_the_page_says_what_is_missing(open_page: Open) -> None:
    assert "When a run has stored answers" in texts(opened(open_page, BH3))


def test_stored_answers_are_searched_and_counted_by_model(open_page: Open, demo_run: str) -> None:
    app = opened(open_page, BH3.model_copy(update={"pattern": r"\bBCL-?2\b"}))
    assert "of 42 answers" in texts(app)
    shares = table(app, "Matches by model")
    assert list(shares["Model"]) == ["demo/thorough", "demo/concise", "demo/careless"]
    assert shares["Trait holds"][0] == shares["Found in"][0]
    rows = table(app, "Answers searched")
    assert len(rows) == 42
    app.segmented_control(key="trait_answers_view").set_value("Found").run()
    found = table(app, "Answers searched")
    assert set(found["Trait"]) == {"✓ holds"}
    assert 0 < len(found) < 42
    assert any(":orange-background[BCL" in item.value for item in app.markdown)
    app.button(key="trait_open_answer").click().run()
    healthy(app)


def test_an_inverted_pattern_holds_where_nothing_is_found(open_page: Open, demo_run: str) -> None:
    app = opened(open_page, BH3.model_copy(update={"pattern": "zzz", "invert": True}))
    assert "Found in **0 of 42 answers**; the trait holds for 42." in texts(app)


def test_items_are_marked_by_hand_and_the_arithmetic_follows(open_page: Open) -> None:
    app = opened(open_page, LUNGS)
    fill(app, "Answer to try it on", "Asthma, bronchitis and pneumonia; emphysema.")
    assert labelled(app.pills, "The answer names").value == ["asthma", "bronchitis", "pneumonia", "emphysema"]
    assert "- precision = 3 / (3 + 1) = 0.75" in texts(app)
    assert "- recall = 3 / (3 + 1) = 0.75" in texts(app)
    assert "TP asthma" in texts(app)
    assert "FN pleurisy" in texts(app)
    fill(app, "Other items it names, one per line", "lung cancer\nflu")
    assert "- precision = 3 / (3 + 3) = 0.50" in texts(app)
    fill(app, "The answer names", ["asthma"])
    assert "- recall = 1 / (1 + 3) = 0.25" in texts(app)


def test_brackets_in_the_name_of_an_item_stay_as_they_are_in_its_badge(open_page: Open) -> None:
    app = opened(open_page, LUNGS.model_copy(update={"tp_instructions": ["IL-2 [human]"]}))
    assert r":orange-badge[:material/priority_high: FN IL\-2 \[human\]]" in [item.value for item in app.markdown]


def test_two_classes_are_marked_by_hand(open_page: Open) -> None:
    app = opened(open_page, CLASSES)
    fill(app, "The answer puts in the positive class", ["asthma", "sarcoidosis"])
    fill(app, "It puts in the negative class", ["emphysema", "bronchitis"])
    assert "**TN 1**" in texts(app)
    assert "not mentioned, so not counted" in texts(app)
    assert "- precision = 1 / (1 + 1) = 0.50" in texts(app)


def test_a_metric_trait_is_tried_on_a_stored_answer(open_page: Open, demo_run: str) -> None:
    app = opened(open_page, LUNGS)
    app.segmented_control(key="trait_sample_way").set_value("stored").run()
    places = labelled(app.selectbox, "Stored answer")
    assert len(places.options) == 42
    places.set_value(next(n for n, label in enumerate(places.options) if "inflammatory lung" in label)).run()
    assert "asthma" in labelled(app.pills, "The answer names").value


def test_a_judge_lists_items_and_code_counts(open_page: Open, openai_server: OpenAIServer) -> None:
    app = judging(opened(open_page, LUNGS), openai_server, {"items": [{"item": "asthma", "matches": "asthma"}]})
    app.segmented_control(key="trait_try_way").set_value("judge").run()
    ask(app, "Only asthma.")
    assert "- precision = 1 / (1 + 0) = 1.00" in texts(app)
    assert "FN pleurisy" in texts(app)


def test_a_judged_trait_shows_value_reason_prompt_and_reply(open_page: Open, openai_server: OpenAIServer) -> None:
    app = judging(opened(open_page, CLARITY), openai_server, {"reason": "Short words.", "value": 4})
    ask(app, "It is BCL2.")
    assert "**4 of 5** by court" in texts(app)
    assert "Reason: Short words." in texts(app)
    assert any("How clear?" in block.value for block in app.code)
    assert any('"value": 4' in block.value for block in app.code)
    fill(app, "What the judge assesses", "How clear, really?")
    assert "Tried with the earlier wording or answer." in texts(app)


def test_what_the_ledger_knows_needs_no_yes(open_page: Open, openai_server: OpenAIServer) -> None:
    app = judging(opened(open_page, CLARITY), openai_server, {"reason": "", "value": 4})
    ask(app, "It is BCL2.")
    app = healthy(app.run())
    assert not app.button(key="trait_try_ask").disabled
    app.button(key="trait_try_ask").click().run()
    assert len(openai_server.requests) == 1


def test_a_judge_that_fails_says_why(open_page: Open, openai_server: OpenAIServer) -> None:
    app = judging(opened(open_page, CLARITY), openai_server, None)
    openai_server.script = lambda sent: failing(400, "No such model here.")
    ask(app, "It is BCL2.")
    assert "There is no value" in texts(app)
    assert "No such model here" in texts(app)


def test_a_new_trait_is_tried_before_it_has_a_name(open_page: Open) -> None:
    app = opened(open_page, BH3)
    app.menu_button(key="add_trait").set_value("regex").run()
    fill(app, "Regular expression", "gold")
    fill(app, "Try it on a text", "It is gold.")
    assert "the pattern is found once" in texts(app)


# The flat values of the form, and back.


TRAITS = [
    RubricTrait(name="Clarity", description="How clear?", min_score=0, max_score=3, higher_is_better=False),
    RubricTrait(name="Polite", kind="binary", summary="Courtesy", higher_is_better=None),
    RubricTrait(name="Tone", kind="literal", classes={"formal": "as: in a journal", "casual": ""}),
    ManualRubricTrait(name="BH3", pattern=r"\bBH3\b", case_sensitive=False, invert=True),
    MetricRubricTrait(name="Lungs", metrics=["accuracy"], tp_instructions=["a", "b"], tn_instructions=["c"]),
    MetricRubricTrait(name="Found", metrics=["f1"], tp_instructions=["a"], fp_instructions=["x"]),
]


@pytest.mark.parametrize("trait", TRAITS, ids=lambda trait: trait.name)
def test_a_trait_goes_through_the_form_unchanged(trait: RubricTrait) -> None:
    assert trait_of(trait.type, values_of(trait), trait) == trait


@given(st.text("ab \n:", max_size=12), st.integers(-5, 5), st.integers(6, 9))
def test_any_description_and_bounds_go_through_the_form(description: str, low: int, high: int) -> None:
    values = NEW["llm"] | {"name": "T", "description": description, "min_score": low, "max_score": high}
    trait = trait_of("llm", values)
    assert isinstance(trait, RubricTrait)
    assert (trait.description or "") == description.strip()
    assert values_of(trait)["max_score"] == high


@pytest.mark.parametrize("kind", NEW)
def test_an_empty_form_is_refused(kind: str) -> None:
    with pytest.raises(ValueError):
        trait_of(kind, NEW[kind])


def test_a_trait_says_what_it_yields() -> None:
    assert [yields(trait) for trait in TRAITS] == [
        "score 0–3",
        "yes / no",
        "one of 2 classes",
        "pattern, inverted",
        "accuracy",
        "f1",
    ]
