"""What database errors mean for a person."""

from __future__ import annotations

from sqlalchemy import URL

from karenina_core.errors import StoreError


class TroubleError(StoreError):
    """The database as a whole is in trouble; whatever one asks of it at this moment, it refuses."""


# Words in the driver's message, what happened, what to do. The first that fits counts.
_KNOWN: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("disk is full", "no space left", "disk full"),
        "The database cannot grow: the disk is full.",
        "Free some space and resume; nothing that was stored is lost.",
    ),
    (
        ("is locked", "lock timeout", "deadlock"),
        "The database is busy.",
        "Close other programs that use it, or try again in a moment.",
    ),
    (
        ("readonly", "read-only", "permission denied", "unable to open"),
        "The database cannot be opened for writing.",
        "Check that the folder exists and that you may write in it.",
    ),
    (
        ("connection", "could not connect", "timeout expired", "terminating", "starting up"),
        "The database server cannot be reached.",
        "Check that it runs and that the address, user and password are right.",
    ),
)
_DAMAGED = ("malformed", "not a database", "could not decode", "codec can't decode", "disk i/o error")


def explained(error: Exception, url: URL) -> StoreError:
    """Turn a driver's error into one for people; passwords in addresses stay hidden."""
    reason = str(getattr(error, "orig", None) or error).strip()[:300]
    lowered = reason.lower()
    if any(word in lowered for word in _DAMAGED):
        return damaged(url.database or "", reason)
    for words, what, next_ in _KNOWN:
        if any(word in lowered for word in words):
            return TroubleError(what, f"{url.render_as_string()}: {reason}", next_)
    return StoreError("The database refused the request.", f"{url.render_as_string()}: {reason}")


def damaged(path: str, reason: str) -> StoreError:
    """Return the error for a file that is not an intact database."""
    return StoreError(
        f"The database file {path} is damaged or not a database.",
        why=reason,
        next="It was left as it is. Restore it from a backup, save what can be read with `karenina rescue`, or choose "
        "another file.",
    )
