from __future__ import annotations

import pytest
from sqlalchemy import make_url

from karenina_core.runs.store.database import explained

URL = make_url("sqlite:///results.db")


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ("database or disk is full", "the disk is full"),
        ("database is locked", "busy"),
        ("attempt to write a readonly database", "cannot be opened for writing"),
        ("unable to open database file", "cannot be opened for writing"),
        ("database disk image is malformed", "damaged"),
        ("file is not a database", "damaged"),
        ("Could not decode to UTF-8 column 'x'", "damaged"),
        ("connection failed: Connection refused", "cannot be reached"),
        ("something new", "refused the request"),
    ],
)
def test_driver_messages_become_words(message: str, what: str) -> None:
    error = explained(RuntimeError(message), URL)
    assert what in error.what
    assert message in error.why


def test_every_known_fault_says_what_to_do() -> None:
    assert explained(RuntimeError("database or disk is full"), URL).next
