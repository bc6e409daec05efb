"""The card of a model tells whether it gave a sign of life."""

from __future__ import annotations

from karenina_core.runs import Store
from karenina_core.schemas import ModelConfig
from pages.components import frame
from tests.app.conftest import Open
from tests.app.looking import texts
from tests.faults.openai_server import OpenAIServer
from tests.faults.road import islands, model
from tests.runs.test_connection import ready


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
