"""Keys typed on the page Settings: for this session's runs, shown nowhere."""

from __future__ import annotations

import pickle

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.redact import redact
from pages.components import services
from pages.components.session_keys import _HELD
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, table, texts

KEY = "typed-canary-0123456789"


def type_key(app: AppTest, key: str, provider: str = "OPENAI_API_KEY") -> AppTest:
    app = healthy(app.selectbox(key="key_of").select(provider).run())
    app.text_input(key=f"typed_{provider}").input(key)
    return healthy(labelled(app.button, "Use in this session").click().run())


def state_of(app: AppTest, variable: str) -> str:
    rows = table(app, "Provider keys")
    return str(rows[rows["Variable"] == variable]["State"].iloc[0])


def test_a_typed_key_is_noted_and_not_shown(open_page: Open) -> None:
    app = type_key(open_page("pages/settings.py"), KEY)
    assert state_of(app, "OPENAI_API_KEY") == "✓ typed in this session"
    assert state_of(app, "GROQ_API_KEY") == "– not set"
    assert KEY not in str(app.main)
    assert app.text_input(key="typed_OPENAI_API_KEY").value == ""
    assert state_of(open_page("pages/settings.py"), "OPENAI_API_KEY") == "– not set", "another session has none"
    app = healthy(labelled(app.button, "Forget the key").click().run())
    assert state_of(app, "OPENAI_API_KEY") == "– not set"


@pytest.mark.parametrize("text", ["", "short", "two words here", "schlüssel-123456"])
def test_what_is_no_key_is_not_taken(text: str, open_page: Open) -> None:
    app = type_key(open_page("pages/settings.py"), text)
    assert "Nothing was taken" in texts(app)
    assert state_of(app, "OPENAI_API_KEY") == "– not set"


def test_a_typed_key_is_in_no_dump_and_no_log(open_page: Open) -> None:
    app = type_key(open_page("pages/settings.py"), KEY)
    held = app.session_state[_HELD]
    assert KEY not in f"{app.session_state}{held!r}"
    with pytest.raises(TypeError):
        pickle.dumps(held)
    assert redact(f"It was {KEY}.") == "It was [hidden]."
    assert KEY not in str(services.store().settings.all())
