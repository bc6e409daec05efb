"""A model is asked for a sign of life before a run depends on it."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.runs import Store
from karenina_core.schemas.config import ModelConfig
from pages.components import frame
from pages.components.runs.connection import ask
from tests.app.conftest import Open
from tests.app.looking import texts
from tests.faults.openai_server import OpenAIServer, Reply, failing
from tests.faults.road import islands, model


def ready(request: dict[str, Any]) -> Reply:
    return Reply('{"ready": true}' if request.get("response_format") else "ready")


@pytest.mark.parametrize(("role", "told"), [("answering", "replied after "), ("judge", "replied as JSON after ")])
def test_a_model_that_replies_works(role: str, told: str, store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = ready
    sign = ask(store, model(openai_server), role)
    assert sign.works
    assert sign.told.startswith(told)


def test_every_test_is_a_call_of_its_own(store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = ready
    for _ in range(2):
        assert ask(store, model(openai_server), "answering").works
    assert len(openai_server.requests) == 2, "a reply that is remembered proves nothing about now"


def test_a_judge_has_to_reply_as_json(store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = lambda _: Reply("I am ready.")
    assert ask(store, model(openai_server), "answering").works
    assert not ask(store, model(openai_server, "judge"), "judge").works


def test_a_refused_key_is_told_after_one_attempt(store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = lambda _: failing(401, "Wrong key.")
    sign = ask(store, model(openai_server), "answering")
    assert (sign.works, len(openai_server.requests)) == (False, 1)
    assert "key" in sign.told


def test_a_model_that_cannot_be_asked_is_told_without_a_call(store: Store, openai_server: OpenAIServer) -> None:
    foreign = model(openai_server, api_key_env="OPENAI_API_KEY")
    assert not ask(store, foreign, "answering").works
    assert not openai_server.requests


def test_the_card_tells_what_became_of_it_until_the_model_is_changed(
    open_page: Open, store: Store, openai_server: OpenAIServer
) -> None:
    openai_server.script = ready
    store.save_benchmark(islands(1))
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
