"""The form of a model that a provider answers for, what its card says, and the check of its connection."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.runs import Store
from karenina_core.schemas import ModelConfig
from pages.components import frame
from pages.components.runs.model_editor import describe_limits
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, texts
from tests.faults.openai_server import OpenAIServer
from tests.faults.road import islands, model
from tests.runs.test_calls import ready

OLD = ModelConfig(
    id="Mine",
    model_name="llama3.2",
    interface="openai_endpoint",
    endpoint_base_url="http://localhost:11434/v1",
    temperature=0.7,
    max_tokens=250_000,
    requests_per_minute=0.05,
    extra_kwargs={"top_p": 0.9},
)


def form(kind: str, old: ModelConfig | None = None) -> AppTest:
    """Draw the form by itself; `made` in the session is the model it makes."""

    def page() -> None:
        import streamlit as st

        from pages.components.runs import model_editor

        build = model_editor.provider_form(st.session_state["kind"], "answering", st.session_state.get("old"))
        if st.session_state.get("name_" + st.session_state["kind"] + "_answering"):
            [st.session_state["made"]] = build()

    app = AppTest.from_function(page)
    app.session_state["kind"] = kind
    if old is not None:
        app.session_state["old"] = old
    return healthy(app.run())


def made(app: AppTest) -> ModelConfig:
    model = healthy(app.run()).session_state["made"]
    assert isinstance(model, ModelConfig)
    return model


def test_limits_of_a_model_are_typed_where_the_model_is() -> None:
    app = form("provider")
    labelled(app.text_input, "Model").set_value("openai/gpt-4.1-mini")
    assert describe_limits(made(app)) == []
    for label, value in (
        ("Calls at once", 4),
        ("Requests per minute", 60.0),
        ("Tokens per minute", 100_000.0),
        ("Longest wait for a reply (seconds)", 30.0),
    ):
        labelled(app.number_input, label).set_value(value)
    model = made(app)
    assert (model.max_concurrent_requests, model.requests_per_minute) == (4, 60)
    assert (model.tokens_per_minute, model.request_timeout) == (100_000, 30)


def test_a_model_at_an_address_of_ones_own_is_not_called_openais() -> None:
    app = form("endpoint")
    labelled(app.text_input, "Address").set_value("http://localhost:11434/v1")
    labelled(app.text_input, "Model").set_value("llama3.2")
    assert made(app).id == "llama3.2"


def test_a_change_keeps_what_is_not_changed() -> None:
    app = form("endpoint", OLD)
    labelled(app.number_input, "Temperature").set_value(0.2)
    assert made(app) == OLD.model_copy(update={"temperature": 0.2})


def test_a_model_of_another_name_does_not_keep_the_label_of_the_old_one() -> None:
    app = form("provider", ModelConfig(model_name="openai/gpt-4.1-mini"))
    labelled(app.text_input, "Model").set_value("openai/gpt-4.1")
    assert made(app).id == "openai/gpt-4.1"


def test_a_card_names_the_limits_in_words() -> None:
    limited = OLD.model_copy(update={"max_concurrent_requests": 4, "tokens_per_minute": 1_500_000.0})
    assert describe_limits(limited) == ["at most 4 at once", "0.05 requests a minute", "1,500,000 tokens a minute"]


def card(model: ModelConfig) -> str:
    def page() -> None:
        import streamlit as st

        from pages.components.runs import model_editor

        st.markdown(model_editor.describe(st.session_state["model"], "answering"))

    app = AppTest.from_function(page)
    app.session_state["model"] = model
    return texts(healthy(app.run()))


def test_a_card_says_whether_the_usual_key_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ModelConfig(model_name="gemini/gemini-2.5-flash")
    assert "GEMINI_API_KEY NOT found" in card(model)
    monkeypatch.setenv("GOOGLE_API_KEY", "a-key-of-some-length")  # the other name of the same key
    assert "GEMINI_API_KEY found" in card(model)
    assert "KEY" not in card(OLD), "an address of one's own needs none"


def test_the_card_tells_what_became_of_it_until_the_model_is_changed(
    open_page: Open, store: Store, openai_server: OpenAIServer
) -> None:
    openai_server.script = ready
    store.benchmarks.save(islands(1))
    app = open_page(frame.CONFIGURE)
    app.session_state["_models_answering"] = [model(openai_server), ModelConfig(interface="local")]
    app.session_state["_models_judge"] = [model(openai_server, "judge")]
    app.run()
    assert "test_answering_1" not in [button.key for button in app.button], "nobody charges for a local model"
    app.button(key="test_answering_0").click().run()
    assert ":green[:material/check: It replied after " in texts(app)
    app.button(key="test_judge_0").click().run()
    assert ":green[:material/check: It replied as JSON after " in texts(app)
    app.session_state["_models_answering"] = [model(openai_server, temperature=0.9)]
    assert ":green[:material/check: It replied after " not in texts(app.run())
