"""Who gets in: everybody at the computer itself, over a network those who are signed in and listed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from karenina_core.models import serve_others
from karenina_core.models.sharing import is_shared
from pages.components import services
from pages.components.sign_in import WITHOUT, is_listed, is_local
from tests.app.conftest import ROOT
from tests.app.looking import labelled, texts

AUTH = {"auth": {"cookie_secret": "x" * 32}, "access": {"emails": ["ada@example.org"], "domains": ["lab.example"]}}
ADA = {"is_logged_in": True, "email": "Ada@example.org", "email_verified": True}


@pytest.fixture(autouse=True)
def alone_again() -> Iterator[None]:
    yield
    serve_others(False)


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Bind the server somewhere else."""
    before = config.get_option("server.address")
    yield lambda value: config.set_option("server.address", value)
    config.set_option("server.address", before)


def visit(
    page: str | None = None, user: dict[str, Any] | None = None, secrets: dict[str, Any] | None = None
) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.secrets = secrets or {}
    app.user = user or {}
    if page:
        app = app.switch_page(page)
    app = app.run()
    assert not app.exception
    return app


def test_on_this_computer_nobody_is_asked() -> None:
    app = visit()
    assert labelled(app.button, "Try the demo")
    assert not is_shared()


@pytest.mark.parametrize("place", ["0.0.0.0", "192.168.1.5", "::", "", None])
@pytest.mark.parametrize("page", [None, "pages/settings.py"])
def test_a_public_address_without_sign_in_shows_only_an_explanation(place: Any, page: str | None, address: Any) -> None:
    address(place)
    app = visit(page)
    assert "has no sign-in" in texts(app)
    assert WITHOUT in texts(app)
    assert not app.button and not app.dataframe and not app.sidebar
    assert is_shared()


def test_a_public_address_without_sign_in_may_be_asked_for(address: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    address("0.0.0.0")
    monkeypatch.setenv(WITHOUT, "1")
    assert "has no sign-in" in texts(visit())
    monkeypatch.setenv(WITHOUT, "yes")
    assert labelled(visit().button, "Try the demo")
    assert is_shared()


def test_with_sign_in_nobody_gets_in_without(address: Any) -> None:
    for place in ("0.0.0.0", "localhost"):
        address(place)
        app = visit("pages/settings.py", secrets=AUTH)
        assert [button.label for button in app.button] == ["Sign in"]
        assert not app.dataframe


@pytest.mark.parametrize(
    "user",
    [
        ADA | {"email": "eve@example.org"},
        ADA | {"email": "ada@example.org.evil.example"},
        ADA | {"email": "ada@sub.lab.example"},
        ADA | {"email": "lab.example"},
        ADA | {"email": "@lab.example"},
        ADA | {"email_verified": False},
        {key: value for key, value in ADA.items() if key != "email_verified"},
        {"is_logged_in": True},
    ],
)
def test_who_is_not_listed_reads_why(user: dict[str, Any]) -> None:
    app = visit(user=user, secrets=AUTH)
    assert "not let in" in texts(app)
    assert [button.label for button in app.button] == ["Sign out"]


def test_who_is_in_sees_as_whom_and_finds_the_way_out() -> None:
    assert "not let in" in texts(visit(user=ADA, secrets={"auth": AUTH["auth"]})), "without a list nobody is"
    app = visit(user=ADA, secrets=AUTH)
    assert labelled(app.button, "Try the demo")
    assert is_shared()
    assert "Signed in as Ada@example.org" in texts(app)
    assert labelled(app.button, "Sign out")
    assert not [button for button in visit().button if button.label == "Sign out"]


def test_sign_in_without_its_library_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.components.sign_in.find_spec", lambda name: None)
    app = visit(secrets=AUTH)
    assert 'pip install -e ".[auth]"' in texts(app)
    assert not app.button


def test_a_sign_in_that_ends_shuts_the_pages_and_not_the_run() -> None:
    app = visit(user=ADA, secrets=AUTH)
    app = labelled(app.button, "Try the demo").click().run()
    [run] = services.store().runs.all()
    app.user = {"is_logged_in": False}
    app = app.run()
    assert [button.label for button in app.button] == ["Sign in"]
    assert not app.dataframe and run.name not in texts(app)
    assert services.runner().wait(run.id, 600).status == "completed"


def test_lists_hold_addresses_and_domains() -> None:
    assert is_listed(ADA, {"emails": ["ADA@example.org "]})
    assert is_listed(ADA, {"domains": ["example.org"]})
    assert not is_listed(ADA, {"emails": "ada@example.org"})
    assert not is_listed(ADA | {"email_verified": None}, {"domains": ["example.org"]})
    assert is_listed(ADA | {"email_verified": None}, {"domains": ["example.org"], "unverified": True})
    assert not is_listed(ADA | {"email_verified": False}, {"domains": ["example.org"], "unverified": True})


def test_only_loopback_is_local() -> None:
    assert all(is_local(place) for place in ("localhost", "LOCALHOST", "127.0.0.1", "127.3.2.1", "::1", "[::1]"))
    assert not any(is_local(place) for place in (None, "", "0.0.0.0", "::", "10.0.0.1", "localhost.example"))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("server.address", "localhost"),
        ("server.maxUploadSize", 20),
        ("server.enableCORS", True),
        ("server.enableXsrfProtection", True),
        ("server.allowedHosts", ["localhost", "127.0.0.1", "::1"]),
        ("server.enableAgentApi", False),
        ("server.enableStaticServing", False),
        ("client.showErrorDetails", "none"),
        ("client.showErrorLinks", False),
        ("client.toolbarMode", "viewer"),
        ("client.disableDataExport", True),
        ("browser.gatherUsageStats", False),
        ("server.fileWatcherType", "none"),
        ("runner.postScriptGC", False),  # a full collection after every rerun would slow every page down
    ],
)
def test_the_server_starts_with_safe_settings(option: str, value: object) -> None:
    import tomllib

    settings = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    section, name = option.split(".")
    assert settings[section][name] == value
    assert config.get_option(option) == value
