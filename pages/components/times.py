"""Points in time as the clock of whoever looks at the page shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st


def local_time(stored: str) -> str:
    """Return a stored point in time to the minute: in the time zone of the browser, or in UTC with that word.

    Args:
        stored: ISO 8601. Without a time zone, and where it is not readable, it is shown as it is.
    """
    try:
        at = datetime.fromisoformat(stored)
    except ValueError:
        return stored[:16].replace("T", " ")
    if at.tzinfo is None:
        return f"{at:%Y-%m-%d %H:%M}"
    zone = _zone()
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if zone is None else f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def _zone() -> ZoneInfo | None:
    name = st.context.timezone
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, ZoneInfoNotFoundError):  # the browser names it, so it may be anything
        return None
