"""Who may use the app. On this computer everybody who sits at it; over a network those who sign in and are listed.

`[auth]` in `secrets.toml` says who proves identities, `[access]` says whom to let in. A server that others can reach
and that has no sign-in shows an explanation instead of the app, unless that is asked for in words.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from karenina_core.models import serve_others
from pages.components.text import plain

_PAGES = Path(__file__).parents[1]
WITHOUT = "KARENINA_ALLOW_PUBLIC_WITHOUT_SIGN_IN"


def require() -> None:
    """Return when whoever is there may use the app; draw what is missing and stop otherwise."""
    signing_in = bool(_secrets("auth"))
    if signing_in or not is_local(st.get_option("server.address")):
        serve_others()
    if signing_in:
        _let_in(st.user.to_dict())
    elif not is_local(st.get_option("server.address")) and os.environ.get(WITHOUT) != "yes":
        _explain(
            "This server is open to others and has no sign-in",
            "Anybody who can reach it could read all benchmarks and spend money with its keys. "
            'Bind it to this computer (`server.address = "localhost"`), or set up sign-in in '
            "`.streamlit/secrets.toml` as `secrets.example.toml` shows. If everybody who can reach this address "
            f"may do everything, set the environment variable `{WITHOUT}=yes` and start again.",
        )


def account() -> None:
    """Say who is signed in, and offer the way out; nothing where nobody signs in."""
    if _secrets("auth"):
        st.caption(f"Signed in as {plain(st.user.to_dict().get('email'), 60)}")
        st.button("Sign out", on_click=st.logout, icon=":material/logout:", key="sign_out", type="tertiary")


def person() -> str:
    """Return the address of whoever is signed in; empty where nobody signs in."""
    return str(st.user.get("email") or "") if st.user.get("is_logged_in") else ""


def is_local(address: str | None) -> bool:
    """Say whether a server at this address can be reached from its own computer only."""
    if not address:
        return False  # every interface
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return address.lower() == "localhost"


def is_listed(user: Mapping[str, Any], access: Mapping[str, Any]) -> bool:
    """Say whether a person who proved an identity is on the list.

    Args:
        user: What the identity provider says.
        access: `emails` and `domains` that are let in; with `unverified = true` also those whose provider does not
            say that the address was verified.
    """
    email = str(user.get("email") or "").strip().lower()
    verified = user.get("email_verified") is True or (
        access.get("unverified") is True and user.get("email_verified") is None
    )
    name, at, domain = email.rpartition("@")
    if not (name and at and verified):
        return False
    return email in _lower(access.get("emails")) or domain in _lower(access.get("domains"))


def _let_in(user: Mapping[str, Any]) -> None:
    if find_spec("authlib") is None:
        _explain("Sign-in is set up, but its library is missing", 'Run `pip install -e ".[auth]"` and start again.')
    if not user.get("is_logged_in"):
        _page(_offer_sign_in)
    if not is_listed(user, _secrets("access")):
        _page(lambda: _offer_another_account(str(user.get("email") or "without an address")))


def _offer_sign_in() -> None:
    st.title("Karenina Workbench")
    st.write("Please sign in.")
    st.button("Sign in", on_click=st.login, type="primary", icon=":material/login:", key="sign_in")


def _offer_another_account(email: str) -> None:
    st.title("Karenina Workbench")
    refused = f"{plain(email, 100)} is not on the list of this server, or its address is not verified."
    ask = "Ask an administrator to add it under `[access]` in the server's secrets."
    st.warning(f"The account {refused} {ask}", title="You are signed in, but not let in")
    st.button("Sign out", on_click=st.logout, icon=":material/logout:", key="sign_out")


def _explain(title: str, text: str) -> NoReturn:
    def draw() -> None:
        st.title("Karenina Workbench")
        st.error(text, title=title)

    _page(draw)


def _page(draw: Any) -> NoReturn:
    """Draw this at every address of the app, with no way to its pages, and stop."""
    # A navigation with hidden pages; without any, Streamlit would list the files in `pages/` by itself.
    addresses = ["", *(path.stem for path in sorted(_PAGES.glob("*.py")))]
    pages = [st.Page(draw, title="Sign in", url_path=address, default=not address) for address in addresses]
    st.navigation(pages, position="hidden").run()
    st.stop()


def _secrets(section: str) -> Mapping[str, Any]:
    try:
        found = st.secrets.get(section)
    except StreamlitSecretNotFoundError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _lower(names: Any) -> set[str]:
    return {str(name).strip().lower() for name in names} if isinstance(names, list | tuple) else set()
