"""Signing in on a server that others can reach, with a real identity provider and a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, visit
from tests.faults.identity_provider import CLIENT, SECRET, IdentityProvider

pytestmark = pytest.mark.browser

LISTED, STRANGER, UNVERIFIED = "ada@example.org", "eve@elsewhere.example", "mallory@lab.example"
SECRETS = """
[auth]
redirect_uri = "{app}/oauth2callback"
cookie_secret = "{cookie}"
client_id = "{client}"
client_secret = "{secret}"
server_metadata_url = "{metadata}"

[access]
emails = ["{listed}"]
domains = ["lab.example"]
"""


@pytest.fixture(scope="module")
def one_provider() -> Iterator[IdentityProvider]:
    """Yield a provider that knows three people."""
    with IdentityProvider(LISTED, STRANGER, unverified=(UNVERIFIED,)) as running:
        yield running


@pytest.fixture
def provider(one_provider: IdentityProvider) -> IdentityProvider:
    """Return the provider as if nobody had asked it yet."""
    one_provider.issued.clear()
    one_provider.signed_out, one_provider.forged = 0, False
    return one_provider


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, one_provider: IdentityProvider) -> Iterator[Server]:
    """Yield a server on all addresses of this computer, with sign-in set up."""
    folder = tmp_path_factory.mktemp("shared")
    server, provider = Server(folder), one_provider
    secrets = folder / "secrets.toml"
    secrets.write_text(
        SECRETS.format(
            app=server.url, cookie="x" * 40, client=CLIENT, secret=SECRET, metadata=provider.metadata_url, listed=LISTED
        )
    )
    server.start("--server.address", "0.0.0.0", "--secrets.files", str(secrets))
    yield server
    server.kill()


def sign_in(page: Page, server: Server, name: str, path: str = "") -> None:
    visit(page, server, path)
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name=name).click()


def test_who_is_listed_gets_in_and_out_again(page: Page, shared: Server, provider: IdentityProvider) -> None:
    sign_in(page, shared, LISTED)
    expect(page.get_by_role("button", name="Try the demo")).to_be_visible()
    expect(page.get_by_text(f"Signed in as {LISTED}")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Try the demo")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(page.get_by_role("button", name="Try the demo")).to_have_count(0)
    assert provider.issued == [LISTED]
    assert provider.signed_out == 1


@pytest.mark.parametrize("name", [STRANGER, UNVERIFIED])
def test_who_is_not_listed_or_not_verified_is_refused_in_words(name: str, page: Page, shared: Server) -> None:
    sign_in(page, shared, name, "settings")
    expect(page.get_by_text("You are signed in, but not let in")).to_be_visible()
    expect(page.get_by_text(name)).to_be_visible()
    for path in ("", "benchmarks", "questions", "results", "settings"):
        visit(page, shared, path)
        expect(page.get_by_text("You are signed in, but not let in")).to_be_visible()
        expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_a_token_signed_by_somebody_else_opens_nothing(page: Page, shared: Server, provider: IdentityProvider) -> None:
    provider.forged = True
    sign_in(page, shared, LISTED)
    visit(page, shared)
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert provider.issued == [LISTED]


def test_a_cookie_of_ones_own_making_opens_nothing(page: Page, shared: Server) -> None:
    made = [{"name": name, "value": '"eyJlbWFpbCI6ImFkYUBleGFtcGxlLm9yZyIsImlzX2xvZ2dlZF9pbiI6dHJ1ZX0="',
             "url": shared.url} for name in ("_streamlit_user", "_streamlit_user_tokens")]  # fmt: skip
    page.context.add_cookies(made)  # type: ignore[arg-type]
    visit(page, shared)
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
