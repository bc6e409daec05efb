"""The one way foreign text reaches a page; labels that stay apart, and times as the visitor's clock shows them.

Question texts, model answers and file contents may hold Markdown, remote images or invisible characters.
`plain` shows them character for character, and addresses as no links; `rendered` allows Markdown but no image, so that
nothing is fetched.
`input_label` is for the labels of inputs, `short` for tables and lists to choose from, `legible` for whole tables,
`visible` for code, `visible_data` for JSON; `unbroken` keeps shares on one line.

A badge of foreign text is written in Markdown, `:gray-badge[…]` around `plain`: `st.badge` escapes brackets itself, and
those of `plain` would get backslashes that are seen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from karenina_core.text import visible as visible
from karenina_core.text import visible_data as visible_data

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# Streamlit makes links of addresses in any text, escaped or not, unless an element stands within them.
_IN_ADDRESS = re.compile(r"(?<=http)(?=s?://)|(?<=www)(?=\.)|(?<=[-.+\w])(?=@[-\w]+\.[-\w])", re.IGNORECASE)
_NOTHING = ":small{}"  # without brackets, which could end a badge around it
# What means something in the middle of a line: marks, HTML, entities, formulas.
_MARK = re.compile(r"[\\`*\[\]$<~|]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")
# Streamlit makes one sign of several (`->`, `~=`), escaped or not, and pictures of names within colons.
_IN_ARROW = re.compile(r"(?<=[-<>~!])(?=[-=>])")
_IN_COLONS = re.compile(r"(?<=:)(?=[-+\w])")
_TO = re.compile(r"(?<=\d–)(?=\d)")
_PER_CENT = re.compile(r"(?<=\d) (?=\\?%)")
_JOINER = "\u2060"  # shown and spoken as nothing; an element would be read out as it is written


def plain(text: object, limit: int | None = None) -> str:
    """Return foreign text for a label or Markdown element, shown character for character; no address becomes a link."""
    shown = visible(str(text))
    if limit is not None and len(shown) > limit:
        shown = shown[: limit - 1] + "…"
    return _NOTHING.join(_PUNCTUATION.sub(r"\\\1", part) for part in _parted(shown))


def _parted(text: str) -> list[str]:
    return [part for piece in _IN_ADDRESS.split(text) for part in _IN_ARROW.split(piece)]


def on_colour(text: str, colour: str = "", *, bold: bool = False) -> str:
    """Return foreign text as Markdown, character for character, on a coloured ground; a mark ends with its line."""
    lines = []
    for line in text.split("\n"):
        words = line.strip()
        if not (colour and words):
            lines.append(plain(line))
            continue
        before, after = line[: len(line) - len(line.lstrip())], line[len(line.rstrip()) :]
        lines.append(f"{before}:{colour}-background[{f'**{plain(words)}**' if bold else plain(words)}]{after}")
    return "  \n".join(lines)


def unbroken(markdown: str) -> str:
    """Return Markdown in which no line ends within a share or an interval of shares, such as `39–86 %`."""
    return _TO.sub(_JOINER, _PER_CENT.sub("\u00a0", markdown))


def input_label(text: object, limit: int = 80) -> str:
    """Return one line of foreign text for the label of an input, shown character for character.

    A browser reads a label out as it is written, so as little as possible is escaped.
    """
    parts = [part for piece in _parted(short(text, limit)) for part in _IN_COLONS.split(piece)]
    return _JOINER.join(_MARK.sub(r"\\\g<0>", part) for part in parts)


def rendered(text: object) -> str:
    """Return foreign text whose Markdown may be rendered, without images."""
    return visible(str(text)).replace("![", "!\\[")


def short(text: object, limit: int = 80) -> str:
    """Return one line of foreign text for a table cell, which renders no Markdown."""
    line = " ".join(visible(str(text)).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def legible(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of foreign values, with columns named after them, as it may be shown."""
    shown = table.rename(columns=lambda name: short(name) if isinstance(name, str) else name)
    for place, kind in enumerate(table.dtypes):
        if kind.kind == "O":
            shown.isetitem(place, table.iloc[:, place].map(_legible).array)
    return shown


def _legible(value: object) -> object:
    return short(value, 500) if isinstance(value, str) else visible_data(value)


def distinct(options: Iterable[T], label: Callable[[T], str]) -> Mapping[T, str]:
    """Return a label for every option, in their order; of equal ones the second gets a `(2)`, and so on.

    A browser reports the label that was chosen, so two that look alike would be one.

    Args:
        options: What can be chosen.
        label: Returns the label of an option.
    """
    labels: dict[T, str] = {}
    seen: Counter[str] = Counter()
    used: set[str] = set()
    for option in options:
        text = shown = label(option)
        while shown in used:
            seen[text] += 1
            shown = f"{text} ({seen[text] + 1})"
        used.add(shown)
        labels[option] = shown
    return labels


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
