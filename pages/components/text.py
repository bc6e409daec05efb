"""The one way foreign text reaches a page.

Question texts, model answers and file contents may hold Markdown, remote images or invisible characters.
`plain` shows them character for character; `rendered` allows Markdown but no image, so that nothing is fetched.
"""

from __future__ import annotations

import re
import unicodedata

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_KEPT = {"\n", "\t"}
# Format characters that join emoji and scripts; harmless, and needed to show them right.
_JOINERS = {"\u200d", "\u200c", "\ufe0f"}


def visible(text: str) -> str:
    """Return the text with control, bidi and other invisible characters written as `\\uXXXX`."""
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in _KEPT or character in _JOINERS:
        return character
    category = unicodedata.category(character)
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return f"\\u{ord(character):04x}"
    return character


def plain(text: object, limit: int | None = None) -> str:
    """Return foreign text for a label or Markdown element, shown character for character."""
    shown = visible(str(text))
    if limit is not None and len(shown) > limit:
        shown = shown[: limit - 1] + "…"
    return _PUNCTUATION.sub(r"\\\1", shown)


def rendered(text: object) -> str:
    """Return foreign text whose Markdown may be rendered, without images."""
    return visible(str(text)).replace("![", "!\\[")


def short(text: object, limit: int = 80) -> str:
    """Return one line of foreign text for a table cell, which renders no Markdown."""
    line = " ".join(visible(str(text)).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
