"""The one way foreign text reaches a page.

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
from typing import TYPE_CHECKING

from karenina_core.text import visible, visible_data

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["input_label", "legible", "plain", "rendered", "short", "unbroken", "visible", "visible_data"]

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
